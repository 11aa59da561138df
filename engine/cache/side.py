"""One side of a layer's cache, its keys or its values: older rows in a buffer, quantized or not, and the newest ones plain."""

from collections.abc import Sequence
from typing import NamedTuple

import mlx.core as mx

GROUPS = (64, 32)
"""Sizes of a quantization group; the first that divides the row's width is taken, and a width that none divides stays plain."""

LARGEST_QUANTIZED = 32752.0
"""Half of float16's range: a row decodes to scale · code + bias in float16, and one infinite number spoils every later step."""


class Move(NamedTuple):
    """What a write does to the rows, the same on both sides. Rows are counted in the order of their positions.

    Of the `aged` rows in the buffer the `dropped` ones behind the first `pinned` go. The newest rows and those that come are
    one run: behind its first `head` rows `skipped` ones go too, and the first `aging` of what is left enter the buffer, which
    then has room for `capacity` rows.
    """

    aged: int
    pinned: int
    dropped: int
    head: int
    skipped: int
    aging: int
    capacity: int


def group_of(width: int) -> int | None:
    """Return the size of a quantization group for rows of `width` numbers, or None where they can't be quantized."""
    return next((group for group in GROUPS if width and width % group == 0), None)


class Side:
    """Rows [B, H, rows, width] along axis 2: `parts`, the buffer of aged rows (codes, scales and biases, or one plain array),
    and `newest`, the plain rows behind them or None.

    Scales and biases are float16 whatever the activation's type: bfloat16 ones cost 3 to 7 times the KL.
    """

    def __init__(self, bits: int | None) -> None:
        self.bits = bits
        self.parts: tuple[mx.array, ...] = ()
        self.newest: mx.array | None = None

    @property
    def capacity(self) -> int:
        """Rows that the buffer has room for."""
        return int(self.parts[0].shape[2]) if self.parts else 0

    def bytes_of(self, aged: int, newest: int) -> int:
        """Return the bytes of so many rows of the buffer and so many plain ones behind them."""
        buffer = sum(part.nbytes for part in self.parts) * aged // self.capacity if aged else 0
        return buffer + (self.newest.nbytes * newest // self.newest.shape[2] if self.newest is not None and newest else 0)

    @property
    def arrays(self) -> list[mx.array]:
        """Every array."""
        return [*self.parts] if self.newest is None else [*self.parts, self.newest]

    @property
    def written(self) -> mx.array:
        """The array that the last rows were written to."""
        return self.parts[0] if self.newest is None else self.newest

    @written.setter
    def written(self, array: mx.array) -> None:
        if self.newest is None:
            self.parts = (array, *self.parts[1:])
        else:
            self.newest = array

    def append_plain(self, rows: mx.array, move: Move, first: int) -> mx.array:
        """Add `rows` [B, H, S, width] to a buffer in which no row is quantized; return its rows from `first` on."""
        self.make_room(move)
        start = move.aged - move.dropped
        self.write((rows,), start, move.capacity)
        return self.parts[0][..., first : start + move.aging, :]

    def append(self, rows: mx.array, move: Move, first: int) -> mx.array:
        """Add `rows` [B, H, S, width]; return all rows from `first` on in plain numbers, the newest as they were given."""
        self.make_room(move)
        run = rows if self.newest is None else mx.concatenate([self.newest, rows], axis=2)
        start = move.aged - move.dropped
        end = start + run.shape[2]
        shown, laid = run, False
        if self.parts:
            shown, laid = self._decoded(rows.dtype), end <= self.capacity
            if laid:
                shown[..., start:end, :] = run
            else:
                shown = mx.concatenate([shown[..., :start, :], run], axis=2)
        self._age(run, move, written=laid and len(self.parts) == 1)
        return shown[..., first:end, :]

    def store(self, rows: mx.array, move: Move) -> None:
        """Add `rows` [B, H, S, width], of which some may be dropped at once."""
        run = rows if self.newest is None else mx.concatenate([self.newest, rows], axis=2)
        if move.skipped:
            run = mx.concatenate([run[..., : move.head, :], run[..., move.head + move.skipped :, :]], axis=2)
        self.make_room(move)
        self._age(run, move)

    def _age(self, run: mx.array, move: Move, *, written: bool = False) -> None:
        """Let the first of a run of newest rows enter the buffer, unless they are `written` there."""
        if move.aging and not written:
            self.write(self.encoded(run[..., : move.aging, :]), move.aged - move.dropped, move.capacity)
        # A slice would keep the whole run alive.
        self.newest = mx.contiguous(run[..., move.aging :, :]) if run.shape[2] > move.aging else None

    def read(self, ranges: Sequence[tuple[int, int]], aged: int, dtype: mx.Dtype) -> list[mx.array]:
        """Return the rows of each range `(start, stop)`, in `dtype`; `aged` rows of the buffer are in use."""
        buffer = self._decoded(dtype) if any(start < min(stop, aged) for start, stop in ranges) else None
        found = []
        for start, stop in ranges:
            if buffer is not None and start < min(stop, aged):
                found.append(buffer[..., start : min(stop, aged), :])
            if self.newest is not None and max(start, aged) < stop:
                found.append(self.newest[..., max(start, aged) - aged : stop - aged, :])
        return found

    def make_room(self, move: Move) -> None:
        """Drop the buffer's rows that go, and let it have the new capacity.

        One concatenation: moving rows inside the old buffer would need a copy of the rows and one of the buffer.
        """
        if not self.parts or not (move.dropped or move.capacity > self.capacity):
            return
        behind = move.pinned + move.dropped
        free = move.capacity - (move.aged - move.dropped)
        self.parts = tuple(
            mx.concatenate([part[..., : move.pinned, :], part[..., behind : move.aged, :], _zeros(part, free)], axis=2)
            if move.dropped
            else mx.concatenate([part[..., : move.aged, :], _zeros(part, free)], axis=2)
            for part in self.parts
        )

    def write(self, encoded: Sequence[mx.array], start: int, capacity: int) -> None:
        """Put rows as `encoded` returns them into the buffer from `start` on; one of `capacity` is made where there is none."""
        if not self.parts:
            self.parts = tuple(_zeros(part, capacity) for part in encoded)
        for part, rows in zip(self.parts, encoded, strict=True):
            part[..., start : start + rows.shape[2], :] = rows

    def encoded(self, rows: mx.array) -> tuple[mx.array, ...]:
        """Return rows as the buffer holds them."""
        group = group_of(rows.shape[3])
        if self.bits is None or group is None:
            return (rows,)
        within = mx.clip(rows.astype(mx.float32), -LARGEST_QUANTIZED, LARGEST_QUANTIZED)
        codes, scales, biases = mx.quantize(within, group_size=group, bits=self.bits)
        return codes, scales.astype(mx.float16), biases.astype(mx.float16)

    def _decoded(self, dtype: mx.Dtype) -> mx.array:
        """The whole buffer in plain numbers: to decode a slice of it would copy the slice first."""
        if len(self.parts) == 1:
            return self.parts[0]
        codes, scales, biases = self.parts
        bits = self.bits or 0
        group = codes.shape[3] * 32 // bits // scales.shape[3]
        plain: mx.array = mx.dequantize(codes, scales, biases, group_size=group, bits=bits, dtype=dtype)
        return plain


def _zeros(part: mx.array, rows: int) -> mx.array:
    return mx.zeros((part.shape[0], part.shape[1], rows, part.shape[3]), part.dtype)
