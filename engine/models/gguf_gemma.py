"""What the GGUFs of Gemma 2 and of Gemma 3 have in common.

The file holds every norm with 1 added (llama.cpp's RMSNorm multiplies by the weight, Gemma's by 1 + weight, as mlx-lm does).
Q and K are not interleaved.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.models.gguf_config import usual_config
from engine.models.gguf_plan import LAYER, GgufModel, Settings, check_shapes, located
from engine.models.gguf_shapes import Shape, attention, ends, feed_forward, norms

_BLOCK = {
    **LAYER,
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
_HEAD_NORMS = {"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm"}


def gemma_config(
    settings: Settings, model_type: str, architecture: str, *, layers_of_27b: int, base: float = 10000.0
) -> dict[str, Any]:
    """Return the shared part of a config; raises as `usual_config` does.

    The 27B scales its queries by the width for a head instead of by the head's length; llama.cpp knows it by its layers.
    """
    usual = usual_config(settings, model_type, base=base)
    wide = usual["num_hidden_layers"] == layers_of_27b
    return {
        "architectures": [architecture],
        **usual,
        "query_pre_attn_scalar": usual["hidden_size"] // usual["num_attention_heads"] if wide else usual["head_dim"],
        "hidden_activation": "gelu_pytorch_tanh",
        "attention_bias": False,
        # Its hidden states grow past the largest float16 (65,504): in Gemma 3 270M to 100,000, at the first token.
        "torch_dtype": "bfloat16",
    }


def gemma_model(settings: Settings, config: Mapping[str, Any], *, normed: bool) -> GgufModel:
    """Return the model of a whole config, its tensors checked; `normed` says whether Q and K have norms. Raises as `located`
    and `check_shapes` do."""
    block = {**_BLOCK, **_HEAD_NORMS} if normed else _BLOCK
    tensors = [replace(planned, one_added=planned.path.endswith("norm")) for planned in located(settings, block)]
    check_shapes(settings, _expected(config, normed), tensors)
    return GgufModel(config, tuple(tensors))


def _expected(config: Mapping[str, Any], normed: bool) -> Iterator[Shape]:
    yield from ends(config)
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        yield from norms(config, at, "input", "post_attention", "pre_feedforward", "post_feedforward")
        yield from attention(config, at, normed=normed)
        yield from feed_forward(config, at)
