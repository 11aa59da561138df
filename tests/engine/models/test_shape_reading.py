"""Shapes read from configs, against the models that mlx-lm makes of them."""

import subprocess
import sys

import pytest

from engine.core.errors import ModelBroken
from engine.models.fit import predict
from engine.models.shape_reading import read_shape
from tests.engine.models.small_configs import BASE, CONFIGS, random_model


def held(model):
    from mlx.utils import tree_flatten

    return [array for _, array in tree_flatten(model.parameters())]


@pytest.mark.parametrize("name", CONFIGS)
def test_weights_are_counted_as_the_model_has_them(name):
    arrays = held(random_model(CONFIGS[name]))
    shape = read_shape(CONFIGS[name])
    assert shape.parameters == sum(array.size for array in arrays)
    assert shape.known
    fit = predict(CONFIGS[name], context=16, element_bytes=4)
    assert fit.weights_bytes == pytest.approx(sum(array.nbytes for array in arrays), abs=len(fit.terms))


@pytest.mark.parametrize(
    "name", ["llama", "gemma3_text", "qwen3_moe", "gpt_oss", "deepseek_v3", "llama4", "lfm2", "nemotron_h"]
)
@pytest.mark.parametrize(("bits", "group", "mode"), [(4, 32, "affine"), (8, 32, "affine"), (4, 32, "mxfp4")])
def test_packed_weights_take_what_mlx_packs_them_to(name, bits, group, mode):
    import mlx.nn as nn

    config = CONFIGS[name]
    model = random_model(config)
    rule = {"group_size": group, "bits": bits, "mode": mode}
    fits = {"class_predicate": lambda path, module: hasattr(module, "to_quantized") and module.weight.shape[-1] % group == 0}
    nn.quantize(model, **rule, **fits)
    fit = predict({**config, "quantization": rule}, context=16, element_bytes=4)
    assert fit.weights_bytes == pytest.approx(sum(array.nbytes for array in held(model)), abs=len(fit.terms))


def test_a_module_with_bits_of_its_own_is_counted_by_them():
    import mlx.nn as nn

    config, model = CONFIGS["qwen3_moe"], random_model(CONFIGS["qwen3_moe"])
    own = {"group_size": 32, "bits": 8}
    rule = {"group_size": 32, "bits": 4, "model.layers.0.mlp.gate": own, "model.layers.3.mlp.switch_mlp.down_proj": False}
    rule |= {"model.layers.1.mlp.down_proj": own, "lm_head": own}

    def chosen(path, module):
        if not hasattr(module, "to_quantized") or module.weight.shape[-1] % 32:
            return False
        return rule.get(path, True)

    nn.quantize(model, group_size=32, bits=4, class_predicate=chosen)
    fit = predict({**config, "quantization": rule}, context=16, element_bytes=4)
    assert fit.weights_bytes == pytest.approx(sum(array.nbytes for array in held(model)), abs=len(fit.terms))


def test_an_unknown_architecture_is_read_by_the_usual_names_and_said_to_be_unknown():
    shape = read_shape({**BASE, "model_type": "of_tomorrow"})
    assert not shape.known
    assert shape.parameters == read_shape(CONFIGS["llama"]).parameters


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"model_type": "llama"},
        {"model_type": "llama", "hidden_size": "wide", "num_hidden_layers": 4},
        {"model_type": "../llama", "num_hidden_layers": -1, "hidden_size": 64},
        {"model_type": 7, "text_config": []},
    ],
)
def test_a_config_that_describes_no_model_is_refused(config):
    with pytest.raises(ModelBroken, match="how many layers"):
        read_shape(config)


def test_a_config_of_nonsense_inside_still_gives_a_shape():
    nonsense = {**BASE, "model_type": "llama", "layer_types": 7, "sliding_window": "all", "num_experts": "many", "head_dim": []}
    assert read_shape(nonsense).parameters == read_shape(CONFIGS["llama"]).parameters


def test_a_number_of_layers_beyond_reason_takes_no_time():
    assert len(read_shape({**BASE, "model_type": "llama", "num_hidden_layers": 10**15}).layers) == 10_000


def test_predicting_imports_no_model_library():
    program = (
        "import sys, engine.models.fit, engine.models.load_plan;"
        "engine.models.fit.predict({'model_type': 'llama', 'hidden_size': 8, 'num_hidden_layers': 1}, context=9);"
        "assert not {'mlx', 'mlx_lm', 'numpy', 'transformers', 'tokenizers', 'huggingface_hub', 'gguf'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
