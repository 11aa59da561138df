"""What attention sees through a cache, and what it would see in a full one with an explicit mask."""

from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy as np

HEADS, LONGEST, STAMPS = 2, 1600, 5


@dataclass(frozen=True)
class Kind:
    """A kind of layer: how its cache is made, and which positions before `query` a full cache would show it."""

    make: Any
    window: int | None
    pinned: int = 0
    chunked: bool = False
    bits: tuple[int | None, int | None] = (None, None)
    widths: tuple[int, int] = (64, 64)
    heads: int = HEADS
    one_array: bool = False
    window_size: int | None = None

    def seen(self, query, pinned):
        """The positions that the query at position `query` sees, itself included."""
        if self.window is None:
            return range(query + 1)
        if self.chunked:
            return range(query // self.window * self.window, query + 1)
        near = range(max(pinned, query - (self.window - pinned) + 1), query + 1)
        seen = [*range(min(pinned, query + 1)), *near]
        return [key for key in seen if self.window_size is None or query - key < self.window_size]


class Tables:
    """Rows that tell position and branch apart, plain and as each precision gives them back: [stamp, head, position, width]."""

    def __init__(self, kind):
        mx.random.seed(7)
        self.plain, self.rounded = [], []
        for width, bits in zip(kind.widths, kind.bits, strict=True):
            rows = mx.random.normal((STAMPS, kind.heads, LONGEST, width))
            self.plain.append(rows)
            self.rounded.append(np.array(rounded(rows, bits)))
        if kind.one_array:
            self.plain[1], self.rounded[1] = self.plain[0], self.rounded[0]
        self.arrays = [np.array(rows) for rows in self.plain]

    def rows(self, side, stamps, start):
        """The rows [1, H, S, width] at the positions from `start` on, each of the branch that `stamps` says."""
        positions = mx.arange(start, start + len(stamps))
        return self.plain[side][mx.array(stamps), :, positions].swapaxes(0, 1)[None]


def rounded(rows, bits):
    """Rows as they come back from the documented storage: groups of 64, else 32, else plain; float16 scales and biases."""
    group = next((group for group in (64, 32) if rows.shape[-1] % group == 0), None)
    if bits is None or group is None:
        return rows
    codes, scales, biases = mx.quantize(rows, group_size=group, bits=bits)
    half = [each.astype(mx.float16) for each in (scales, biases)]
    return mx.dequantize(codes, *half, group_size=group, bits=bits, dtype=mx.float32)


def shown(mask, queries, rows):
    """A mask as the models take it, as booleans [queries, rows]."""
    if mask is None:
        assert queries == 1
        return np.ones((1, rows), dtype=bool)
    if isinstance(mask, str):
        assert mask == "causal"
        return np.tril(np.ones((queries, rows), dtype=bool), rows - queries)
    return np.array(mask).reshape(queries, rows)


class Layer:
    """A cache under test beside the stamps of every position: what a full cache would hold."""

    def __init__(self, kind, tables):
        self.kind, self.tables = kind, tables
        self.cache = kind.make()
        self.stamps = []
        self.pinned = kind.pinned

    def append(self, stamps):
        """Store rows and check every row that attention gets to see; return which were seen plain, [queries][rows]."""
        start, count = len(self.stamps), len(stamps)
        extra = {} if self.kind.window_size is None else {"window_size": self.kind.window_size}
        mask = self.cache.make_mask(count, **extra)
        assert self.cache.offset == start
        keys, values = (self.tables.rows(side, stamps, start) for side in (0, 1))
        views = self.cache.update_and_fetch(keys, keys if self.kind.one_array else values)
        self.stamps += stamps
        mx.eval(self.cache.state)
        booleans = shown(mask, count, views[0].shape[2])
        return [self._check(side, np.array(view)[0], booleans, start) for side, view in enumerate(views)]

    def _check(self, side, view, booleans, start):
        plain, rounded = self.tables.arrays[side], self.tables.rounded[side]
        exact = []
        for index, row in enumerate(booleans):
            positions = np.array(self.kind.seen(start + index, self.pinned))
            stamps = np.array(self.stamps)[positions]
            seen = view[:, np.flatnonzero(row)].swapaxes(0, 1)
            assert seen.shape[0] == len(positions), (len(positions), seen.shape)
            as_given = (seen == plain[stamps, :, positions]).all(axis=(1, 2))
            assert (as_given | (seen == rounded[stamps, :, positions]).all(axis=(1, 2))).all()
            exact.append(as_given)
        return exact
