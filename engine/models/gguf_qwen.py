"""What a Qwen 2, 2.5, 3 or 3-MoE GGUF says about its model, in the words of mlx-lm's `qwen2`, `qwen3` and `qwen3_moe`.

Qwen 2 has biases on Q, K and V and heads as long as the width gives; Qwen 3 has norms on Q and K instead, and says how long a
head is. llama.cpp weighs the experts of Qwen 3 so that those used come to 1.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.models.gguf_config import check_even_heads, expert_counts, usual_config
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
    check_even_heads(settings, config)
    _stretch(settings, config)
    tensors = located(settings, LAYER)
    check_shapes(settings, _dense(config, biased="qkv"), tensors)
    return GgufModel(config, tuple(tensors))


def read_qwen3(header: Header) -> GgufModel:
    """Return the config and the tensors of a Qwen 3 GGUF; raises as `read_model` does."""
    settings = Settings(header, "Qwen 3")
    config = _config(settings, "qwen3", "Qwen3ForCausalLM")
    _stretch(settings, config)
    tensors = located(settings, {**LAYER, **_NORMS})
    check_shapes(settings, _dense(config, normed=True), tensors)
    return GgufModel(config, tuple(tensors))


def read_qwen3_moe(header: Header) -> GgufModel:
    """Return the config and the tensors of a Qwen 3 mixture of experts; raises as `read_model` does."""
    settings = Settings(header, "Qwen 3 MoE")
    inner = settings.integer("expert_feed_forward_length", minimum=1)
    # mlx-lm asks for one of a whole layer too, though every layer has experts.
    whole = settings.integer("feed_forward_length", minimum=1, default=inner)
    config = _config(settings, "qwen3_moe", "Qwen3MoeForCausalLM", inner=whole)
    if rope_scaling(settings, "linear", "yarn") is not None:
        raise settings.unsupported("stretches its positions, which mlx-lm's Qwen 3 MoE does not")
    count, used = expert_counts(settings)
    config |= {
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


def _config(settings: Settings, model_type: str, architecture: str, *, inner: int | None = None) -> dict[str, Any]:
    return {"architectures": [architecture], **usual_config(settings, model_type, inner=inner), "hidden_act": "silu"}


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
