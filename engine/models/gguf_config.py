"""The part of a config that every architecture's GGUF says in the same words."""

from collections.abc import Mapping
from typing import Any

from engine.models.gguf_plan import Settings


def usual_config(
    settings: Settings, model_type: str, *, base: float = 10000.0, inner: int | None = None, partly_rotated: bool = False
) -> dict[str, Any]:
    """Return the sizes, the norms' epsilon and the base of the positions, in the words of a Hugging Face config.

    `base` is what a file that names none means; `inner` the width of the feed forward where its setting is not the usual one.
    Raises as `Settings` does, also where only part of each head is rotated, unless that may be.
    """
    hidden = settings.integer("embedding_length", minimum=1)
    heads, kv_heads, head_dim = settings.head_sizes(hidden, partly_rotated=partly_rotated)
    return {
        "model_type": model_type,
        "hidden_size": hidden,
        "num_hidden_layers": settings.integer("block_count", minimum=1),
        "intermediate_size": settings.integer("feed_forward_length", minimum=1) if inner is None else inner,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "rms_norm_eps": settings.number("attention.layer_norm_rms_epsilon"),
        "vocab_size": settings.vocabulary(),
        "max_position_embeddings": settings.integer("context_length", minimum=1),
        "rope_theta": settings.number("rope.freq_base", default=base),
        "tie_word_embeddings": not settings.has_tensor("output.weight"),
    }


def check_even_heads(settings: Settings, config: Mapping[str, Any]) -> None:
    """Raise `ModelUnsupported` unless a head is as long as the width gives, where mlx-lm takes that for granted."""
    hidden, heads, head_dim = config["hidden_size"], config["num_attention_heads"], config["head_dim"]
    if head_dim * heads != hidden:
        raise settings.unsupported(f"has heads of {head_dim}, where mlx-lm's {settings.family} has {hidden} / {heads}")


def expert_counts(settings: Settings) -> tuple[int, int]:
    """Return how many experts there are and how many of them a token uses; raises `ModelBroken`."""
    count, used = settings.integer("expert_count", minimum=1), settings.integer("expert_used_count", minimum=1)
    if used > count:
        raise settings.broken(f"uses {used} of {count} experts")
    return count, used
