"""The rows of one layer's keys and values by their place. What stands at which position, and who sees it, is not known here."""

from collections.abc import Sequence

import mlx.core as mx

from engine.cache.side import Move, Side
from engine.cache.snapshot import Snapshot, same

RECENT = 64
"""Newest rows that stay plain in every precision."""
BLOCK = 16
"""Rows quantized at a time, so that the plain ones are 64 to 79."""
STEP = 256
"""Rows that a buffer grows by."""
ROOMY = 1024
"""Rows from which on a buffer has room for the newest ones too, and what is returned is laid in place. Below, bytes count."""
SIDES = ("keys", "values")


class Rows:
    """`held` rows of keys and values; the first `aged` of them in buffers of at most `bound` rows with the newest ones.

    `bits` are those of the keys and of the values, None for the model's own precision. Where both are None every row is aged
    at once, and may be returned without a copy.
    """

    def __init__(self, bits: tuple[int | None, int | None], bound: int | None) -> None:
        self.bits = bits
        self.plain = bits == (None, None)
        self.bound = bound
        self.held = 0
        self.aged = 0
        self.sides: list[Side] = []

    @property
    def arrays(self) -> list[mx.array]:
        """Every array."""
        return [array for side in self.sides for array in side.arrays]

    def bytes_of(self, count: int) -> int:
        """Return the bytes of the newest `count` rows held."""
        newest = min(count, self.held - self.aged)
        return sum(side.bytes_of(count - newest, newest) for side in self.sides)

    def append(self, fresh: tuple[mx.array, mx.array], pinned: int, surplus: int, first: int) -> list[mx.array]:
        """Drop `surplus` rows behind the first `pinned`, add `fresh`, and return all rows from `first` on.

        It costs no copy where rows are plain, and one for the decoded rows where they are not. Those that are dropped must be
        in the buffer.
        """
        count = fresh[0].shape[2]
        move = self._move(count, pinned, surplus)
        sides = zip(self._sides_for(fresh), fresh, strict=False)
        views = [side.append_plain(rows, move, first) if self.plain else side.append(rows, move, first) for side, rows in sides]
        self._moved(count, move)
        return views

    def extend(
        self, fresh: tuple[mx.array, mx.array], pinned: int, surplus: int, seen: Sequence[tuple[int, int]]
    ) -> list[mx.array]:
        """Return the rows of the ranges `seen`, then `fresh`; drop `surplus` rows behind the first `pinned` and add `fresh`."""
        move = self._move(fresh[0].shape[2], pinned, surplus)
        views = []
        for side, rows in zip(self._sides_for(fresh), fresh, strict=False):
            views.append(mx.concatenate([*side.read(seen, self.aged, rows.dtype), rows], axis=2))
            side.store(rows, move)
        self._moved(fresh[0].shape[2], move)
        return views

    def cut(self, count: int) -> None:
        """Forget the newest `count` rows."""
        self.held -= count
        self.aged = min(self.aged, self.held)
        plain = self.held - self.aged
        for side in self.sides:
            side.newest = side.newest[..., :plain, :] if plain and side.newest is not None else None

    def save(self) -> Snapshot:
        """Return everything by reference."""
        arrays: dict[str, mx.array] = {}
        numbers = {"held": self.held, "aged": self.aged}
        for name, side in zip(SIDES, self.sides, strict=False):
            arrays.update({f"{name}.{index}": same(array) for index, array in enumerate(side.parts)})
            if side.newest is not None:
                arrays[f"{name}.newest"] = same(side.newest)
            numbers[f"{name}.bits"] = side.bits or 0
        return Snapshot(arrays, numbers)

    def load(self, saved: Snapshot) -> None:
        """Become what `save` returned, by reference."""
        self.held, self.aged = saved.numbers["held"], saved.numbers["aged"]
        self.sides = []
        for name in SIDES:
            if f"{name}.bits" not in saved.numbers:
                break
            side = Side(saved.numbers[f"{name}.bits"] or None)
            parts = (saved.arrays.get(f"{name}.{index}") for index in range(3))
            newest = saved.arrays.get(f"{name}.newest")
            side.parts = tuple(same(array) for array in parts if array is not None)
            side.newest = None if newest is None else same(newest)
            self.sides.append(side)

    def _sides_for(self, fresh: tuple[mx.array, mx.array]) -> list[Side]:
        if not self.sides:
            keys, values = fresh
            key_bits, value_bits = self.bits
            self.sides = [Side(key_bits)]
            if values is not keys:
                self.sides.append(Side(key_bits if _latent(keys, values) else value_bits))
        return self.sides

    def _move(self, count: int, pinned: int, surplus: int) -> Move:
        """Plan the write of `count` rows: what goes, what ages, and how large the buffer has to be."""
        dropped = min(surplus, max(0, self.aged - pinned))
        skipped = surplus - dropped
        run = self.held - self.aged + count - skipped
        aging = run if self.plain else max(0, run - RECENT) // BLOCK * BLOCK
        capacity = self.capacity(self.aged - dropped + run, full=surplus > 0)
        return Move(self.aged, pinned, dropped, max(0, pinned - self.aged), skipped, aging, capacity)

    def _moved(self, count: int, move: Move) -> None:
        self.held += count - move.dropped - move.skipped
        self.aged += move.aging - move.dropped

    def capacity(self, rows: int, full: bool) -> int:
        """Rows of a buffer for `rows` in all: the next multiple of `STEP`, but not beyond the bound, which a full one has."""
        rounded = -(-rows // STEP) * STEP
        if self.bound is None:
            return rounded
        bound = self.bound if self.plain or self.bound >= ROOMY else self.bound - RECENT
        return bound if full else min(rounded, bound)


def _latent(keys: mx.array, values: mx.array) -> bool:
    """Return whether the layer is of the MLA kind: its "keys" are the latent, which serves as keys and values, and its "values"
    are the rotated part of the keys. Both need the bits of keys."""
    return keys.shape[1] == 1 and values.shape[3] < keys.shape[3]
