"""The caches that a model gets: each one it makes, replaced by its kind."""

from typing import Any

from engine.cache.chunked import ChunkedCache
from engine.cache.policy import CachePolicy
from engine.cache.window import WindowCache

LARGEST_PLAIN = 1024
"""Rows of a sliding layer up to which it stays in the model's own precision: little is won, and Gemma 3 would have 15 of 18."""

READS_TWICE = frozenset({"gemma3n", "afm7"})
"""Models whose layers ask another layer's cache for `keys_and_values`."""

COUNTS_ROWS = frozenset({"afm7"})
"""Models that take a token's position from the number of rows: nothing may be dropped."""


def make_cache(model: Any, policy: CachePolicy) -> list[Any]:
    """Return one cache per layer, as `model` (mlx-lm's) takes them.

    Growing layers get a window of the policy's length and precision; sliding ones a window of the model's own size, or of
    the policy's where that is smaller; chunked ones likewise. Recurrent states and a model's own kinds are left alone.
    """
    from mlx_lm.models.cache import make_prompt_cache

    kind = str(getattr(model, "model_type", ""))
    if kind in COUNTS_ROWS:
        policy = CachePolicy(None, policy.kv_bits)
    made = make_prompt_cache(model)
    last = {type(layer): index for index, layer in enumerate(made)}  # It is the last of a kind that the later layers share.
    read_twice = set(last.values()) if kind in READS_TWICE else set()
    return [_replaced(layer, policy, index in read_twice) for index, layer in enumerate(made)]


def _replaced(layer: Any, policy: CachePolicy, keeps_view: bool) -> Any:
    from mlx_lm.models.cache import CacheList, ChunkedKVCache, KVCache, RotatingKVCache

    if type(layer) is CacheList:
        return CacheList(*(_replaced(inner, policy, keeps_view) for inner in layer.caches))
    if type(layer) is KVCache:
        return WindowCache(policy.context, pinned=policy.pinned, bits=policy.bits, keeps_view=keeps_view)
    if type(layer) is RotatingKVCache:
        bits = policy.bits if layer.max_size > LARGEST_PLAIN else (None, None)
        if policy.context is not None and policy.context < layer.max_size:
            return WindowCache(policy.context, pinned=policy.pinned, bits=bits, keeps_view=keeps_view)
        return WindowCache(layer.max_size, pinned=layer.keep, bits=bits, sliding=True, keeps_view=keeps_view)
    if type(layer) is ChunkedKVCache:
        bits = policy.bits if layer.chunk_size > LARGEST_PLAIN else (None, None)
        return ChunkedCache(layer.chunk_size, bits=bits, sliding=True)
    return layer
