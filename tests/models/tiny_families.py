"""A tiny random model of every architecture that is read from GGUF, as mlx-lm runs it and as llama.cpp's converter writes it.

The tensors' names come from the `gguf` package's own tables, the settings from its writer: nothing here is Flint's.
"""

import functools
import zlib

import numpy as np

from tests.models.gguf_blocks import dequantized, random_blocks
from tests.models.tiny_gguf import add_metadata, byte_level_metadata, permute

IDS = [5, 17, 99, 3, 250, 42, 7, 311, 8, 120, 61, 2, 77, 19]
WRITABLE = ("F32", "F16", "BF16", "Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0", "MXFP4")

_BASE = {
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 512,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
}
_YARN = {
    "rope_type": "yarn",
    "factor": 32.0,
    "original_max_position_embeddings": 64,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
}
_GEMMA = {"head_dim": 16, "rms_norm_eps": 1e-6, "torch_dtype": "bfloat16"}
_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "norm_topk_prob": True, "decoder_sparse_step": 1, "mlp_only_layers": []}
# The sizes are `config_of`'s; a `head_dim` here is one at a width of 64. Config of mlx-lm → the architecture's name in the `gguf` package. Variants whose tensors or settings differ have names of
# their own.
FAMILIES = {
    "llama": ("LLAMA", {**_BASE, "model_type": "llama", "rope_theta": 500000.0}),
    "llama, untied, biased, yarn": (
        "LLAMA",
        {**_BASE, "model_type": "llama", "tie_word_embeddings": False, "attention_bias": True, "rope_scaling": _YARN},
    ),
    "mixtral": (
        "LLAMA",
        {**_BASE, "model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2, "tie_word_embeddings": False},
    ),
    "qwen2": ("QWEN2", {**_BASE, "model_type": "qwen2", "rope_theta": 1000000.0}),
    "qwen2, yarn": ("QWEN2", {**_BASE, "model_type": "qwen2", "rope_scaling": {**_YARN, "factor": 4.0}}),
    "qwen3": ("QWEN3", {**_BASE, "model_type": "qwen3", "head_dim": 32, "num_key_value_heads": 1}),
    "qwen3moe": (
        "QWEN3MOE",
        {**_BASE, **_EXPERTS, "model_type": "qwen3_moe", "head_dim": 16},
    ),
    "gemma2": (
        "GEMMA2",
        {
            **_BASE,
            **_GEMMA,
            "model_type": "gemma2",
            "attn_logit_softcapping": 20.0,
            "final_logit_softcapping": 15.0,
        },
    ),
    "gemma3": (
        "GEMMA3",
        {
            **_BASE,
            **_GEMMA,
            "model_type": "gemma3_text",
            "sliding_window": 8,
            "sliding_window_pattern": 2,
            "rope_theta": 1000000.0,
            "rope_local_base_freq": 10000.0,
            "tie_word_embeddings": False,
        },
    ),
    "phi3": ("PHI3", {**_BASE, "model_type": "phi3", "tie_word_embeddings": False}),
    "phi3, long, partly rotated": (
        "PHI3",
        {
            **_BASE,
            "model_type": "phi3",
            "partial_rotary_factor": 0.75,
            "original_max_position_embeddings": 128,
            "rope_scaling": {"type": "longrope"},
        },
    ),
    "gpt-oss": (
        "GPT_OSS",
        {
            **_BASE,
            "model_type": "gpt_oss",
            "head_dim": 16,
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "sliding_window": 8,
            "rope_theta": 150000.0,
            "rope_scaling": _YARN,
            "layer_types": ["sliding_attention", "full_attention"],
            "tie_word_embeddings": False,
        },
    ),
}


def config_of(family, width=64):
    """Return the config of a family at a width, with the vocabulary of the tiny tokenizer.

    Blocks of 256 weights need a width of 256: such models have one layer where they can.
    """
    config = {"hidden_size": width, "intermediate_size": width, **FAMILIES[family][1]}
    size = config.get("head_dim", 16) * width // 64
    if "head_dim" in config:
        config["head_dim"] = size
    if "gemma" in config["model_type"]:
        config["query_pre_attn_scalar"] = size
    if "num_experts" in config:
        config["moe_intermediate_size"] = width
    if config["model_type"] == "phi3" and "rope_scaling" in config:
        count = size * 3 // 8
        factors = {"long_factor": [1.0 + index / 8 for index in range(count)], "short_factor": [1.0] * count}
        config["rope_scaling"] = {"type": "longrope", **factors}
    if width == 256 and "sliding_window" not in config:
        config["num_hidden_layers"] = 1
    return {**config, "vocab_size": len(byte_level_metadata()["tokenizer.ggml.tokens"])}


@functools.cache
def random_weights(family, width=64):
    """Return random float32 weights of a family by mlx-lm's names, sharp enough for a wrong step to show."""
    from mlx.utils import tree_flatten

    rng = np.random.default_rng(zlib.crc32(family.encode()))
    weights = {}
    for name, value in tree_flatten(_empty(config_of(family, width)).parameters()):
        if value.ndim == 1 or name.endswith("bias"):
            center = 1.0 if "norm" in name and "gemma" not in family else 0.0
            values = center + 0.2 * rng.standard_normal(value.shape)
        else:
            values = rng.standard_normal(value.shape) * (0.3 if "embed" in name else 1.2 * value.shape[-1] ** -0.5)
        weights[name] = values.astype(np.float32)
    return weights


def logits(family, weights, width=64):
    """Return the logits of mlx-lm's own model with these weights: [tokens of `IDS`, vocabulary]."""
    import mlx.core as mx

    model = _empty(config_of(family, width))
    model.load_weights([(name, mx.array(value)) for name, value in weights.items()], strict=True)
    return np.array(model(mx.array([IDS])))[0]


def _empty(config):
    from mlx_lm.utils import _get_classes

    model_class, arguments = _get_classes(config)
    return model_class(arguments.from_dict(config))


def family_gguf(path, family, kind, *, drop=(), parts=1):
    """Write a family's random weights as GGUF, every matrix of `kind`; return the weights as that left them, by mlx-lm's names.

    Kinds that the `gguf` package cannot write get random blocks instead of the weights. Norms, biases and routers stay float32.
    `drop` names GGUF tensors to leave out; `parts` splits the file.
    """
    import gguf

    architecture, _ = FAMILIES[family]
    width = 64 if kind in WRITABLE else 256
    config = config_of(family, width)
    architecture = gguf.MODEL_ARCH[architecture]
    names = gguf.get_tensor_name_map(architecture, config["num_hidden_layers"])
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = random_weights(family, width)
    most = -(-(len(weights) + 2) // parts) if parts > 1 else 0  # Two more are factors.
    writer = gguf.GGUFWriter(path, gguf.MODEL_ARCH_NAMES[architecture], split_max_tensors=most)
    _add_settings(writer, config, family)
    add_metadata(writer, byte_level_metadata())
    stored = {}
    for number, (name, values) in enumerate(weights.items()):
        plain = values.ndim == 1 or name.endswith(("bias", ".gate.weight", "router.weight"))
        wanted = "F32" if plain else kind
        rows = _rows(values, wanted, number)
        stored[name] = dequantized(wanted, rows)
        rows = _as_converted(name, rows, config)
        written = names.get_name(_hugging_face_name(name), try_suffixes=(".weight", ".bias"))
        if written not in drop:
            writer.add_tensor(written, np.ascontiguousarray(rows), raw_dtype=gguf.GGMLQuantizationType[wanted])
    if "long_factor" in (config.get("rope_scaling") or {}):
        for which in ("long", "short"):
            writer.add_tensor(f"rope_factors_{which}.weight", np.array(config["rope_scaling"][f"{which}_factor"], np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return stored


def _rows(values, kind, seed):
    """Return the rows of bytes of a tensor in a kind: quantized where the `gguf` package can, random where it cannot."""
    import gguf

    if kind in WRITABLE:
        return gguf.quantize(values, gguf.GGMLQuantizationType[kind])
    flat = random_blocks(kind, (int(np.prod(values.shape[:-1])), values.shape[-1]), seed)
    return flat.reshape(*values.shape[:-1], -1)


def _hugging_face_name(name):
    if name.endswith("self_attn.sinks"):
        return f"{name}.weight"
    if "block_sparse_moe" in name:
        for ours, theirs in (("gate_proj", "w1"), ("down_proj", "w2"), ("up_proj", "w3")):
            name = name.replace(f"switch_mlp.{ours}", f"experts.{theirs}")
    return name.replace("switch_mlp.", "experts.")


def _as_converted(name, rows, config):
    """What the converter does to a tensor's numbers or rows."""
    if config["model_type"] in ("llama", "mixtral"):
        if ".q_proj." in name:
            return permute(rows, config["num_attention_heads"])
        if ".k_proj." in name:
            return permute(rows, config["num_key_value_heads"])
    return rows + np.float32(1) if "gemma" in config["model_type"] and "norm" in name else rows


def _add_settings(writer, config, family):
    writer.add_name(f"Tiny {family}")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    if "head_dim" in config:
        writer.add_key_length(config["head_dim"])
        writer.add_value_length(config["head_dim"])
    if "sliding_window" in config:
        writer.add_sliding_window(config["sliding_window"])
    if "sliding_window_pattern" in config:
        writer.add_sliding_window_pattern(config["sliding_window_pattern"])
    if "attn_logit_softcapping" in config:
        writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        writer.add_final_logit_softcapping(config["final_logit_softcapping"])
    if count := config.get("num_experts") or config.get("num_local_experts"):
        writer.add_expert_count(count)
        writer.add_expert_used_count(config["num_experts_per_tok"])
    if config["model_type"] in ("qwen3_moe", "gpt_oss"):
        writer.add_expert_feed_forward_length(config.get("moe_intermediate_size", config["intermediate_size"]))
    _add_rope_settings(writer, config)


def _add_rope_settings(writer, config):
    import gguf

    scaling = config.get("rope_scaling") or {}
    if scaling.get("rope_type") == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(scaling["factor"])
        writer.add_rope_scaling_orig_ctx_len(scaling["original_max_position_embeddings"])
    if config["model_type"] == "phi3":
        size = config["hidden_size"] // config["num_attention_heads"]
        writer.add_rope_dimension_count(int(size * config.get("partial_rotary_factor", 1.0)))
        original = config.get("original_max_position_embeddings", 512)
        writer.add_rope_scaling_orig_ctx_len(original)
        if scaling:
            stretch = config["max_position_embeddings"] / original
            writer.add_rope_scaling_attn_factors(float(np.sqrt(1 + np.log(stretch) / np.log(original))))
