"""What a Gemma 3 GGUF says about its model, in the words of a Hugging Face config and of mlx-lm's `gemma3_text`.

The file holds every norm with 1 added (llama.cpp's RMSNorm multiplies by the weight, Gemma's by 1 + weight, as mlx-lm does).
What a file leaves out is the same in all of Gemma 3 and written in llama.cpp: every sixth layer attends to everything, the
others' positions rotate with base 10,000. Q and K are not interleaved. Pictures are in a file of their own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.models.gguf_file import Header
from engine.models.gguf_gemma2 import BLOCK
from engine.models.gguf_plan import GgufModel, Settings, check_shapes, located
from engine.models.gguf_rope import rope_scaling
from engine.models.gguf_shapes import Shape, attention, ends, feed_forward, norms

PATTERN = 6
LOCAL_ROPE_BASE = 10000.0
# The 27B scales its queries by the width for a head instead of by the head's length; llama.cpp knows it by its layers.
LAYERS_OF_27B = 62

_BLOCK = {**BLOCK, "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm"}


def read_gemma3(header: Header) -> GgufModel:
    """Return the config and the tensors of a Gemma 3 GGUF.

    Raises `ModelUnsupported`, naming what it is, for a variant or a tensor kind that mlx-lm or Flint lacks; `ModelBroken` when
    something needed is missing or has a shape that does not fit.
    """
    settings = Settings(header, "Gemma 3")
    for key in ("final_logit_softcapping", "attn_logit_softcapping"):
        if settings.get(key):
            raise settings.unsupported(f"sets {header.architecture}.{key}, which Gemma 3 does not have")
    config = _config(settings)
    # It stretches the positions of the layers that attend to everything, in mlx-lm as in llama.cpp.
    if (scaling := rope_scaling(settings, "linear")) is not None:
        config["rope_scaling"] = scaling
    tensors = [replace(planned, one_added=planned.path.endswith("norm")) for planned in located(settings, _BLOCK)]
    check_shapes(settings, _expected(config), tensors)
    return GgufModel(config, tuple(tensors))


def _config(settings: Settings) -> dict[str, Any]:
    hidden, layers = settings.integer("embedding_length", minimum=1), settings.integer("block_count", minimum=1)
    heads, kv_heads, head_dim = settings.head_sizes(hidden)
    context = settings.integer("context_length", minimum=1)
    window = settings.integer("attention.sliding_window", default=0)
    return {
        "architectures": ["Gemma3ForCausalLM"],
        "model_type": "gemma3_text",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "intermediate_size": settings.integer("feed_forward_length", minimum=1),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "rms_norm_eps": settings.number("attention.layer_norm_rms_epsilon"),
        "vocab_size": settings.vocabulary(),
        "max_position_embeddings": context,
        "rope_theta": settings.number("rope.freq_base", default=1_000_000.0),
        "rope_local_base_freq": settings.number("rope.freq_base_swa", default=LOCAL_ROPE_BASE),
        "query_pre_attn_scalar": hidden // heads if layers == LAYERS_OF_27B else head_dim,
        # Without a window every layer attends to everything: a pattern of one.
        "sliding_window": window or context,
        "sliding_window_pattern": _pattern(settings, layers) if window else 1,
        "hidden_activation": "gelu_pytorch_tanh",
        "attention_bias": False,
        # Its hidden states grow past the largest float16 (65,504): in the 270M to 100,000, at the first token.
        "torch_dtype": "bfloat16",
        "tie_word_embeddings": not settings.has_tensor("output.weight"),
    }


def _pattern(settings: Settings, layers: int) -> int:
    """Return after how many layers one attends to everything; a file may give it as a number, or a flag for each layer."""
    key = "attention.sliding_window_pattern"
    value = settings.get(key, PATTERN)
    if isinstance(value, str) or not hasattr(value, "__len__"):
        period = settings.integer(key, minimum=1, default=PATTERN)
        flags = []
    else:
        flags = [bool(flag) for flag in value]
        period = flags.index(False) + 1 if False in flags else layers + 1
    # mlx-lm takes its mask from the first layer that attends to everything: there must be one.
    if period > layers or (flags and not _repeats(flags, period, layers)):
        raise settings.unsupported("has windows in an order that mlx-lm does not run")
    return period


def _repeats(flags: list[bool], period: int, layers: int) -> bool:
    # The length first: a header may claim a billion layers.
    return len(flags) == layers and all(flag == ((layer + 1) % period != 0) for layer, flag in enumerate(flags))


def _expected(config: Mapping[str, Any]) -> Iterator[Shape]:
    yield from ends(config)
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        yield from norms(config, at, "input", "post_attention", "pre_feedforward", "post_feedforward")
        yield from attention(config, at, normed=True)
        yield from feed_forward(config, at)
