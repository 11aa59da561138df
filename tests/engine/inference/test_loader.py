"""From a folder to a model that has answered one token."""

import json
import shutil

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten

from engine.core.errors import FlintError, ModelBroken, ModelUnsupported, OutOfMemory, Stopped
from engine.core.paths import locate
from engine.inference.loader import fingerprint, is_quantized, load, loading_errors
from engine.models.library import Library
from tests.models.loading import load_folder
from tests.models.tiny import tiny_llama, tiny_model
from tests.models.tiny_architectures import ARCHITECTURES, LLAMA


def rewrite(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.fixture
def folder(tmp_path):
    return tiny_llama(tmp_path / "tiny")


def test_the_facts_are_those_of_the_model(folder):
    loaded = load_folder(folder)
    parameters = dict(tree_flatten(loaded.model.parameters()))
    facts = loaded.facts
    assert facts.parameters == sum(array.size for array in parameters.values())
    assert facts.weights_bytes == sum(array.nbytes for array in parameters.values()) == 4 * facts.parameters
    assert facts.read_bytes_per_token == facts.weights_bytes
    assert (facts.context, facts.architecture) == (512, "llama")
    assert facts.kv_bytes_per_token == 2 * 2 * 2 * 8 * 4
    assert facts.load_s > 0
    assert loaded.end_ids == {loaded.tokenizer.convert_tokens_to_ids("<|im_end|>")}


def test_an_embedding_that_is_not_the_output_is_not_read_at_each_token(tmp_path):
    facts = load_folder(tiny_llama(tmp_path / "untied", tie_word_embeddings=False)).facts
    assert facts.weights_bytes - facts.read_bytes_per_token == 422 * 32 * 4


def test_idle_experts_are_not_read_at_each_token(tiny_loaded):
    loaded = tiny_loaded("chunked")
    experts = sum(array.nbytes for name, array in tree_flatten(loaded.model.parameters()) if ".experts." in name)
    assert experts > 0
    embedding = sum(array.nbytes for name, array in tree_flatten(loaded.model.parameters()) if "embed_tokens" in name)
    assert loaded.facts.weights_bytes - loaded.facts.read_bytes_per_token == experts // 2 + embedding


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_on_a_cpu_everything_is_computed_in_float32(tiny_loaded, kind):
    if mx.default_device() != mx.cpu:
        pytest.skip("there is a GPU here")
    floats = {
        array.dtype
        for _, array in tree_flatten(tiny_loaded(kind).model.parameters())
        if mx.issubdtype(array.dtype, mx.floating)
    }
    assert floats == {mx.float32}


def test_the_progress_goes_from_nothing_to_all(folder):
    entry = Library(locate()).find(str(folder))
    told = []
    load(entry, "auto", lambda fraction, stage: told.append((fraction, stage)))
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)
    assert all(stage for _, stage in told)


@pytest.mark.parametrize("step", range(5))
def test_a_load_can_be_stopped_at_each_step(folder, step):
    told = []

    def stop(fraction, stage):
        told.append(fraction)
        if len(told) > step:
            raise Stopped

    with pytest.raises(Stopped):
        load(Library(locate()).find(str(folder)), "auto", stop)
    assert len(told) == step + 1


def test_quantized_weights_stay_so_where_it_is_asked_and_give_the_same(tmp_path):
    from mlx_lm.utils import load_model, quantize_model, save_model

    plain = tiny_llama(tmp_path / "plain", hidden=64)
    model, config = load_model(plain)
    model, config = quantize_model(model, config, group_size=32, bits=8)
    folder = tmp_path / "quantized"
    shutil.copytree(plain, folder)
    save_model(folder, model)
    rewrite(folder / "config.json", quantization=config["quantization"])
    stored, dense, auto = (load_folder(folder, weights) for weights in ("as-stored", "dense", "auto"))
    assert [is_quantized(loaded.model) for loaded in (stored, dense)] == [True, False]
    assert is_quantized(auto.model) is (mx.default_device() != mx.cpu)
    assert stored.facts.weights_bytes < dense.facts.weights_bytes
    assert stored.facts.parameters == dense.facts.parameters
    ids = mx.array([list(range(40, 60))])
    assert mx.allclose(stored.model(ids), dense.model(ids), atol=1e-3).item()


# -- what goes wrong ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("harm", "kind"),
    [
        (lambda folder: rewrite(folder / "config.json", num_hidden_layers=3), ModelBroken),
        (lambda folder: rewrite(folder / "config.json", hidden_size=48), ModelBroken),
        (lambda folder: rewrite(folder / "config.json", model_type="no_such_architecture"), ModelUnsupported),
        (lambda folder: (folder / "tokenizer.json").write_text("{ no"), ModelBroken),
        (lambda folder: [(folder / name).unlink() for name in ("tokenizer.json", "tokenizer_config.json")], ModelBroken),
    ],
)
def test_a_folder_that_cannot_be_loaded_says_why_in_one_line(folder, harm, kind):
    entry = Library(locate()).find(str(folder))
    harm(folder)
    with pytest.raises(kind) as caught:
        load(entry, "auto", lambda fraction, stage: None)
    assert "\n" not in caught.value.text
    assert caught.value.hint
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MemoryError(), OutOfMemory),
        (RuntimeError("[metal::malloc] Resource limit exceeded"), OutOfMemory),
        (ValueError("Model type zebra not supported."), ModelUnsupported),
        (ValueError("needs trust_remote_code=True"), ModelUnsupported),
        (KeyError("model.embed"), ModelBroken),
        (ValueError(""), ModelBroken),
    ],
)
def test_what_the_libraries_raise_becomes_an_error_for_people(error, kind):
    with pytest.raises(kind) as caught, loading_errors("Zebra"):
        raise error
    assert "Zebra" in caught.value.text
    assert caught.value.__cause__ is error


def test_our_own_errors_and_a_wish_to_end_pass_through_unchanged():
    for error in (FlintError("as it is"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as caught, loading_errors("Zebra"):
            raise error
        assert caught.value is error


@pytest.mark.parametrize("name", ["ü ber [v1]", "star*", "what?"])
def test_any_name_of_a_folder_will_do(tmp_path, name):
    assert load_folder(tiny_llama(tmp_path / name)).facts.parameters > 0


# -- fingerprint ----------------------------------------------------------------------------------------------------------


def test_the_fingerprint_tells_models_apart_and_not_places(tmp_path, folder):
    copy = tmp_path / "elsewhere"
    shutil.copytree(folder, copy)
    assert fingerprint(copy) == fingerprint(folder)
    assert len(fingerprint(folder)) == 16
    other = tiny_llama(tmp_path / "other", seed=1)
    assert fingerprint(other) != fingerprint(folder)
    rewrite(copy / "config.json", rope_theta=5000.0)
    assert fingerprint(copy) != fingerprint(folder)


def test_a_tokenizer_that_knows_no_places_in_a_text_is_refused_by_its_name(folder):
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "ByT5Tokenizer"}')
    with pytest.raises(ModelUnsupported, match="ByT5Tokenizer") as caught:
        load_folder(folder)
    assert "tokenizer.json" in caught.value.hint


def test_a_model_without_a_chat_template_still_loads(tmp_path):
    assert load_folder(tiny_model(tmp_path / "base", LLAMA, template=None)).end_ids
