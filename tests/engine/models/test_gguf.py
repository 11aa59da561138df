"""Importing a GGUF: the same model, whole or not at all, once."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest

from engine.core.errors import DiskFull, ModelBroken, ModelNotFound, ModelUnsupported, ReadOnly
from engine.models import gguf_source, gguf_weights
from engine.models.gguf import LOCK_NAME, PARTIAL_PREFIX, import_gguf
from engine.models.gguf_header import read_header
from engine.models.gguf_source import ImportCancelled
from engine.models.integrity import problem_of
from engine.models.record import read_record
from tests.disks import read_only, small_disk
from tests.models.tiny_gguf import tiny_gguf


def logits(folder):
    import mlx.core as mx
    from mlx_lm.utils import load_model

    model, _ = load_model(folder)
    model.set_dtype(mx.float32)
    return np.array(model(mx.array([[5, 17, 99, 3, 250, 42]])))[0]


def dense_logits(tmp_path, weights, **config):
    """Logits of mlx-lm's Llama with these float32 weights: the reference, which no GGUF has touched."""
    import mlx.core as mx
    from mlx_lm.models.llama import Model, ModelArgs

    vocab, hidden = weights["model.embed_tokens.weight"].shape
    arguments = {
        "model_type": "llama",
        "hidden_size": hidden,
        "num_hidden_layers": 2,
        "intermediate_size": 96,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-5,
        "vocab_size": vocab,
        **config,
    }
    model = Model(ModelArgs.from_dict(arguments))
    model.load_weights([(name, mx.array(value)) for name, value in weights.items()], strict=True)
    return np.array(model(mx.array([[5, 17, 99, 3, 250, 42]])))[0]


def left_over(root):
    return [path.name for path in root.iterdir() if path.name != LOCK_NAME]


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "F16", "BF16", "F32"])
def test_an_imported_model_gives_the_logits_of_the_weights_in_the_file(tmp_path, kind):
    weights = tiny_gguf(tmp_path / "tiny.gguf", kind=kind)
    folder = import_gguf(tmp_path / "tiny.gguf", tmp_path / "models")
    expected = dense_logits(tmp_path, weights)
    assert np.abs(expected).max() > 1
    np.testing.assert_allclose(logits(folder), expected, atol=2e-4)


def test_each_tensor_may_be_of_its_own_kind(tmp_path):
    kinds = {
        "model.embed_tokens": "Q8_0",
        "lm_head": "F16",
        "model.layers.0.self_attn.k_proj": "Q8_0",
        "model.layers.1.mlp.down_proj": "F32",
    }
    weights = tiny_gguf(tmp_path / "mixed.gguf", kind="Q4_1", kinds=kinds, tied=False)
    folder = import_gguf(tmp_path / "mixed.gguf", tmp_path / "models")
    rule = json.loads((folder / "config.json").read_text())["quantization"]
    assert (rule["bits"], rule["group_size"]) == (4, 32)
    assert rule["model.embed_tokens"]["bits"] == rule["model.layers.0.self_attn.k_proj"]["bits"] == 8
    assert rule["lm_head"] is rule["model.layers.1.mlp.down_proj"] is False
    np.testing.assert_allclose(logits(folder), dense_logits(tmp_path, weights, tie_word_embeddings=False), atol=2e-4)


def test_biases_are_imported_and_turned_like_their_weights(tmp_path):
    modules = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    weights = tiny_gguf(tmp_path / "biased.gguf", kind="Q8_0", biases=modules)
    folder = import_gguf(tmp_path / "biased.gguf", tmp_path / "models")
    np.testing.assert_allclose(logits(folder), dense_logits(tmp_path, weights, attention_bias=True, mlp_bias=True), atol=2e-4)


def test_the_starter_keeps_every_bit_of_its_quantized_weights(starter, starter_gguf):
    import mlx.core as mx

    stored, imported = mx.load(str(starter_gguf)), mx.load(str(starter / "model.safetensors"))
    names = {"model.embed_tokens": "token_embd", "model.layers.29.mlp.down_proj": "blk.29.ffn_down"}
    names["model.layers.7.self_attn.v_proj"] = "blk.7.attn_v"
    for module, name in names.items():
        for part in ("weight", "scales", "biases"):
            ours, theirs = imported[f"{module}.{part}"], stored[f"{name}.{part}"]
            assert ours.dtype == theirs.dtype
            assert mx.array_equal(ours, theirs).item(), (module, part)
    assert mx.array_equal(imported["model.norm.weight"], stored["output_norm.weight"]).item()


def test_the_starter_knows_the_capital_of_france_and_its_logits_are_those_of_the_dense_weights(starter):
    import mlx.core as mx
    from mlx_lm.utils import dequantize_model, load_model
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(starter, local_files_only=True)
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": "What is the capital of France?"}], tokenize=False, add_generation_prompt=True
    )
    ids = tokenizer.encode(text, add_special_tokens=False)
    reply = tokenizer.encode("The capital of France is Paris.<|im_end|>", add_special_tokens=False)
    model, config = load_model(starter)
    model.set_dtype(mx.float32)
    chosen = mx.argmax(model(mx.array([ids + reply]))[0], axis=-1).tolist()[len(ids) - 1 : -1]
    assert chosen == reply
    assert reply[-1] in config["eos_token_id"]
    quantized = model(mx.array([ids[:6]]))
    np.testing.assert_allclose(np.array(quantized), np.array(dequantize_model(model)(mx.array([ids[:6]]))), atol=1e-3)


def test_a_second_import_of_the_same_content_returns_the_first_folder(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf")
    first = import_gguf(tmp_path / "tiny.gguf", tmp_path / "models")
    written = (first / "model.safetensors").stat().st_mtime_ns
    (tmp_path / "tiny.gguf").rename(tmp_path / "renamed.gguf")
    assert import_gguf(tmp_path / "renamed.gguf", tmp_path / "models", name="Another name") == first
    assert (first / "model.safetensors").stat().st_mtime_ns == written
    assert left_over(tmp_path / "models") == ["tiny"]


def test_what_must_be_rounded_is_imported_once_for_each_precision_and_recorded(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf", kind="Q4_K", hidden=256, inner=256)
    models = tmp_path / "models"
    eight, four, dense = (import_gguf(tmp_path / "tiny.gguf", models, bits=bits) for bits in (8, 4, None))
    assert len({eight, four, dense}) == 3
    assert [read_record(folder).rounded_to for folder in (eight, four, dense)] == ["8-bit", "4-bit", "float16"]
    assert import_gguf(tmp_path / "tiny.gguf", models) == eight
    assert import_gguf(tmp_path / "tiny.gguf", models, bits=None) == dense
    # A damaged one is mended where it is, whatever the others are.
    (four / "model.safetensors").write_bytes(b"")
    assert import_gguf(tmp_path / "tiny.gguf", models, bits=4) == four
    assert [problem_of(folder) for folder in (eight, four, dense)] == ["", "", ""]


def test_what_keeps_its_numbers_is_imported_once_whatever_the_precision(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf", kind="Q5_0")
    folder = import_gguf(tmp_path / "tiny.gguf", tmp_path / "models", bits=4)
    assert read_record(folder).rounded_to == ""
    assert import_gguf(tmp_path / "tiny.gguf", tmp_path / "models", bits=None) == folder


def test_an_import_of_before_there_was_rounding_is_known(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf")
    folder = import_gguf(tmp_path / "tiny.gguf", tmp_path / "models")
    record = json.loads((folder / "flint.json").read_text())
    del record["rounded_to"]
    (folder / "flint.json").write_text(json.dumps(record))
    assert import_gguf(tmp_path / "tiny.gguf", tmp_path / "models") == folder


@pytest.mark.parametrize("kind", ["Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"])
def test_k_quants_give_the_logits_of_the_weights_in_the_file(tmp_path, kind):
    weights = tiny_gguf(tmp_path / "tiny.gguf", kind=kind, hidden=256, inner=256)
    folder = import_gguf(tmp_path / "tiny.gguf", tmp_path / "models", bits=None)
    half = {name: value.astype(np.float16).astype(np.float32) if value.ndim == 2 else value for name, value in weights.items()}
    expected = dense_logits(tmp_path, half, hidden_size=256, intermediate_size=256)
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(logits(folder), expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("kind", "bits", "dtype"),
    [("F32", 8, "float32"), ("BF16", 8, "bfloat16"), ("Q8_0", 8, "float16"), ("Q4_K", 8, "float16"), ("Q4_K", None, "float16")],
)
def test_the_config_names_the_type_that_most_weights_are_of(tmp_path, kind, bits, dtype):
    tiny_gguf(tmp_path / "tiny.gguf", kind=kind, hidden=256, inner=256)
    folder = import_gguf(tmp_path / "tiny.gguf", tmp_path / "models", bits=bits)
    assert json.loads((folder / "config.json").read_text())["torch_dtype"] == dtype


def test_bits_that_flint_does_not_round_to_are_a_mistake_of_the_caller(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf")
    with pytest.raises(ValueError, match="8, 6, 4 or None"):
        import_gguf(tmp_path / "tiny.gguf", tmp_path / "models", bits=5)


def test_other_content_of_the_same_name_and_size_gets_a_folder_of_its_own(tmp_path):
    tiny_gguf(tmp_path / "a" / "tiny.gguf", seed=1)
    tiny_gguf(tmp_path / "b" / "tiny.gguf", seed=2)
    first = import_gguf(tmp_path / "a" / "tiny.gguf", tmp_path / "models")
    second = import_gguf(tmp_path / "b" / "tiny.gguf", tmp_path / "models")
    assert (first.name, second.name) == ("tiny", "tiny-2")
    assert (first / "model.safetensors").read_bytes() != (second / "model.safetensors").read_bytes()


def test_a_folder_that_is_not_flints_is_never_replaced(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf")
    theirs = tmp_path / "models" / "tiny"
    theirs.mkdir(parents=True)
    (theirs / "notes.txt").write_text("mine")
    assert import_gguf(tmp_path / "tiny.gguf", tmp_path / "models").name == "tiny-2"
    assert (theirs / "notes.txt").read_text() == "mine"


def test_importing_again_mends_a_damaged_import(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf")
    folder = import_gguf(tmp_path / "tiny.gguf", tmp_path / "models")
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:1000])
    assert problem_of(folder)
    assert import_gguf(tmp_path / "tiny.gguf", tmp_path / "models") == folder
    assert (folder / "model.safetensors").read_bytes() == whole
    assert left_over(tmp_path / "models") == ["tiny"]


def test_paths_with_spaces_and_letters_of_any_language_work(tmp_path):
    source = tmp_path / "mes modèles 模型" / "Größe Übung.Q4_0.gguf"
    tiny_gguf(source)
    folder = import_gguf(source, tmp_path / "Flint’s données")
    assert folder.name == "grösse-übung"
    assert json.loads((folder / "flint.json").read_text("utf-8"))["name"] == "Größe Übung"
    assert problem_of(folder) == ""


def test_progress_counts_bytes_up_to_the_file_s_size(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf")
    seen = []
    import_gguf(tmp_path / "tiny.gguf", tmp_path / "models", progress=lambda done, total: seen.append((done, total)))
    size = (tmp_path / "tiny.gguf").stat().st_size
    assert {total for _, total in seen} == {size}
    done = [count for count, _ in seen]
    assert done == sorted(done)
    assert done[-1] == size
    assert len(done) > 10


def test_a_cancelled_import_stops_at_once_and_leaves_nothing(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf")
    seen = []
    with pytest.raises(ImportCancelled):
        import_gguf(
            tmp_path / "tiny.gguf",
            tmp_path / "models",
            progress=lambda done, total: seen.append(done),
            cancelled=lambda: len(seen) >= 3,
        )
    assert len(seen) == 3
    assert left_over(tmp_path / "models") == []


def test_a_killed_import_leaves_nothing_that_is_listed_and_the_next_one_cleans_up(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf")
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom engine.models.gguf import import_gguf\n"
        "def progress(done, total):\n    if done > total / 2:\n        print('half', flush=True)\n        time.sleep(60)\n"
        "import_gguf(Path(sys.argv[1]), Path(sys.argv[2]), progress=progress)\n"
    )
    models = tmp_path / "models"
    child = subprocess.Popen([sys.executable, "-c", program, tmp_path / "tiny.gguf", models], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"half\n"
    half_made = left_over(models)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert len(half_made) == 1
    assert half_made[0].startswith(PARTIAL_PREFIX)
    assert left_over(models) == half_made
    folder = import_gguf(tmp_path / "tiny.gguf", models)
    assert left_over(models) == [folder.name]
    assert problem_of(folder) == ""


def test_what_a_dead_import_left_is_gone_even_when_the_next_one_fails(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf")
    (tmp_path / "models" / f"{PARTIAL_PREFIX}dead").mkdir(parents=True)
    (tmp_path / "models" / f"{PARTIAL_PREFIX}dead" / "model.safetensors").write_bytes(bytes(100))
    asked = iter([False] * 2)
    with pytest.raises(ImportCancelled):
        import_gguf(tmp_path / "tiny.gguf", tmp_path / "models", cancelled=lambda: next(asked, True))
    assert left_over(tmp_path / "models") == []


def test_two_imports_at_once_make_one_folder(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf")
    results = []

    def run():
        results.append(import_gguf(tmp_path / "tiny.gguf", tmp_path / "models", progress=lambda done, total: time.sleep(0.005)))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 3
    assert len(set(results)) == 1
    assert left_over(tmp_path / "models") == ["tiny"]


def test_waiting_for_another_import_can_be_cancelled(tmp_path):
    import fcntl

    tiny_gguf(tmp_path / "tiny.gguf")
    (tmp_path / "models").mkdir()
    with (tmp_path / "models" / LOCK_NAME).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ImportCancelled):
            import_gguf(tmp_path / "tiny.gguf", tmp_path / "models", cancelled=lambda: True)


def test_a_full_disk_is_said_before_anything_is_written(tmp_path):
    tiny_gguf(tmp_path / "big.gguf", kind="F32", hidden=256, inner=1024)
    assert (tmp_path / "big.gguf").stat().st_size > 4 * 2**20
    with small_disk(tmp_path / "disk", "4m") as disk:
        with pytest.raises(DiskFull, match=r"too full for big: it needs .* MB, 500 MB have to stay free") as caught:
            import_gguf(tmp_path / "big.gguf", disk / "models")
        assert "Free some space" in caught.value.hint
        assert left_over(disk / "models") == []


def test_a_disk_that_fills_up_during_the_import_leaves_nothing_half_made(tmp_path, monkeypatch):
    tiny_gguf(tmp_path / "big.gguf", kind="F32", hidden=256, inner=1024)
    size = (tmp_path / "big.gguf").stat().st_size
    monkeypatch.setattr("engine.core.disk.RESERVE", 2**20)
    with small_disk(tmp_path / "disk", f"{size // 2**20 + 4}m") as disk:
        filled = False

        def fill(done, total):
            # Another program takes the space that was free when the import began.
            nonlocal filled
            if not filled:
                filled = True
                (disk / "other").write_bytes(bytes(5 * 2**20))

        with pytest.raises(DiskFull, match="big"):
            import_gguf(tmp_path / "big.gguf", disk / "models", progress=fill)
        assert filled
        assert left_over(disk / "models") == []
        (disk / "other").unlink()
        assert problem_of(import_gguf(tmp_path / "big.gguf", disk / "models")) == ""


def test_a_read_only_folder_is_said_and_what_it_holds_is_still_found(tmp_path):
    tiny_gguf(tmp_path / "new.gguf", seed=1)
    tiny_gguf(tmp_path / "old.gguf", seed=2)
    models = tmp_path / "models"
    known = import_gguf(tmp_path / "old.gguf", models)
    with read_only(models):
        with pytest.raises(ReadOnly, match="may not write to"):
            import_gguf(tmp_path / "new.gguf", models)
        with pytest.raises(ReadOnly, match="may not write to"):
            import_gguf(tmp_path / "new.gguf", models / "deeper" / "still")
        assert import_gguf(tmp_path / "old.gguf", models) == known


def test_a_models_folder_that_is_a_file_is_said(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf")
    (tmp_path / "models").write_text("")
    for root in (tmp_path / "models", tmp_path / "models" / "below"):
        with pytest.raises(ReadOnly, match="is a file"):
            import_gguf(tmp_path / "tiny.gguf", root)


def test_what_is_wrong_with_a_file_is_said_before_the_folder_is_touched(tmp_path):
    tiny_gguf(tmp_path / "other.gguf", metadata={"general.architecture": "mamba"})
    (tmp_path / "text.gguf").write_text("Just some text, and long enough.")
    tiny_gguf(tmp_path / "tiny.gguf")
    whole = (tmp_path / "tiny.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(whole[: len(whole) - 100])
    models = tmp_path / "models"
    for name, kind, text in (
        ("other.gguf", ModelUnsupported, "architecture “mamba”"),
        ("text.gguf", ModelBroken, "is not a GGUF file"),
        ("cut.gguf", ModelBroken, "is cut short"),
        ("missing.gguf", ModelNotFound, "There is no file"),
    ):
        with pytest.raises(kind, match=text) as caught:
            import_gguf(tmp_path / name, models)
        assert caught.value.hint
    assert not models.exists()


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["F16", "Q4_0", "Q4_K", "Q6_K"])
def test_an_import_holds_a_chunk_and_not_a_tensor(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(gguf_weights, "CHUNK_WEIGHTS", 2**16)
    monkeypatch.setattr(gguf_source, "CHUNK_BYTES", 2**18)
    tiny_gguf(tmp_path / "wide.gguf", kind=kind, hidden=256, inner=2**15, layers=1)
    import_gguf(tmp_path / "wide.gguf", tmp_path / "once")  # What is imported and made on the first use is no part of it.
    tracemalloc.start()
    try:
        import_gguf(tmp_path / "wide.gguf", tmp_path / "models")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    weights = 2**15 * 256
    # A chunk as float32 and what dequantizing it takes besides, the scales of one tensor, the tokenizer.
    assert peak < 8 * 4 * 2**16 + weights // 32 * 2 * 2 * 2 + 2**20
    assert peak < weights * 4 // 8


def test_a_file_that_shrinks_while_it_is_read_is_refused(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf", kind="F32", hidden=256, inner=1024)
    half = (tmp_path / "tiny.gguf").stat().st_size // 2

    def shrink(done, total):
        os.truncate(tmp_path / "tiny.gguf", half)

    with pytest.raises(ModelBroken, match="became shorter"):
        import_gguf(tmp_path / "tiny.gguf", tmp_path / "models", progress=shrink)
    assert left_over(tmp_path / "models") == []


def test_weights_that_are_not_numbers_are_refused(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf", kind="Q8_0")
    data = bytearray((tmp_path / "tiny.gguf").read_bytes())
    info = next(info for info in read_header(tmp_path / "tiny.gguf").tensors if info.kind == "Q8_0")
    data[info.offset : info.offset + 2] = np.float16(np.nan).tobytes()
    (tmp_path / "tiny.gguf").write_bytes(data)
    with pytest.raises(ModelBroken, match="scales that are not numbers"):
        import_gguf(tmp_path / "tiny.gguf", tmp_path / "models")
    assert left_over(tmp_path / "models") == []
