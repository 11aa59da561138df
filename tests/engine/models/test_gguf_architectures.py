"""Qwen, Gemma 2, Phi-3, Mixtral and gpt-oss: what a file says is in the config, and what cannot be run is refused by name."""

import json
from dataclasses import replace

import pytest

from engine.core.errors import ModelBroken, ModelUnsupported
from engine.models.gguf import import_gguf
from engine.models.gguf_header import read_header
from engine.models.gguf_model import read_model
from tests.models.tiny_families import FAMILIES, config_of, family_gguf

# What a Hugging Face config says that a GGUF has no place for, or says in other words.
UNSAID = {"torch_dtype", "original_max_position_embeddings", "partial_rotary_factor", "rope_scaling"}
LONG = "phi3, long, partly rotated"


def model(tmp_path, family, metadata=None, drop=()):
    """Read a tiny file of a family; `metadata` overrides entries, None removes one."""
    family_gguf(tmp_path / "tiny.gguf", family, "Q8_0", drop=drop)
    header = read_header(tmp_path / "tiny.gguf")
    changed = {**header.metadata, **(metadata or {})}
    return read_model(replace(header, metadata={key: value for key, value in changed.items() if value is not None}))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_config_is_the_one_that_the_file_was_written_from(tmp_path, family):
    written, read = config_of(family), model(tmp_path, family).config
    names = set(written) - UNSAID
    assert {name: read[name] for name in names} == {name: written[name] for name in names}
    scaling = {name: value for name, value in (read.get("rope_scaling") or {}).items() if name != "type"}
    expected = {name: value for name, value in (written.get("rope_scaling") or {}).items() if name != "type"}
    assert scaling == expected
    assert read.get("partial_rotary_factor", 1.0) == written.get("partial_rotary_factor", 1.0)
    assert read.get("original_max_position_embeddings", 512) == written.get("original_max_position_embeddings", 512)


@pytest.mark.parametrize("family", ["gemma2", "gemma3", "gpt-oss"])
def test_models_whose_hidden_states_outgrow_float16_are_computed_in_bfloat16(tmp_path, family):
    assert model(tmp_path, family).config["torch_dtype"] == "bfloat16"


def test_gpt_oss_keeps_its_experts_in_mxfp4_and_names_what_is_not(tmp_path):
    family_gguf(tmp_path / "tiny.gguf", "gpt-oss", "MXFP4")
    rule = json.loads((import_gguf(tmp_path / "tiny.gguf", tmp_path / "models") / "config.json").read_text())["quantization"]
    assert (rule["bits"], rule["group_size"], rule["mode"]) == (4, 32, "mxfp4")
    assert rule["model.layers.0.mlp.router"] is False
    assert "model.layers.0.mlp.experts.gate_proj" not in rule


@pytest.mark.parametrize(("rotated", "size"), [(12, 16), (4, 16), (2, 16), (96, 128), (24, 96), (26, 96), (38, 120)])
def test_the_rotated_part_of_a_head_survives_being_a_fraction(rotated, size):
    from engine.models.gguf_phi3 import _share

    assert int(size * _share(rotated, size)) == rotated


def test_the_27b_of_gemma_2_scales_its_queries_by_the_width_for_a_head(tmp_path):
    # google/gemma-2-27b: hidden 4608, 32 heads of 128, query_pre_attn_scalar 144.
    family_gguf(tmp_path / "tiny.gguf", "gemma2", "Q8_0")
    header = read_header(tmp_path / "tiny.gguf")
    tensors = list(header.tensors)
    for layer in range(2, 46):
        tensors += [
            replace(info, name=info.name.replace("blk.1.", f"blk.{layer}.")) for info in tensors if "blk.1." in info.name
        ]
    wide = replace(header, tensors=tuple(tensors), metadata={**header.metadata, "gemma2.block_count": 46})
    assert read_model(wide).config["query_pre_attn_scalar"] == 64 // 4
    narrow = {"gemma2.attention.head_count": 2, "gemma2.attention.head_count_kv": 1, "gemma2.attention.key_length": 32}
    narrow |= {"gemma2.attention.value_length": 32, "gemma2.block_count": 46}
    config = read_model(replace(wide, metadata={**header.metadata, **narrow})).config
    assert (config["head_dim"], config["query_pre_attn_scalar"]) == (32, 32)


YARN = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 32768}


def of(prefix, entries):
    return {f"{prefix}.{name}": value for name, value in entries.items()}


@pytest.mark.parametrize(
    ("family", "metadata", "text"),
    [
        ("qwen2", {"qwen2.attention.key_length": 32, "qwen2.attention.value_length": 32}, "heads of 32, where mlx-lm's Qwen 2"),
        ("qwen2", {"qwen2.rope.scaling.type": "longrope"}, "“longrope”"),
        ("qwen2", {**of("qwen2", YARN), "qwen2.rope.scaling.yarn_ext_factor": 0.5}, "yarn_ext_factor"),
        ("qwen3", {"qwen3.rope.dimension_count": 16}, "rotates only part of each head"),
        ("qwen3moe", of("qwen3moe", YARN), "which mlx-lm's Qwen 3 MoE does not"),
        ("mixtral", of("llama", YARN), "“yarn”"),
        ("mixtral", {"llama.attention.key_length": 32, "llama.attention.value_length": 32}, "heads of 32"),
        ("gemma2", {"gemma2.rope.scaling.type": "linear", "gemma2.rope.scaling.factor": 8.0}, "“linear”"),
        ("phi3", {"phi3.rope.scaling.type": "yarn"}, "“yarn”"),
        ("phi3", {"phi3.attention.head_count": 3, "phi3.attention.head_count_kv": 3}, "heads of 21, where mlx-lm's Phi-3"),
        (LONG, {"phi3.rope.scaling.attn_factor": 1.5}, "sets phi3.rope.scaling.attn_factor"),
        ("gpt-oss", {"gpt-oss.rope.scaling.type": "linear"}, "“linear”"),
    ],
)
def test_a_variant_that_mlx_lm_does_not_run_is_refused_by_name(tmp_path, family, metadata, text):
    with pytest.raises(ModelUnsupported, match=text) as caught:
        model(tmp_path, family, metadata=metadata)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("family", "drop", "metadata", "text"),
    [
        ("qwen2", "blk.1.attn_k.bias", {}, "lacks model.layers.1.self_attn.k_proj.bias, which a Qwen 2 model needs"),
        ("qwen3", "blk.0.attn_q_norm.weight", {}, "lacks model.layers.0.self_attn.q_norm.weight"),
        ("qwen3", "", {"qwen3.feed_forward_length": 128}, "shape"),
        ("qwen3moe", "blk.0.ffn_up_exps.weight", {}, "lacks model.layers.0.mlp.switch_mlp.up_proj.weight"),
        ("qwen3moe", "blk.0.ffn_gate_inp.weight", {}, "lacks model.layers.0.mlp.gate.weight"),
        ("qwen3moe", "", {"qwen3moe.expert_count": 8}, "shape"),
        ("qwen3moe", "", {"qwen3moe.expert_used_count": 5}, "uses 5 of 4 experts"),
        ("qwen3moe", "", {"qwen3moe.expert_count": None}, "lacks qwen3moe.expert_count"),
        ("qwen3moe", "", {"qwen3moe.expert_feed_forward_length": None}, "lacks qwen3moe.expert_feed_forward_length"),
        ("mixtral", "blk.1.ffn_down_exps.weight", {}, "lacks model.layers.1.block_sparse_moe.switch_mlp.down_proj"),
        ("gemma2", "blk.1.post_ffw_norm.weight", {}, "lacks model.layers.1.post_feedforward_layernorm.weight"),
        ("gemma2", "", {"gemma2.final_logit_softcapping": -30.0}, "unusable gemma2.final_logit_softcapping"),
        ("phi3", "blk.0.attn_qkv.weight", {}, "lacks model.layers.0.self_attn.qkv_proj.weight"),
        ("phi3", "", {"phi3.attention.head_count": 3}, "can't share"),
        (LONG, "", {"phi3.rope.dimension_count": 8}, "rope_factors_long.weight of shape"),
        (LONG, "", {"phi3.rope.dimension_count": 34}, "rotates 34 of 16"),
        ("gpt-oss", "blk.0.attn_sinks.weight", {}, "lacks model.layers.0.self_attn.sinks"),
        ("gpt-oss", "blk.1.ffn_gate_exps.bias", {}, "lacks model.layers.1.mlp.experts.gate_proj.bias"),
        ("gpt-oss", "output.weight", {}, "lacks output.weight"),
        ("gpt-oss", "", {"gpt-oss.attention.sliding_window": None}, "lacks gpt-oss.attention.sliding_window"),
        ("gpt-oss", "", {"gpt-oss.block_count": 2**31 - 1}, "lacks model.layers.2"),
        ("gpt-oss", "", {"gpt-oss.block_count": 1}, "unusable gpt-oss.block_count"),
    ],
)
def test_what_is_missing_or_does_not_fit_is_said(tmp_path, family, drop, metadata, text):
    with pytest.raises(ModelBroken, match=text) as caught:
        model(tmp_path, family, metadata=metadata, drop=(drop,))
    assert caught.value.hint
