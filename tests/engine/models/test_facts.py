"""What a config says about an architecture."""

import json
import subprocess
import sys

import pytest

from engine.core.errors import ModelBroken
from engine.models.facts import read_facts
from tests.models.tiny import tiny_llama, tiny_model

LLAMA_8B = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
    "vocab_size": 128256,
    "torch_dtype": "bfloat16",
}


def test_llama_8bs_cache_takes_17_gb_at_its_full_context():
    # DESIGN 1: 32 layers, 8 KV heads of 128, 131,072 tokens in FP16.
    facts = read_facts(LLAMA_8B)
    assert (facts.head_dim, facts.context, facts.quantization) == (128, 131072, "BF16")
    assert round(facts.kv_bytes_per_token() * facts.context / 1e9, 2) == 17.18


def test_a_quantized_cache_takes_its_share():
    facts = read_facts(LLAMA_8B)
    assert facts.kv_bytes_per_token(1.0625) == pytest.approx(facts.kv_bytes_per_token() * 1.0625 / 2, abs=1)


def test_a_latent_attention_keeps_its_latent_only():
    config = {"model_type": "deepseek_v3", "num_hidden_layers": 61, "kv_lora_rank": 512, "qk_rope_head_dim": 64}
    assert read_facts(config).kv_bytes_per_token() == 61 * (512 + 64) * 2


def test_layers_without_keys_and_values_do_not_count():
    config = {**LLAMA_8B, "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"] * 8}
    assert read_facts(config).attention_layers == 8
    assert read_facts({**LLAMA_8B, "layer_types": ["sliding_attention"] * 32}).attention_layers == 32


def test_the_text_model_of_one_that_sees_counts():
    facts = read_facts({"model_type": "gemma3", "text_config": {**LLAMA_8B, "model_type": "gemma3_text"}})
    assert (facts.model_type, facts.layers, facts.hidden) == ("gemma3", 32, 4096)


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"quantization": {"group_size": 64, "bits": 4}}, "4-bit, groups of 64"),
        ({"quantization": {"group_size": 32, "bits": 8, "mode": "affine"}}, "8-bit, groups of 32"),
        ({"quantization": {"group_size": 32, "bits": 4, "mode": "mxfp4"}}, "mxfp4"),
        ({"quantization_config": {"quant_method": "awq", "bits": 4}}, "awq"),
        ({"torch_dtype": "float16"}, "F16"),
        ({"dtype": "float32"}, "F32"),
        ({}, ""),
    ],
)
def test_how_the_weights_are_stored_is_said_in_words(config, text):
    assert read_facts(config).quantization == text


def test_a_config_of_nonsense_gives_zeros():
    facts = read_facts(
        {"hidden_size": "big", "num_hidden_layers": -1, "num_attention_heads": True, "layer_types": 3, "quantization": []}
    )
    assert (facts.hidden, facts.layers, facts.heads, facts.kv_bytes_per_token()) == (0, 0, 0, 0)


def test_parameters_are_counted_as_mlx_lm_counts_them(tmp_path, starter):
    from mlx_lm.utils import get_total_parameters, load_model

    for folder in (tiny_llama(tmp_path / "tiny"), tiny_llama(tmp_path / "untied", tie_word_embeddings=False), starter):
        model, _ = load_model(folder, lazy=True)
        assert read_facts(folder).parameters == get_total_parameters(model)
    assert read_facts(starter).parameters == 134_515_008


def test_quantized_models_of_mlx_lm_are_counted_by_their_bits(tmp_path):
    import mlx.core as mx
    from mlx_lm.utils import load_model, quantize_model, save_model

    plain = tiny_llama(tmp_path / "plain", hidden=64)
    model, config = load_model(plain)
    model, config = quantize_model(model, config, group_size=32, bits=4)
    save_model(tmp_path / "quantized", model)
    (tmp_path / "quantized" / "config.json").write_text(json.dumps(config))
    mx.clear_cache()
    facts = read_facts(tmp_path / "quantized")
    assert facts.parameters == read_facts(plain).parameters
    assert facts.quantization == "4-bit, groups of 32"


def test_the_cache_grows_by_what_the_facts_say(tmp_path):
    import mlx.core as mx
    from mlx_lm.models.cache import make_prompt_cache
    from mlx_lm.utils import load_model

    qwen = {"model_type": "qwen3", "hidden_size": 32, "num_hidden_layers": 3, "intermediate_size": 64, "num_attention_heads": 4}
    qwen |= {
        "num_key_value_heads": 2,
        "head_dim": 16,
        "rms_norm_eps": 1e-6,
        "max_position_embeddings": 512,
        "rope_theta": 1e4,
        "tie_word_embeddings": True,
    }
    for folder in (tiny_llama(tmp_path / "llama"), tiny_model(tmp_path / "qwen", qwen)):
        model, _ = load_model(folder)
        cache = make_prompt_cache(model)
        model(mx.zeros((1, 256), mx.int32), cache=cache)
        held = sum(array.nbytes for layer in cache for array in (layer.keys, layer.values))
        assert held == 256 * read_facts(folder).kv_bytes_per_token(4)


def test_a_config_file_may_be_given_instead_of_its_folder(tmp_path):
    folder = tiny_llama(tmp_path / "tiny")
    assert read_facts(folder / "config.json") == read_facts(folder)


def test_a_missing_config_is_said(tmp_path):
    with pytest.raises(ModelBroken, match=r"has no config\.json"):
        read_facts(tmp_path)


def test_reading_facts_imports_no_model_library():
    program = (
        "import sys, engine.models.facts, engine.models.library;"
        "assert not {'mlx', 'mlx_lm', 'numpy', 'transformers', 'tokenizers', 'huggingface_hub', 'gguf'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
