"""A bounded KV cache of one attention layer, quantized or not, that fits mlx-lm's models as they are.

Rows lie in the order of their positions, not in a ring: `[pinned | oldest … newest | free]`, and the oldest behind the pinned
ones are dropped a `step` at a time. Keys are stored after RoPE at their absolute position, so moving them changes nothing, and
`offset` stays the absolute position of the next token. A few rows more than a query may see are held (`slack`), so that the
newest can be taken back exactly after the window is full.

Attention always gets plain arrays: mlx-lm's quantized attention is chosen by an attribute named `bits`, which this class must
not have (it fails with attention sinks, MLA and shared keys, and knows no rows of two precisions).
"""

from typing import NamedTuple

import mlx.core as mx

from engine.cache.mask import visible
from engine.cache.side import Move, Side
from engine.cache.snapshot import Snapshot, same

RECENT = 64
"""Newest rows that stay plain in every precision."""
BLOCK = 16
"""Rows quantized at a time, so that the plain ones are 64 to 79."""
SLACK = 32
"""Rows held beyond those that a query may see."""
STEP = 256
"""Rows that the buffer grows by, and at most between two moves."""
SIDES = ("keys", "values")


class _Returned(NamedTuple):
    """What the next `update_and_fetch` returns: `rows`, the first `pinned` of them from the conversation's beginning;
    `hidden` of the rows behind those are held but seen by no query; `in_place` when they are the buffer's own."""

    rows: int
    pinned: int
    hidden: int
    in_place: bool


class WindowCache:
    """Keys and values [B, H, rows, width] of one layer, with the interface of mlx-lm's caches.

    A query sees itself and the tokens before it, `window` in all: the first `pinned` of the conversation and the newest ones;
    None sees all. `bits` are those of the keys and of the values, None for the model's own precision. `sliding` tells a layer
    whose window is the model's own from one that the policy bounds. `keeps_view` is for models that read the rows again with
    `keys_and_values`.
    """

    def __init__(
        self,
        window: int | None,
        *,
        pinned: int = 0,
        bits: tuple[int | None, int | None] = (None, None),
        slack: int = SLACK,
        step: int = STEP,
        sliding: bool = False,
        keeps_view: bool = False,
    ) -> None:
        if window is not None and not 0 <= pinned < window:
            raise ValueError(f"{pinned} pinned rows in a window of {window}")
        self.window = window
        self.sliding = sliding
        self.offset = 0
        self.lost = 0
        self._pinned = pinned
        self._precision = bits
        self._plain = bits == (None, None)
        self._slack = slack
        self._step = step if window is None else min(step, max(BLOCK, window // 4))
        self._keeps_view = keeps_view
        self._view: tuple[mx.array, mx.array] | None = None
        self._aged = 0
        self._held = 0
        self._sides: list[Side] = []

    # What mlx-lm's models call

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Store the rows [B, H, S, width] of the next S tokens; return those that `make_mask(S)` speaks of."""
        self._view = None  # It would keep the buffer from being written in place.
        if not self._sides:
            self._sides = self._new_sides(keys, values)
        count = keys.shape[2]
        returned, move, seen = self._returned(count), self._move(count), self._seen_ranges()
        fresh = (keys, values)[: len(self._sides)]
        views = []
        for side, rows in zip(self._sides, fresh, strict=True):
            if returned.in_place:
                side.store(rows, move)
                end = move.aged - move.dropped + count
                views.append(side.parts[0][..., end - returned.rows : end, :])
            else:
                views.append(mx.concatenate([*side.read(seen, move.aged, rows.dtype), rows], axis=2))
                side.store(rows, move)
        self._aged = move.aged - move.dropped + move.aging
        self._held += count - move.dropped - move.skipped
        self.lost += move.dropped + move.skipped
        self.offset += count
        view = (views[0], views[-1])
        if self._keeps_view:
            self._view = view
        return view

    def keys_and_values(self) -> tuple[mx.array, mx.array]:
        """Return what the last `update_and_fetch` returned. Raises `RuntimeError` where it was not kept."""
        if self._view is None:
            raise RuntimeError("This cache does not keep what it returned.")
        return self._view

    def make_mask(self, N: int, return_array: bool = False, window_size: int | None = None) -> mx.array | str | None:  # noqa: N803 - as mlx-lm names it
        """Return the mask for a forward of `N` tokens: None or "causal" where every row is seen, else booleans.

        Those of a single token have four dimensions, as deepseek_v32 picks from them along the last one.
        """
        rows, pinned, hidden, _ = self._returned(N)
        oldest = 0 if pinned else self.offset + N - rows
        crowded = N > 1 and self.window is not None and rows > self.window
        far = window_size is not None and self.offset + N - 1 - oldest >= window_size
        if not (crowded or hidden or far):
            if N == 1:
                return None
            if not return_array:
                return "causal"
        near = None if self.window is None else self.window - self._pinned
        mask = visible(
            first=self.offset, queries=N, rows=rows, pinned=pinned, near=near, always=self._pinned, window_size=window_size
        )
        return mask[None, None] if N == 1 else mask

    @property
    def state(self) -> list[mx.array]:
        """Every array, for `mx.eval`."""
        return [array for side in self._sides for array in (*side.parts, side.newest) if array is not None]

    @property
    def keys(self) -> mx.array | None:
        """The array that the last keys were written to, or None. Some models hang dependencies on it; nothing else should."""
        return self._written(0)

    @keys.setter
    def keys(self, array: mx.array) -> None:
        self._hang(0, array)

    @property
    def values(self) -> mx.array | None:
        """As `keys`, for the values."""
        return self._written(-1)

    @values.setter
    def values(self, array: mx.array) -> None:
        # Where both are one (the indexer of deepseek_v32), the model puts zeros in place of values that it never reads.
        if len(self._sides) > 1:
            self._hang(-1, array)

    def size(self) -> int:
        """Return the number of rows held, those that no query sees any more included."""
        return self._held

    def empty(self) -> bool:
        """Return whether nothing was stored yet."""
        return not self._sides

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, free rows included."""
        return sum(side.nbytes for side in self._sides)

    def is_trimmable(self) -> bool:
        """Return whether at least one token can be taken back."""
        return self.can_trim(1)

    def trim(self, count: int) -> int:
        """Take back the newest `count` tokens, or all where there are fewer; return how many were taken back.

        That is 0 where it could not be done exactly, because rows that the next query would see have been dropped.
        """
        count = min(count, self.offset)
        if not self.can_trim(count):
            return 0
        self._held -= count
        self._aged = min(self._aged, self._held)
        for side in self._sides:
            side.cut(self._held - self._aged)
        self.offset -= count
        self._view = None
        return count

    # What Flint asks besides

    def can_trim(self, count: int) -> bool:
        """Return whether the newest `count` tokens can be taken back exactly."""
        if not 0 <= count <= self.offset:
            return False
        return count == 0 or self.lost == 0 or self._pinned + self.lost <= self._oldest_needed(self.offset - count)

    @property
    def pinned(self) -> int:
        """Tokens at the conversation's beginning that are never dropped. It may be set before a query missed any token.

        Setting it later, or to the whole window, raises `ValueError`.
        """
        return self._pinned

    @pinned.setter
    def pinned(self, count: int) -> None:
        if count == self._pinned:
            return
        if self.hidden or self.lost:
            raise ValueError("Tokens have left the context already; what is pinned can't change any more.")
        if count < 0 or (self.window is not None and count >= self.window):
            raise ValueError(f"{count} pinned rows in a window of {self.window}")
        self._pinned = count

    @property
    def hidden(self) -> int:
        """Tokens before the next one that it will not see: those at the positions from `pinned` on."""
        return 0 if self.window is None else max(0, self.offset + 1 - self.window)

    def positions(self) -> list[int]:
        """Return the absolute position of every row held, in order."""
        held = self._held
        first = min(self._pinned, held)
        return [*range(first), *range(self.offset - (held - first), self.offset)]

    @property
    def most_rows(self) -> int | None:
        """The bound of `size()`, and of the rows there is ever room for: what a query sees, slack and step."""
        return None if self.window is None else self.window - 1 + self._slack + self._step

    def snapshot(self) -> Snapshot:
        """Return the state by reference; it stays as it is whatever happens to the cache."""
        arrays: dict[str, mx.array] = {}
        numbers = {"offset": self.offset, "lost": self.lost, "aged": self._aged, "held": self._held, "pinned": self._pinned}
        for name, side in zip(SIDES, self._sides, strict=False):
            arrays.update({f"{name}.{index}": same(array) for index, array in enumerate(side.parts)})
            if side.newest is not None:
                arrays[f"{name}.newest"] = same(side.newest)
            numbers[f"{name}.bits"] = side.bits or 0
        return Snapshot(arrays, numbers | {"sides": len(self._sides)} | self._make())

    def restore(self, snapshot: Snapshot) -> None:
        """Become what `snapshot` holds, by reference; the snapshot may be used again.

        Raises `ValueError` where it is not one of a cache made like this one.
        """
        numbers = snapshot.numbers
        if any(numbers.get(name) != value for name, value in self._make().items()):
            raise ValueError("The snapshot is of a cache of another make.")
        sides = []
        for name in SIDES[: numbers["sides"]]:
            side = Side(numbers[f"{name}.bits"] or None)
            parts = (snapshot.arrays.get(f"{name}.{index}") for index in range(3))
            newest = snapshot.arrays.get(f"{name}.newest")
            side.parts = tuple(same(array) for array in parts if array is not None)
            side.newest = None if newest is None else same(newest)
            sides.append(side)
        self._sides = sides
        self._aged, self._held, self._pinned = numbers["aged"], numbers["held"], numbers["pinned"]
        self.offset, self.lost = numbers["offset"], numbers["lost"]
        self._view = None

    # How it works

    def _oldest_needed(self, position: int) -> int:
        """The oldest position behind the pinned ones that a query at `position` sees."""
        return 0 if self.window is None else position - (self.window - self._pinned) + 1

    def _seen(self) -> int:
        """Rows held that the next query sees."""
        return self._held if self.window is None else min(self._held, self.window - 1)

    def _returned(self, count: int) -> _Returned:
        seen, held, surplus = self._seen(), self._held, self._surplus(count)
        in_place = self._plain and (not surplus or count <= self._slack)
        pinned = min(self._pinned, held)
        if in_place and pinned and seen < held:
            # Leaving out what lies between the pinned and the newest rows would copy them all: it is hidden by the mask.
            return _Returned(held - surplus + count, pinned, held - surplus - seen, True)
        return _Returned(seen + count, min(pinned, seen), 0, in_place)

    def _surplus(self, count: int) -> int:
        """Rows to drop so that there is room for `count` more; the slack stays."""
        total = self._held + count
        if self.window is None or self.most_rows is None or total <= self.most_rows:
            return 0
        return total - (self.window - 1 + self._slack)

    def _move(self, count: int) -> Move:
        """Plan the write of `count` rows: what goes, what ages, and how large the buffer has to be."""
        aged, held, surplus = self._aged, self._held, self._surplus(count)
        dropped = min(surplus, max(0, aged - self._pinned))
        skipped = surplus - dropped
        head = max(0, self._pinned - aged)
        run = held - aged + count - skipped
        aging = run if self._plain else max(0, run - RECENT) // BLOCK * BLOCK
        return Move(aged, self._pinned, dropped, head, skipped, aging, self._capacity(aged - dropped + aging, surplus > 0))

    def _capacity(self, rows: int, full: bool) -> int:
        """Rows of a buffer that holds `rows`: the next multiple of `STEP`, but not beyond the bound, which a full one has."""
        rounded = -(-rows // STEP) * STEP
        if self.most_rows is None:
            return rounded
        bound = self.most_rows - (0 if self._plain else RECENT)
        return max(rows, bound if full else min(rounded, bound))

    def _seen_ranges(self) -> list[tuple[int, int]]:
        """The rows held that the next query sees, as ranges of them."""
        seen = self._seen()
        if seen == self._held:
            return [(0, seen)]
        pinned = min(self._pinned, seen)
        return [(0, pinned), (self._held - (seen - pinned), self._held)]

    def _new_sides(self, keys: mx.array, values: mx.array) -> list[Side]:
        key_bits, value_bits = self._precision
        if values is keys:
            return [Side(key_bits)]
        return [Side(key_bits), Side(key_bits if _latent(keys, values) else value_bits)]

    def _make(self) -> dict[str, int]:
        """What must agree for a snapshot to fit."""
        key_bits, value_bits = self._precision
        return {
            "window": self.window or 0,
            "sliding": int(self.sliding),
            "key_bits": key_bits or 0,
            "value_bits": value_bits or 0,
        }

    def _written(self, side: int) -> mx.array | None:
        if not self._sides:
            return None
        newest = self._sides[side].newest
        return self._sides[side].parts[0] if newest is None else newest

    def _hang(self, side: int, array: mx.array) -> None:
        if self._sides[side].newest is None:
            self._sides[side].parts = (array, *self._sides[side].parts[1:])
        else:
            self._sides[side].newest = array


def _latent(keys: mx.array, values: mx.array) -> bool:
    """Return whether the layer is of the MLA kind: its "keys" are the latent, which serves as keys and values, and its "values"
    are the rotated part of the keys. Both need the bits of keys."""
    return keys.shape[1] == 1 and values.shape[3] < keys.shape[3]
