"""What the loader would make of a model, against what it makes of it."""

import json

import pytest

from engine.core.errors import ModelBroken
from engine.core.facts import ModelEntry
from engine.hardware.meters import total_bytes
from engine.models.load_plan import plan_load, predict_unread
from tests.models.tiny import tiny_llama


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A plain model and the same with its weights packed to 4 bits, as mlx-lm writes it."""
    import mlx.core as mx
    from mlx_lm.utils import load_model, quantize_model, save_model

    root = tmp_path_factory.mktemp("models")
    plain = tiny_llama(root / "plain", hidden=64)
    model, config = load_model(plain)
    model.set_dtype(mx.bfloat16)
    model, config = quantize_model(model, config, group_size=32, bits=4)
    packed = tiny_llama(root / "packed", hidden=64)
    save_model(packed, model)
    (packed / "config.json").write_text(json.dumps(config))
    return {"plain": plain, "packed": packed}


@pytest.mark.parametrize("weights", ["auto", "as-stored", "dense"])
@pytest.mark.parametrize("kind", ["plain", "packed"])
def test_the_weights_take_what_was_planned(folders, kind, weights):
    import mlx.core as mx
    from mlx.utils import tree_flatten

    from engine.inference.loader import load

    folder = folders[kind]
    entry = ModelEntry(id=kind, name=kind, path=str(folder), origin="folder", kind="mlx", size_bytes=0)
    model = load(entry, weights, lambda _fraction, _stage: None).model
    held = [array for _, array in tree_flatten(model.parameters())]
    metal = mx.default_device() == mx.gpu
    plan = plan_load(folder, metal=metal, memory_bytes=total_bytes(), weights=weights)
    assert plan.weights_bytes == sum(array.nbytes for array in held)
    assert plan.dense == (weights == "dense" or (weights == "auto" and not metal))


def test_on_metal_packed_weights_stay_as_they_are(folders):
    from engine.models.safetensors_file import check_safetensors

    specs = check_safetensors(folders["packed"] / "model.safetensors").values()
    plan = plan_load(folders["packed"], metal=True, memory_bytes=2**40)
    assert (plan.weights_bytes, plan.element_bytes, plan.dense) == (sum(spec.size for spec in specs), 2, False)


def test_norms_in_float32_make_every_activation_that_wide(folders):
    assert plan_load(folders["plain"], metal=True, memory_bytes=2**40).element_bytes == 4


def test_a_machine_with_little_memory_keeps_weights_packed(folders):
    plan = plan_load(folders["packed"], metal=False, memory_bytes=2**20)
    assert not plan.dense
    assert plan.weights_bytes < plan_load(folders["packed"], metal=False, memory_bytes=2**40).weights_bytes


def test_a_gguf_is_planned_as_what_it_is_imported_to(starter_gguf, starter):
    for metal in (False, True):
        for weights in ("auto", "as-stored", "dense"):
            before = plan_load(starter_gguf, metal=metal, memory_bytes=2**40, weights=weights)
            after = plan_load(starter, metal=metal, memory_bytes=2**40, weights=weights)
            assert (before.weights_bytes, before.element_bytes) == (after.weights_bytes, after.element_bytes)


def test_a_folder_without_a_config_is_refused(tmp_path):
    with pytest.raises(ModelBroken, match=r"has no config\.json"):
        plan_load(tmp_path, metal=True, memory_bytes=2**40)


@pytest.mark.parametrize("weights", ["auto", "as-stored", "dense"])
@pytest.mark.parametrize("kind", ["plain", "packed"])
def test_of_the_config_alone_is_foretold_what_it_takes_once_it_is_here(folders, kind, weights):
    config = json.loads((folders[kind] / "config.json").read_text())
    for memory in (2**20, 2**40):
        known = plan_load(folders[kind], metal=False, memory_bytes=memory, weights=weights)
        fit = predict_unread(config, context=64, metal=False, memory_bytes=memory, weights=weights)
        assert fit.weights_bytes == pytest.approx(known.weights_bytes, rel=0.01)
        assert fit.plan.element_bytes == known.element_bytes


def test_on_metal_the_files_are_taken_as_the_hub_counts_them(folders):
    config = json.loads((folders["packed"] / "config.json").read_text())
    assert predict_unread(config, context=64, metal=True, memory_bytes=2**40, size_bytes=12_345).weights_bytes == 12_345
