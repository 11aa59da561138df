"""A model's layers, one by one: which kind each is, and what its parts hold."""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.models.attention_shapes import read_attention
from engine.models.config_fields import number, number_at, texts
from engine.models.feed_forward_shapes import read_feed_forward
from engine.models.recurrent_shapes import read_recurrent
from engine.models.shapes import Layer

MOST_LAYERS = 10_000
"""A config that says more is damaged; counting them would take forever."""

# How mlx-lm's modules choose a layer's cache. Those not named keep every row.
_BY_TYPES = frozenset(
    (
        "llama",
        "gpt_oss",
        "olmo3",
        "ministral3",
        "afmoe",
        "gemma3n",
        "gemma4",
        "gemma4_text",
        "mellum",
        "laguna",
        "exaone_moe",
        "step3p5",
        "smollm3",
    )
)
_SLIDING_WORDS = ("sliding_attention", "sliding_window", "local")
_LETTERS = {"M": "recurrent", "*": "growing", "-": "none", "E": "none"}
_RECURRENT_WORDS = ("linear_attention", "mamba", "recurrent", "conv")


def read_layers(module: str, text: Mapping[str, Any]) -> tuple[Layer, ...]:
    """Return every layer of the language model with the fields `text`, run by mlx-lm's `module`; none when it says none."""
    kinds = layer_kinds(module, text)
    return tuple(_layer(module, text, index, kinds) for index in range(len(kinds)))


def layer_kinds(module: str, text: Mapping[str, Any]) -> tuple[str, ...]:
    """Return for each layer `growing`, `sliding`, `chunked`, `recurrent`, `both` (recurrent and growing) or `none`."""
    words = texts(text, "layers_block_type") or texts(text, "layer_types")
    letters = texts(text, "hybrid_override_pattern")
    if module == "nemotron_h":
        return tuple(_LETTERS.get(letter, "none") for letter in letters) or tuple(_block_kind(word) for word in words)
    layers = min(number(text, "num_hidden_layers", "n_layers", "n_layer", "num_layers"), MOST_LAYERS)
    if module == "falcon_h1":
        return ("both",) * layers
    if any(word in _RECURRENT_WORDS for word in words) and len(words) == layers:
        return tuple("recurrent" if word in _RECURRENT_WORDS else "growing" for word in words)
    return tuple(_kind(module, text, index, words) for index in range(layers))


def _block_kind(word: str) -> str:
    if word in _RECURRENT_WORDS:
        return "recurrent"
    return "growing" if "attention" in word else "none"


def _kind(module: str, text: Mapping[str, Any], index: int, words: Sequence[str]) -> str:
    pattern = number(text, "sliding_window_pattern")
    if module == "llama4":
        return "growing" if (index + 1) % 4 == 0 else "chunked"
    if module in ("qwen3_next", "qwen3_5", "qwen3_5_moe"):
        every = number(text, "full_attention_interval") or 4
        return "growing" if (index + 1) % every == 0 else "recurrent"
    if module in ("lfm2", "lfm2_moe") and isinstance(text.get("full_attn_idxs"), list):
        return "growing" if index in text["full_attn_idxs"] else "recurrent"
    if module in ("gemma3_text", "cohere2", "exaone4"):
        return "growing" if not pattern or (index + 1) % pattern == 0 else "sliding"
    if module not in _BY_TYPES or not number(text, "sliding_window"):
        return "growing"
    if module == "gpt_oss" and not words:
        return "sliding" if index % 2 == 0 else "growing"
    if module == "gemma4_text" and not words:
        return "growing" if (index + 1) % (pattern or 5) == 0 else "sliding"
    return "sliding" if index < len(words) and words[index] in _SLIDING_WORDS else "growing"


def _layer(module: str, text: Mapping[str, Any], index: int, kinds: Sequence[str]) -> Layer:
    kind, hidden = kinds[index], number(text, "hidden_size", "n_embd", "dim", "d_model", "model_dim")
    matrices, vectors, inner = read_feed_forward(module, text, index)
    attention = recurrent = None
    if kind in ("recurrent", "both"):
        recurrent, more, more_vectors = read_recurrent(module, text)
        matrices, vectors = (*matrices, *more), vectors + more_vectors
    if kind not in ("recurrent", "none"):
        attention, more, more_vectors = read_attention(module, text, index, "growing" if kind == "both" else kind)
        matrices, vectors = (*matrices, *more), vectors + more_vectors
    return Layer(attention, recurrent, matrices, vectors + _norms(module, text, hidden), inner)


def _norms(module: str, text: Mapping[str, Any], hidden: int) -> int:
    """Weights of the norms around a layer's parts, and what else belongs to neither."""
    if module == "nemotron_h":
        return hidden
    if module == "cohere2":
        return hidden
    if module in ("gemma2", "gemma3_text"):
        return 4 * hidden
    if module == "gemma4_text":
        experts = 3 * hidden if number_at(text, 0, "num_experts") and text.get("enable_moe_block") else 0
        each = hidden if number(text, "hidden_size_per_layer_input") else 0
        return 4 * hidden + experts + each + 1
    if module == "gemma3n":
        return 8 * hidden
    return 2 * hidden
