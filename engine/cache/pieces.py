"""Pieces of a layer's cache by position: cut out of one, kept apart, and laid beside each other to a cache again.

A row is what one token left in one layer. It stands at an absolute position and was rotated for it, so it can be taken out,
kept, and laid back beside others of the same conversation, in whatever precision it had.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mlx.core as mx

from engine.cache.rows import RECENT, Rows
from engine.cache.side import Side
from engine.cache.window import WindowCache

type Span = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """The rows at positions `start` to `stop` of one layer.

    `sides` are the keys and the values (or the one that serves as both): each one plain array [B, H, rows, width], or codes,
    scales and biases. `bits` are those that the rows of a side get when they age, `dtype` is that of plain rows.
    """

    start: int
    stop: int
    sides: tuple[tuple[mx.array, ...], ...]
    bits: tuple[int | None, ...]
    dtype: mx.Dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for side in self.sides for array in side)

    @property
    def arrays(self) -> list[mx.array]:
        """Every array, for `mx.eval`."""
        return [array for side in self.sides for array in side]

    def part(self, start: int, stop: int) -> "Piece":
        """Return the rows at the positions from `start` to `stop`, by reference."""
        first, last = max(start, self.start), min(stop, self.stop)
        if (first, last) == (self.start, self.stop):
            return self
        place = slice(first - self.start, last - self.start)
        sides = tuple(tuple(array[..., place, :] for array in side) for side in self.sides)
        return Piece(first, last, sides, self.bits, self.dtype)


def held_spans(cache: WindowCache) -> list[Span]:
    """Return the spans of positions whose rows `cache` holds, in order."""
    first = min(cache.pinned, cache.size())
    tail = cache.offset - (cache.size() - first)
    if tail <= first:
        return [(0, cache.offset)] if cache.offset else []
    return [span for span in ((0, first), (tail, cache.offset)) if span[0] < span[1]]


def needed_spans(cache: WindowCache, position: int) -> list[Span]:
    """Return the spans of positions whose rows a query at `position` sees."""
    oldest = max(0, min(cache.oldest_needed(position), position))
    pinned = min(cache.pinned, position)
    if oldest <= pinned:
        return [(0, position)] if position else []
    return [span for span in ((0, pinned), (oldest, position)) if span[0] < span[1]]


def cut(cache: WindowCache, start: int, stop: int) -> list[Piece]:
    """Return copies of the rows at the positions from `start` to `stop`, which `cache` must hold; quantized ones stay so."""
    aged = cache.rows.aged
    boundary = aged if aged < cache.pinned else aged + cache.lost
    runs = ((start, min(stop, boundary)), (max(start, boundary), stop))
    return [_cut_run(cache, first, last) for first, last in runs if first < last]


def rebuild(cache: WindowCache, position: int, pieces: Iterable[Piece]) -> None:
    """Make an empty `cache` what it was after `position` tokens; `pieces` hold the rows of `needed_spans(cache, position)`.

    Raises `ValueError` where they do not.
    """
    spans = needed_spans(cache, position)
    kept = list(pieces)
    laid = [piece for span in spans for piece in lay(kept, span)]
    rows = Rows(cache.rows.bits, cache.rows.bound)
    if not laid:
        cache.become(rows, offset=position, lost=position)  # A chunk begins here: nothing before it is seen.
        return
    rows.held = sum(piece.stop - piece.start for piece in laid)
    rows.aged = rows.held if rows.plain else max(rows.held - RECENT, _coded(laid))
    capacity = max(rows.aged, rows.capacity(rows.held, full=False))
    rows.sides = [
        _filled(bits, [piece.sides[index] for piece in laid], rows.aged, capacity) for index, bits in enumerate(laid[0].bits)
    ]
    cache.become(rows, offset=position, lost=spans[1][0] - spans[0][1] if len(spans) > 1 else spans[0][0])


def lay(pieces: Iterable[Piece], span: Span) -> list[Piece]:
    """Return parts of `pieces` that follow each other and cover `span`. Raises `ValueError` where there is a hole."""
    position, laid = span[0], []
    for piece in sorted(pieces, key=lambda piece: (piece.start, -piece.stop)):
        if piece.start <= position < piece.stop and position < span[1]:
            laid.append(piece.part(position, span[1]))
            position = laid[-1].stop
    if position < span[1]:
        raise ValueError(f"no row at position {position}")
    return laid


def covers(spans: Sequence[Span], wanted: Span) -> bool:
    """Return whether `spans`, in any order, leave no hole in `wanted`."""
    return not without(wanted, spans)


def without(wanted: Span, spans: Iterable[Span]) -> list[Span]:
    """Return what of `wanted` lies in none of `spans`."""
    left, position = [], wanted[0]
    for start, stop in sorted(spans):
        if stop <= position or start >= wanted[1]:
            continue
        if start > position:
            left.append((position, start))
        position = max(position, stop)
    if position < wanted[1]:
        left.append((position, wanted[1]))
    return left


def _cut_run(cache: WindowCache, start: int, stop: int) -> Piece:
    """Cut rows that are all aged or all plain."""
    first = start if start < cache.pinned else start - cache.lost
    last = first + stop - start
    sides, dtype = [], mx.float16
    for side in cache.rows.sides:
        shift, source = 0, side.parts
        if first >= cache.rows.aged and side.newest is not None:
            shift, source = cache.rows.aged, (side.newest,)
        if side.newest is not None or len(side.parts) == 1:
            dtype = (side.parts[0] if side.newest is None else side.newest).dtype
        # A slice would keep the whole buffer alive.
        sides.append(tuple(mx.contiguous(array[..., first - shift : last - shift, :]) for array in source))
    return Piece(start, stop, tuple(sides), tuple(side.bits for side in cache.rows.sides), dtype)


def _coded(pieces: Sequence[Piece]) -> int:
    """Return how many rows come up to the last that is coded: to code one again would not give the same numbers."""
    last, position = 0, 0
    for piece in pieces:
        position += piece.stop - piece.start
        if any(len(side) > 1 for side in piece.sides):
            last = position
    return last


def _filled(bits: int | None, runs: Sequence[tuple[mx.array, ...]], aged: int, capacity: int) -> Side:
    """Return a side that holds `runs` one behind the other: the first `aged` in a buffer of `capacity`, the others plain."""
    side = Side(bits)
    older, newer, position = [], [], 0
    for run in runs:
        count = run[0].shape[2]
        here = max(0, min(count, aged - position))
        if here:
            head = tuple(array[..., :here, :] for array in run)
            older.append(side.encoded(head[0]) if len(head) == 1 else head)
        if here < count:
            newer.append(run[0][..., here:, :])
        position += count
    side.parts = tuple(_padded(mx.concatenate(list(parts), axis=2), capacity) for parts in zip(*older, strict=True))
    side.newest = mx.concatenate(newer, axis=2) if newer else None
    return side


def _padded(rows: mx.array, capacity: int) -> mx.array:
    free = capacity - rows.shape[2]
    return mx.concatenate([rows, mx.zeros((*rows.shape[:2], free, rows.shape[3]), rows.dtype)], axis=2) if free > 0 else rows
