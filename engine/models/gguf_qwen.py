"""What a Qwen 2, 2.5, 3 or 3-MoE GGUF says about its model, in the words of mlx-lm's `qwen2`, `qwen3` and `qwen3_moe`.

Qwen 2 has biases on Q, K and V and heads as long as the width gives; Qwen 3 has norms on Q and K instead, and says how long a
head is. llama.cpp weighs the experts of Qwen 3 so that those used come to 1.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.models.gguf_file import Header
from engine.models.gguf_plan import LAYER, GgufModel, Settings, check_shapes, located
from engine.models.gguf_rope import rope_scaling
from engine.models.gguf_shapes import Shape, attention, ends, experts, feed_forward, norms

_NORMS = {"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm"}
_EXPERTS = {
    "ffn_gate_inp": "mlp.gate",
    "ffn_gate_exps": "mlp.switch_mlp.gate_proj",
    "ffn_up_exps": "mlp.switch_mlp.up_proj",
    "ffn_down_exps": "mlp.switch_mlp.down_proj",
}
_WITHOUT_FEED_FORWARD = {stem: path for stem, path in LAYER.items() if not path.startswith("mlp.")}


def read_qwen2(header: Header) -> GgufModel:
    """Return the config and the tensors of a Qwen 2 or 2.5 GGUF; raises as `read_model` does."""
    settings = Settings(header, "Qwen 2")
    config = _config(settings, "qwen2", "Qwen2ForCausalLM")
    settings.even_heads(config["hidden_size"])
    config["intermediate_size"] = settings.integer("feed_forward_length", minimum=1)
    _stretch(settings, config)
    tensors = located(settings, LAYER)
    check_shapes(settings, _dense(config, biased="qkv"), tensors)
    return GgufModel(config, tuple(tensors))


def read_qwen3(header: Header) -> GgufModel:
    """Return the config and the tensors of a Qwen 3 GGUF; raises as `read_model` does."""
    settings = Settings(header, "Qwen 3")
    config = _config(settings, "qwen3", "Qwen3ForCausalLM")
    config["intermediate_size"] = settings.integer("feed_forward_length", minimum=1)
    _stretch(settings, config)
    tensors = located(settings, {**LAYER, **_NORMS})
    check_shapes(settings, _dense(config, normed=True), tensors)
    return GgufModel(config, tuple(tensors))


def read_qwen3_moe(header: Header) -> GgufModel:
    """Return the config and the tensors of a Qwen 3 mixture of experts; raises as `read_model` does."""
    settings = Settings(header, "Qwen 3 MoE")
    config = _config(settings, "qwen3_moe", "Qwen3MoeForCausalLM")
    if rope_scaling(settings, "linear", "yarn") is not None:
        raise settings.unsupported("stretches its positions, which mlx-lm's Qwen 3 MoE does not")
    count = settings.integer("expert_count", minimum=1)
    used = settings.integer("expert_used_count", minimum=1)
    if used > count:
        raise settings.broken(f"uses {used} of {count} experts")
    inner = settings.integer("expert_feed_forward_length", minimum=1)
    config |= {
        # mlx-lm asks for it, though every layer has experts.
        "intermediate_size": settings.integer("feed_forward_length", minimum=1, default=inner),
        "moe_intermediate_size": inner,
        "num_experts": count,
        "num_experts_per_tok": used,
        "norm_topk_prob": True,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
    }
    tensors = located(settings, {**_WITHOUT_FEED_FORWARD, **_NORMS, **_EXPERTS})
    check_shapes(settings, _mixture(config), tensors)
    return GgufModel(config, tuple(tensors))


def _config(settings: Settings, model_type: str, architecture: str) -> dict[str, Any]:
    hidden = settings.integer("embedding_length", minimum=1)
    heads, kv_heads, head_dim = settings.head_sizes(hidden)
    return {
        "architectures": [architecture],
        "model_type": model_type,
        "hidden_size": hidden,
        "num_hidden_layers": settings.integer("block_count", minimum=1),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "rms_norm_eps": settings.number("attention.layer_norm_rms_epsilon"),
        "vocab_size": settings.vocabulary(),
        "max_position_embeddings": settings.integer("context_length", minimum=1),
        "rope_theta": settings.number("rope.freq_base", default=10000.0),
        "hidden_act": "silu",
        "tie_word_embeddings": not settings.has_tensor("output.weight"),
    }


def _stretch(settings: Settings, config: dict[str, Any]) -> None:
    scaling = rope_scaling(settings, "linear", "yarn")
    if scaling is not None:
        config["rope_scaling"] = scaling


def _dense(config: Mapping[str, Any], *, biased: str = "", normed: bool = False) -> Iterator[Shape]:
    yield from ends(config)
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        yield from norms(config, at, "input", "post_attention")
        yield from attention(config, at, biased=biased, normed=normed)
        yield from feed_forward(config, at)


def _mixture(config: Mapping[str, Any]) -> Iterator[Shape]:
    yield from ends(config)
    hidden, inner, count = config["hidden_size"], config["moe_intermediate_size"], config["num_experts"]
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        yield from norms(config, at, "input", "post_attention")
        yield from attention(config, at, normed=True)
        yield f"{at}.mlp.gate.weight", (count, hidden)
        yield from experts(hidden, inner, count, f"{at}.mlp.switch_mlp")
