"""The tensors that a model of some config must have: mlx-lm's names and their shapes."""

from collections.abc import Iterator, Mapping
from typing import Any

type Shape = tuple[str, tuple[int, ...]]
type Named = Iterator[Shape]


def ends(config: Mapping[str, Any]) -> Named:
    """Yield what stands before and after the layers."""
    vocabulary, hidden = config["vocab_size"], config["hidden_size"]
    yield "model.embed_tokens.weight", (vocabulary, hidden)
    yield "model.norm.weight", (hidden,)
    if not config["tie_word_embeddings"]:
        yield "lm_head.weight", (vocabulary, hidden)


def attention(config: Mapping[str, Any], at: str, *, biased: str = "", normed: bool = False) -> Named:
    """Yield the projections of the layer `at`; `biased` names those with a bias by their letters: “qkv”."""
    hidden, size = config["hidden_size"], head_length(config)
    rows, kv_rows = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    for letter, shape in {"q": (rows, hidden), "k": (kv_rows, hidden), "v": (kv_rows, hidden), "o": (hidden, rows)}.items():
        yield f"{at}.self_attn.{letter}_proj.weight", shape
        if letter in biased:
            yield f"{at}.self_attn.{letter}_proj.bias", shape[:1]
    if normed:
        yield f"{at}.self_attn.q_norm.weight", (size,)
        yield f"{at}.self_attn.k_norm.weight", (size,)


def feed_forward(config: Mapping[str, Any], at: str, *, biased: bool = False) -> Named:
    """Yield the gate, up and down projections of the layer `at`."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    for name, shape in {"gate": (inner, hidden), "up": (inner, hidden), "down": (hidden, inner)}.items():
        yield f"{at}.mlp.{name}_proj.weight", shape
        if biased:
            yield f"{at}.mlp.{name}_proj.bias", shape[:1]


def experts(hidden: int, inner: int, count: int, at: str, *, biased: bool = False) -> Named:
    """Yield the projections of `count` experts, stacked, of the module `at`."""
    for name, shape in {"gate": (inner, hidden), "up": (inner, hidden), "down": (hidden, inner)}.items():
        yield f"{at}.{name}_proj.weight", (count, *shape)
        if biased:
            yield f"{at}.{name}_proj.bias", (count, shape[0])


def norms(config: Mapping[str, Any], at: str, *names: str) -> Named:
    """Yield norms over the width of the layer `at`: `input` is `input_layernorm`."""
    yield from ((f"{at}.{name}_layernorm.weight", (config["hidden_size"],)) for name in names)


def head_length(config: Mapping[str, Any]) -> int:
    """Return how long a head is: what the config says, or the width's part."""
    said = config.get("head_dim")
    return int(said if said is not None else config["hidden_size"] // config["num_attention_heads"])
