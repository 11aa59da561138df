"""What a Llama-family GGUF says about its model, and what it must not lack."""

import numpy as np
import pytest

from engine.core.errors import ModelBroken, ModelUnsupported
from engine.models.gguf_header import read_header
from engine.models.gguf_model import read_model
from tests.models.tiny_gguf import tiny_gguf

YARN = {
    "llama.rope.scaling.type": "yarn",
    "llama.rope.scaling.factor": 4.0,
    "llama.rope.scaling.original_context_length": 32768,
}


def model(tmp_path, **options):
    tiny_gguf(tmp_path / "tiny.gguf", **options)
    return read_model(read_header(tmp_path / "tiny.gguf"))


def test_the_starters_config_is_what_its_authors_published(starter_gguf):
    config = read_model(read_header(starter_gguf)).config
    # HuggingFaceTB/SmolLM2-135M-Instruct, config.json
    published = {
        "hidden_size": 576,
        "intermediate_size": 1536,
        "max_position_embeddings": 8192,
        "model_type": "llama",
        "num_attention_heads": 9,
        "num_hidden_layers": 30,
        "num_key_value_heads": 3,
        "rms_norm_eps": 1e-05,
        "rope_theta": 100000,
        "tie_word_embeddings": True,
        "vocab_size": 49152,
        "attention_bias": False,
        "mlp_bias": False,
    }
    assert {name: config[name] for name in published} == published
    assert "rope_scaling" not in config


def test_embeddings_are_tied_where_there_is_no_output_matrix(tmp_path):
    assert model(tmp_path, tied=True).config["tie_word_embeddings"] is True
    assert model(tmp_path, tied=False).config["tie_word_embeddings"] is False


def test_facts_that_may_be_left_out_have_llamas_defaults(tmp_path):
    missing = {"llama.attention.head_count_kv": None, "llama.rope.freq_base": None, "llama.rope.dimension_count": None}
    config = model(tmp_path, metadata=missing, kv_heads=4).config
    assert (config["num_key_value_heads"], config["rope_theta"], config["head_dim"]) == (4, 10000.0, 16)


def test_linear_rope_scaling_is_kept(tmp_path):
    config = model(tmp_path, metadata={"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 4.0}).config
    assert config["rope_scaling"] == {"rope_type": "linear", "factor": 4.0}


def test_the_first_files_had_a_factor_and_no_kind(tmp_path):
    expected = {"rope_type": "linear", "factor": 2.0}
    assert model(tmp_path, metadata={"llama.rope.scale_linear": 2.0}).config["rope_scaling"] == expected
    assert model(tmp_path, metadata={"llama.rope.scaling.factor": 2.0}).config["rope_scaling"] == expected


def test_yarn_is_kept(tmp_path):
    config = model(tmp_path, metadata={**YARN, "llama.rope.scaling.yarn_beta_fast": 24.0}).config
    assert config["rope_scaling"] == {
        "rope_type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 32768,
        "beta_fast": 24.0,
        "beta_slow": 1.0,
    }


def llama3_factors(factor, base=10000.0, size=16):
    """As llama.cpp's converter computes `rope_freqs.weight` from Llama 3's config."""
    factors = []
    for frequency in 1.0 / base ** (np.arange(0, size, 2) / size):
        wavelength = 2 * np.pi / frequency
        if wavelength < 8192 / 4:
            factors.append(1)
        elif wavelength > 8192 / 1:
            factors.append(factor)
        else:
            smooth = (8192 / wavelength - 1) / (4 - 1)
            factors.append(1 / ((1 - smooth) / factor + smooth))
    return np.array(factors, np.float32)


@pytest.mark.parametrize(("factor", "base"), [(8.0, 500000.0), (32.0, 500000.0), (8.0, 10000.0)])
def test_llama_3s_rope_scaling_is_recovered_from_its_factors(tmp_path, factor, base):
    factors = llama3_factors(factor, base)
    config = model(tmp_path, extra={"rope_freqs.weight": (factors, "F32")}, metadata={"llama.rope.freq_base": base}).config
    assert config["rope_scaling"] == {
        "rope_type": "llama3",
        "factor": factor,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }


def test_mlx_lm_computes_the_factors_that_were_in_the_file():
    from mlx_lm.models.rope_utils import Llama3RoPE

    factors = llama3_factors(32.0, 500000.0, 64)
    scaling = {"factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    theirs = np.array(Llama3RoPE(64, base=500000.0, scaling_config=scaling)._freqs)
    np.testing.assert_allclose(theirs / 500000.0 ** (np.arange(0, 64, 2) / 64), factors, rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"metadata": {"general.architecture": "qwen3next"}}, "architecture “qwen3next”"),
        ({"metadata": {"split.count": 3}}, "one part of a model"),
        ({"metadata": {"llama.rope.scaling.type": "longrope"}}, "“longrope”"),
        (
            {"metadata": {**YARN, "llama.rope.scaling.yarn_log_multiplier": 0.1}},
            "sets llama.rope.scaling.yarn_log_multiplier",
        ),
        ({"metadata": {"llama.rope.dimension_count": 8}}, "only part of each head"),
        ({"metadata": {"llama.attention.value_length": 8}}, "different lengths"),
        ({"extra": {"rope_freqs.weight": (np.linspace(1, 9, 8, dtype=np.float32), "F32")}}, "rope factors"),
        ({"extra": {"blk.0.attn_sinks.weight": (np.ones(4, np.float32), "F32")}}, "blk.0.attn_sinks.weight"),
        ({"extra": {"mystery": (np.ones(4, np.float32), "F32")}}, "mystery"),
        ({"kinds": {"model.layers.1.mlp.up_proj": "TQ2_0"}, "hidden": 256}, "TQ2_0 tensors"),
    ],
)
def test_what_flint_does_not_know_is_refused_by_name(tmp_path, options, text):
    with pytest.raises(ModelUnsupported, match=text) as caught:
        model(tmp_path, **options)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"drop": ["token_embd.weight"]}, "lacks token_embd.weight"),
        ({"drop": ["blk.1.attn_v.weight"]}, "lacks model.layers.1.self_attn.v_proj.weight"),
        ({"metadata": {"llama.block_count": 3}}, "lacks model.layers.2"),
        ({"metadata": {"llama.block_count": 2**31 - 1}}, "lacks model.layers.2"),
        ({"metadata": {"llama.block_count": 1}}, "no place for: model.layers.1"),
        ({"metadata": {"llama.block_count": 0}}, "unusable llama.block_count"),
        ({"metadata": {"llama.block_count": None}}, "lacks llama.block_count"),
        ({"metadata": {"llama.block_count": "two"}}, "unusable llama.block_count"),
        ({"metadata": {"llama.attention.head_count": 0}}, "unusable llama.attention.head_count"),
        ({"metadata": {"llama.attention.head_count": [4, 2]}}, "unusable llama.attention.head_count"),
        ({"metadata": {"llama.attention.head_count_kv": 4}}, "shape"),
        ({"metadata": {"llama.feed_forward_length": 100}}, "shape"),
        ({"metadata": {"llama.attention.layer_norm_rms_epsilon": None}}, "lacks llama.attention.layer_norm"),
        ({"metadata": {"llama.attention.layer_norm_rms_epsilon": -1.0}}, "unusable"),
        ({"metadata": {"llama.rope.freq_base": float("nan")}}, "unusable"),
        ({"metadata": {"llama.rope.dimension_count": 17}}, "rotates 17 of 16"),
        ({"metadata": {"llama.attention.head_count_kv": 3}}, "can't share 3 keys"),
        ({"metadata": {"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 4.0}}, "original_context_length"),
        ({"metadata": {"llama.rope.scaling.factor": "four"}}, "unusable llama.rope.scaling.factor"),
        ({"metadata": {"llama.expert_count": 8}}, "lacks llama.expert_used_count"),
        ({"metadata": {"llama.expert_count": 8, "llama.expert_used_count": 9}}, "uses 9 of 8 experts"),
        ({"extra": {"rope_freqs.weight": (np.full(8, np.nan, np.float32), "F32")}}, "unusable rope_freqs.weight"),
        ({"extra": {"rope_freqs.weight": (np.ones((2, 4), np.float32), "F32")}}, "rope_freqs.weight of shape"),
        ({"biases": ("q_proj",)}, "lacks model.layers.0.self_attn.k_proj.bias"),
    ],
)
def test_what_is_missing_or_does_not_fit_is_said(tmp_path, options, text):
    with pytest.raises(ModelBroken, match=text) as caught:
        model(tmp_path, **options)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("architecture", "hint"), [("clip", "see pictures"), ("bert", "compares texts"), ("mamba", "MLX's own")]
)
def test_a_file_chosen_by_mistake_says_what_to_choose(tmp_path, architecture, hint):
    with pytest.raises(ModelUnsupported, match=f"architecture “{architecture}”") as caught:
        model(tmp_path, metadata={"general.architecture": architecture})
    assert hint in caught.value.hint


@pytest.mark.parametrize(("kind", "hint"), [("adapter", "merged"), ("imatrix", "the model itself"), ("mmproj", "see pictures")])
def test_a_file_that_is_no_model_by_its_own_word_is_refused(tmp_path, kind, hint):
    with pytest.raises(ModelUnsupported, match=f"no model but of type “{kind}”") as caught:
        model(tmp_path, metadata={"general.type": kind})
    assert hint in caught.value.hint
    assert model(tmp_path, metadata={"general.type": "model"}).tensors


def test_one_value_for_each_layer_is_fine_where_all_are_the_same(tmp_path):
    assert model(tmp_path, metadata={"llama.attention.head_count": [4, 4]}).config["num_attention_heads"] == 4
