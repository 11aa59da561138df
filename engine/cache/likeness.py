"""What a model's rows and states look like, so that stored ones that don't are told before the model is given them."""

from collections.abc import Mapping
from typing import Any

import mlx.core as mx

from engine.cache import layers as kinds
from engine.cache.make import make_cache
from engine.cache.pieces import Piece
from engine.cache.policy import CachePolicy
from engine.cache.side import group_of
from engine.cache.snapshot import Snapshot
from engine.cache.window import WindowCache

type Look = tuple[tuple[int, ...], mx.Dtype]


class Likeness:
    """Shapes and precisions of every layer's rows and states, found by a forward of one token that is never evaluated."""

    def __init__(self, model: Any, policy: CachePolicy) -> None:
        layers = make_cache(model, policy)
        model(mx.array([[0]]), cache=layers)
        self._rows: dict[int, list[tuple[int | None, Look]]] = {}
        self._states: dict[int, Any] = {}
        for index, layer in enumerate(kinds.single(layers)):
            if isinstance(layer, WindowCache):
                sides = layer.rows.sides
                self._rows[index] = [(side.bits, (side.written.shape, side.written.dtype)) for side in sides]
            else:
                self._states[index] = layer, kinds.snapshot(layer)

    @property
    def row_bytes(self) -> int:
        """Bytes that one token leaves in all attention layers at the model's own precision."""
        looks = [look for sides in self._rows.values() for _, look in sides]
        return sum(shape[1] * shape[3] * dtype.size for shape, dtype in looks)

    @property
    def state_bytes(self) -> int:
        """Bytes of the state of all recurrent layers after a token."""
        return sum(saved.nbytes for _, saved in self._states.values())

    def of_rows(self, layer: int, piece: Piece) -> bool:
        """Return whether a piece can be one of that layer."""
        sides = self._rows.get(layer)
        if not sides or piece.bits != tuple(bits for bits, _ in sides) or len(piece.sides) != len(sides):
            return False
        count = piece.stop - piece.start
        return all(
            _looks(parts) in (_plain(look, count), _coded(bits, look, count))
            for parts, (bits, look) in zip(piece.sides, sides, strict=True)
        ) and piece.dtype in {dtype for _, (_, dtype) in sides}

    def of_state(self, state: Mapping[int, Snapshot]) -> bool:
        """Return whether a state can be one of this model's recurrent layers."""
        return state.keys() == self._states.keys() and all(
            _same(state[index], saved, exactly=type(layer).__name__ == "ArraysCache")
            for index, (layer, saved) in self._states.items()
        )


def _looks(parts: tuple[mx.array, ...]) -> list[Look]:
    return [(array.shape, array.dtype) for array in parts]


def _plain(look: Look, count: int) -> list[Look]:
    shape, dtype = look
    return [((*shape[:2], count, shape[3]), dtype)]


def _coded(bits: int | None, look: Look, count: int) -> list[Look] | None:
    shape, _ = look
    group = group_of(shape[3])
    if bits is None or group is None:
        return None
    scales = (*shape[:2], count, shape[3] // group)
    return [((*shape[:2], count, shape[3] * bits // 32), mx.uint32), (scales, mx.float16), (scales, mx.float16)]


def _same(one: Snapshot, other: Snapshot, *, exactly: bool) -> bool:
    """Return whether two states are of one make; a kind that grows may differ in its shapes."""
    if one.arrays.keys() != other.arrays.keys() or one.numbers.keys() != other.numbers.keys():
        return False
    pairs = [(one.arrays[name], other.arrays[name]) for name in one.arrays]
    return all(
        mine.dtype == theirs.dtype and mine.ndim == theirs.ndim and (not exactly or mine.shape == theirs.shape)
        for mine, theirs in pairs
    )
