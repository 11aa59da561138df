"""What a gpt-oss GGUF says about its model, in the words of a Hugging Face config and of mlx-lm's `gpt_oss`.

Its experts are MXFP4 in the file as in MLX: they keep every bit. The first layer attends to the last 128 tokens, the second
to everything, and so on. Each head has a sink: a score that belongs to no token.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.models.gguf_config import expert_counts, usual_config
from engine.models.gguf_file import Header
from engine.models.gguf_plan import LAYER, GgufModel, Planned, Settings, check_shapes, located
from engine.models.gguf_rope import rope_scaling
from engine.models.gguf_shapes import Shape, attention, ends, experts, norms

_SINKS = "self_attn.sinks"
_BLOCK = {
    **{stem: path for stem, path in LAYER.items() if not path.startswith("mlp.") and stem != "ffn_norm"},
    "post_attention_norm": "post_attention_layernorm",
    "attn_sinks": _SINKS,
    "ffn_gate_inp": "mlp.router",
    "ffn_gate_exps": "mlp.experts.gate_proj",
    "ffn_up_exps": "mlp.experts.up_proj",
    "ffn_down_exps": "mlp.experts.down_proj",
}


def read_gpt_oss(header: Header) -> GgufModel:
    """Return the config and the tensors of a gpt-oss GGUF; raises as `read_model` does."""
    settings = Settings(header, "gpt-oss")
    layers = settings.integer("block_count", minimum=2)
    inner = settings.integer("expert_feed_forward_length", minimum=1)
    count, used = expert_counts(settings)
    if not settings.has_tensor("output.weight"):
        raise settings.missing("output.weight")
    config = {
        "architectures": ["GptOssForCausalLM"],
        **usual_config(settings, "gpt_oss", base=150000.0, inner=inner),
        "num_local_experts": count,
        "num_experts_per_tok": used,
        "rope_scaling": rope_scaling(settings, "yarn"),
        "sliding_window": settings.integer("attention.sliding_window", minimum=1),
        "layer_types": [("sliding_attention", "full_attention")[layer % 2] for layer in range(min(layers, 2**16))],
        # Trained in it; its hidden states do not fit float16.
        "torch_dtype": "bfloat16",
    }
    tensors = [_named(planned) for planned in located(settings, _BLOCK)]
    check_shapes(settings, _expected(config), tensors)
    return GgufModel(config, tuple(tensors))


def _named(planned: Planned) -> Planned:
    """The sinks are numbers of the attention itself, not the weight of a module in it."""
    if not planned.path.endswith(_SINKS):
        return planned
    return replace(planned, path=planned.path.rpartition(".")[0], part="sinks")


def _expected(config: Mapping[str, Any]) -> Iterator[Shape]:
    yield from ends(config)
    hidden, inner, count = config["hidden_size"], config["intermediate_size"], config["num_local_experts"]
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        yield from norms(config, at, "input", "post_attention")
        yield from attention(config, at, biased="qkvo")
        yield f"{at}.self_attn.sinks", (config["num_attention_heads"],)
        yield f"{at}.mlp.router.weight", (count, hidden)
        yield f"{at}.mlp.router.bias", (count,)
        yield from experts(hidden, inner, count, f"{at}.mlp.experts", biased=True)
