"""A smaller copy of a model: its bits and weights, its size told before, and nothing left of one that was not finished."""

import json
import shutil
from collections import namedtuple

import mlx.core as mx
import pytest

from engine.core.errors import DiskFull, ModelBroken, OutOfMemory, Stopped, UsageError
from engine.core.paths import locate
from engine.inference.quantize import copy_name, quantize
from engine.models.facts import read_config, read_facts
from engine.models.library import Library
from engine.models.made_folder import LOCK_NAME, PREFIX, folder_to_make
from engine.models.record import read_record
from tests.models.loading import load_folder
from tests.models.tiny import tiny_llama

Usage = namedtuple("Usage", "total used free")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "Tiny-bf16"
    return tiny_llama(folder, hidden=64, heads=2, kv_heads=2, inner=128, layers=8)


@pytest.fixture
def root(flint_home):
    return flint_home / "models"


def run(folder, root, bits="4", group=32, told=None, stop=lambda: False):
    told = [] if told is None else told
    entry = Library(locate()).find(str(folder))
    return quantize(entry, root, bits, group, copy_name(entry, bits), lambda *each: told.append(each), stop)


def left_in(root):
    return [path.name for path in root.iterdir() if path.name != LOCK_NAME] if root.exists() else []


def test_a_copy_has_mlxs_own_numbers_and_says_where_it_is_from(tiny, root):
    told = []
    made = run(tiny, root, told=told)
    assert made.folder == root / "tiny-4-bit"
    (entry,) = [each for each in Library(locate(), starter_package="none").entries() if each.origin == "flint"]
    assert (entry.name, entry.problem, entry.quantization) == ("Tiny 4-bit", "", "4-bit, groups of 32")
    assert entry.size_bytes == made.size_bytes + (made.folder / "flint.json").stat().st_size
    source, copy = (mx.load(str(folder / "model.safetensors")) for folder in (tiny, made.folder))
    name = "model.layers.0.self_attn.q_proj"
    packed, scales, biases = mx.quantize(source[f"{name}.weight"].astype(mx.bfloat16), 32, 4)
    assert mx.array_equal(packed, copy[f"{name}.weight"])
    assert mx.array_equal(scales, copy[f"{name}.scales"])
    assert mx.array_equal(biases, copy[f"{name}.biases"])
    record = read_record(made.folder)
    assert (record.name, record.source_name, record.rounded_to) == ("Tiny 4-bit", str(tiny), "4-bit")
    assert record.perplexity == made.perplexity > 1
    assert record.perplexity_before == made.perplexity_before > 1
    assert made.perplexity == pytest.approx(made.perplexity_before, rel=0.5)
    assert made.perplexity != made.perplexity_before
    assert 4.5 < made.bits_per_weight < 6
    fractions = [fraction for fraction, _, _ in told]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)


@pytest.mark.parametrize("bits", ["8", "6", "4", "3", "mixed"])
def test_the_size_is_told_before_and_the_copy_answers(tiny, root, bits):
    told = []
    made = run(tiny, root, bits, told=told)
    predicted = told[0][2]
    assert predicted == sum(array.nbytes for array in mx.load(str(made.folder / "model.safetensors")).values())
    assert {size for _, _, size in told} == {predicted}
    loaded = load_folder(made.folder)
    assert loaded.model(mx.array([[1, 2, 3]])).shape[:2] == (1, 3)
    assert read_facts(made.folder).bits == (4 if bits == "mixed" else int(bits))
    assert read_facts(made.folder).parameters == read_facts(tiny).parameters


def test_mixed_gives_some_layers_more_bits(tiny, root):
    rule = read_config(run(tiny, root, "mixed").folder)["quantization"]
    assert {own["bits"] for own in rule.values() if isinstance(own, dict)} == {4, 6}
    assert rule["model.layers.0.mlp.down_proj"]["bits"] == 6


def test_fewer_bits_foresee_less(tiny, root):
    # Against the original's own choice of words: a random model foresees none of ours.
    text = mx.array([[1, 5, 9, 20, 33, 40, 7]])
    before = load_folder(tiny).model(text).astype(mx.float32)
    errors = [
        mx.abs(load_folder(run(tiny, root, bits).folder).model(text).astype(mx.float32) - before).mean().item()
        for bits in ("8", "6", "4", "3")
    ]
    assert errors == sorted(errors)
    assert errors[0] < errors[-1] / 4


def test_a_quantized_model_can_only_become_smaller(tiny, root):
    eight = run(tiny, root, "8").folder
    four = run(eight, root, "4").folder
    assert read_facts(four).bits == 4
    assert load_folder(four).model(mx.array([[1, 2]])).shape[1] == 2
    for bits in ("4", "6", "mixed"):
        with pytest.raises(UsageError, match="4 bits a weight already"):
            run(four, root, bits)


def test_the_tokenizer_goes_along_and_code_does_not(tiny, root, tmp_path):
    folder = shutil.copytree(tiny, tmp_path / "src")
    (folder / "chat_template.jinja").write_text("{{ messages[-1].content }}")
    (folder / "modeling.py").write_text("raise SystemExit")
    made = run(folder, root).folder
    assert (made / "tokenizer.json").read_bytes() == (tiny / "tokenizer.json").read_bytes()
    assert (made / "chat_template.jinja").exists()
    assert not (made / "modeling.py").exists()


def test_two_copies_have_two_names(tiny, root):
    assert [run(tiny, root).folder.name for _ in range(2)] == ["tiny-4-bit", "tiny-4-bit-2"]


@pytest.mark.parametrize("stage", ["Trying the original", "Quantizing", "Writing", "Trying the copy"])
def test_one_that_is_stopped_leaves_nothing(tiny, root, stage):
    told = []
    with pytest.raises(Stopped):
        run(tiny, root, told=told, stop=lambda: bool(told) and told[-1][1] == stage)
    assert told[-1][1] == stage
    assert left_in(root) == []


def test_a_disk_that_is_too_small_is_said_before_anything_is_done(tiny, root, monkeypatch):
    monkeypatch.setattr("engine.inference.quantize.shutil.disk_usage", lambda _: Usage(10, 9, 1_000_000))
    told = []
    with pytest.raises(DiskFull, match=r"500 MB have to stay free, and 1 MB are free"):
        run(tiny, root, told=told)
    assert told == []
    assert left_in(root) == []


def test_what_a_dead_one_left_is_removed(tiny, root):
    (root / f"{PREFIX}dead").mkdir(parents=True)
    run(tiny, root)
    assert left_in(root) == ["tiny-4-bit"]


def test_one_at_a_time(tiny, root):
    with folder_to_make(root), pytest.raises(UsageError, match="Another Flint"):
        run(tiny, root)


def test_a_model_too_large_to_be_tried_is_made_all_the_same(tiny, root, monkeypatch):
    def no_room(entry, weights):
        raise OutOfMemory("too large")

    monkeypatch.setattr("engine.inference.quantize.check_room", no_room)
    made = run(tiny, root)
    assert (made.perplexity, made.perplexity_before) == (0.0, 0.0)
    assert load_folder(made.folder).model(mx.array([[1, 2]])).shape[1] == 2


def test_what_is_wrong_with_a_model_is_said(tiny, root, tmp_path):
    with pytest.raises(UsageError, match="not 48"):
        run(tiny, root, group=48)
    broken = shutil.copytree(tiny, tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"\x10")
    with pytest.raises(UsageError, match="cut short"):
        run(broken, root)
    odd = shutil.copytree(tiny, tmp_path / "odd")
    config = json.loads((odd / "config.json").read_text()) | {"hidden_size": 128}
    (odd / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelBroken):
        run(odd, root)
    assert left_in(root) == []


def test_a_copys_name_drops_how_the_original_is_stored(tiny):
    entry = Library(locate()).find(str(tiny))
    assert entry.name == "Tiny bf16" or entry.name == "Tiny"
    assert copy_name(entry, "4") == "Tiny 4-bit"
    assert copy_name(entry, "mixed") == "Tiny mixed 4-bit"
