"""What is asked of the caches of a model's layers, whatever their kind: trim, take a snapshot and go back to it.

The kinds are Flint's own `WindowCache` and mlx-lm's: `KVCache`, recurrent ones (`ArraysCache`), lists of caches in one layer
(`CacheList`), and what a model brings of its own.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import mlx.core as mx

from engine.cache.snapshot import Snapshot, part, same, within
from engine.cache.window import WindowCache


def single(layers: Sequence[Any]) -> Iterator[Any]:
    """Yield the caches of `layers`, those inside of lists one by one."""
    for layer in layers:
        inner = getattr(layer, "caches", None)
        if inner is None:
            yield layer
        else:
            yield from single(inner)


def can_trim(layers: Sequence[Any], count: int) -> bool:
    """Return whether every layer can take back the newest `count` tokens exactly. A recurrent layer can take back none."""
    return count == 0 or all(_can_trim(cache, count) for cache in single(layers))


def trim(layers: Sequence[Any], count: int) -> bool:
    """Take back the newest `count` tokens in every layer, or in none; return whether it was done."""
    if not can_trim(layers, count):
        return False
    if count:
        for cache in single(layers):
            cache.trim(count)
    return True


def bounded(layers: Sequence[Any]) -> bool:
    """Return whether the caches stay within a bound however long the conversation gets."""
    return all(cache.window is not None if isinstance(cache, WindowCache) else _recurrent(cache) for cache in single(layers))


def nbytes(layers: Sequence[Any]) -> int:
    """Return the bytes of all arrays, free rows included."""
    return sum(int(cache.nbytes) for cache in single(layers))


def seen_bytes(layers: Sequence[Any]) -> int:
    """Return the bytes of what the next token sees: recurrent states whole, of attention layers no row beyond."""
    return sum(cache.seen_bytes if isinstance(cache, WindowCache) else int(cache.nbytes) for cache in single(layers))


def snapshot(layer: Any) -> Snapshot:
    """Return the state of one layer's cache by reference. A recurrent state is copied: it is often a slice of something large.

    Raises `TypeError` for a kind whose state is not arrays and numbers.
    """
    if isinstance(layer, WindowCache):
        return layer.snapshot()
    arrays: dict[str, mx.array] = {}
    numbers: dict[str, int] = {}
    for name, value in vars(layer).items():
        inner = _of_value(value, copied=_recurrent(layer))
        arrays.update(within(name, inner).arrays)
        numbers.update(within(name, inner).numbers)
    return Snapshot(arrays, numbers)


def restore(layer: Any, saved: Snapshot) -> None:
    """Make one layer's cache what `saved` holds, by reference; the snapshot may be used again.

    Raises `ValueError` where it is of a cache of another make.
    """
    if isinstance(layer, WindowCache):
        layer.restore(saved)
        return
    for name, value in vars(layer).items():
        setattr(layer, name, _to_value(value, part(name, saved)))


def _can_trim(cache: Any, count: int) -> bool:
    if isinstance(cache, WindowCache):
        return cache.can_trim(count)
    return bool(cache.is_trimmable()) and count <= int(cache.offset)


def _recurrent(cache: Any) -> bool:
    return type(cache).__name__ == "ArraysCache"


def _of_value(value: Any, *, copied: bool) -> Snapshot:
    """The snapshot of an attribute: an array, a number, nothing, or a list of such or of caches."""
    if value is None:
        return Snapshot({}, {})
    if isinstance(value, mx.array):
        return Snapshot({"array": mx.contiguous(value) if copied else same(value)}, {})
    if isinstance(value, int):
        return Snapshot({}, {"number": int(value)})
    if not isinstance(value, list | tuple):
        raise TypeError(f"A cache that holds a {type(value).__name__} can't be saved.")
    arrays: dict[str, mx.array] = {}
    numbers = {"length": len(value)}
    for index, item in enumerate(value):
        inner = snapshot(item) if hasattr(item, "state") else _of_value(item, copied=copied)
        arrays.update(within(str(index), inner).arrays)
        numbers.update(within(str(index), inner).numbers)
    return Snapshot(arrays, numbers)


def _to_value(value: Any, saved: Snapshot) -> Any:
    """What an attribute that is `value` now becomes."""
    if "array" in saved.arrays:
        return same(saved.arrays["array"])
    if "number" in saved.numbers:
        return type(value)(saved.numbers["number"]) if isinstance(value, bool) else saved.numbers["number"]
    if not isinstance(value, list | tuple):
        return None
    if saved.numbers.get("length") != len(value):
        raise ValueError("The snapshot is of a cache of another make.")
    return type(value)(_to_item(item, part(str(index), saved)) for index, item in enumerate(value))


def _to_item(item: Any, saved: Snapshot) -> Any:
    if not hasattr(item, "state"):
        return _to_value(item, saved)
    restore(item, saved)
    return item
