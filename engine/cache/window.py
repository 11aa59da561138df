"""A bounded KV cache of one attention layer, quantized or not, that fits mlx-lm's models as they are.

Rows lie in the order of their positions, not in a ring: `[pinned | oldest … newest | free]`, and the oldest behind the pinned
ones are dropped a `step` at a time. Keys are stored after RoPE at their absolute position, so moving them changes nothing, and
`offset` stays the absolute position of the next token. A few rows more than a query may see are held (`slack`), so that the
newest can be taken back exactly after the window is full.

Attention always gets plain arrays: mlx-lm's quantized attention is chosen by an attribute named `bits`, which this class must
not have (it fails with attention sinks, MLA and shared keys, and knows no rows of two precisions).
"""

import mlx.core as mx

from engine.cache.mask import visible
from engine.cache.rows import BLOCK, STEP, Rows
from engine.cache.snapshot import Snapshot

SLACK = 32
"""Rows held beyond those that a query may see."""


UNBOUNDED = 1 << 62
"""Room of a cache without a bound."""


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
        self._full = None if window is None else window - 1 + slack
        self._slack = slack
        step = STEP if window is None else min(STEP, max(BLOCK, window // 4))
        self._rows = Rows(bits, None if self._full is None else self._full + step)
        self._keeps_view = keeps_view
        self._view: tuple[mx.array, mx.array] | None = None

    # What mlx-lm's models call

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Store the rows [B, H, S, width] of the next S tokens; return those that `make_mask(S)` speaks of."""
        self._view = None  # It would keep the buffer from being written in place.
        count, surplus = keys.shape[2], self._surplus(keys.shape[2])
        if self._in_place(count, surplus):
            first = 0 if self._pinned else self._rows.held - surplus - self._seen()
            views = self._rows.append((keys, values), self._pinned, surplus, first)
        else:
            views = self._rows.extend((keys, values), self._pinned, surplus, self._seen_ranges())
        self.lost += surplus
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

    def make_mask(self, N: int, return_array: bool = False, window_size: int | None = None) -> mx.array | str | None:  # noqa: N803
        """Return the mask for a forward of `N` tokens: None or "causal" where every row is seen, else booleans.

        Those of a single token have four dimensions, as deepseek_v32 picks from them along the last one.
        """
        seen, surplus = self._seen(), self._surplus(N)
        rows, pinned = seen + N, min(self._pinned, seen)
        # Leaving out what lies between the pinned rows and the newest would copy them all: the mask hides it instead.
        gap = self._rows.held - surplus - seen if pinned and self._in_place(N, surplus) else 0
        crowded = N > 1 and self.window is not None and rows > self.window
        # Rows are dropped behind the pinned ones, so that these may be farther away than there are rows.
        oldest = 0 if pinned else self.offset + N - rows
        far = window_size is not None and self.offset + N - 1 - oldest >= window_size
        if not (gap > 0 or crowded or far):
            if N == 1:
                return None
            if not return_array:
                return "causal"
        mask = visible(
            first=self.offset,
            queries=N,
            rows=rows + gap,
            pinned=pinned,
            near=None if self.window is None else self.window - self._pinned,
            always=self._pinned,
            window_size=window_size,
        )
        return mask[None, None] if N == 1 else mask

    @property
    def state(self) -> list[mx.array]:
        """Every array, for `mx.eval`."""
        return self._rows.arrays

    @property
    def keys(self) -> mx.array | None:
        """The array that the last keys were written to, or None. Some models hang dependencies on it; nothing else should."""
        return self._rows.sides[0].written if self._rows.sides else None

    @keys.setter
    def keys(self, array: mx.array) -> None:
        self._rows.sides[0].written = array

    @property
    def values(self) -> mx.array | None:
        """As `keys`, for the values."""
        return self._rows.sides[-1].written if self._rows.sides else None

    @values.setter
    def values(self, array: mx.array) -> None:
        # Where both are one (the indexer of deepseek_v32), the model puts zeros in place of values that it never reads.
        if len(self._rows.sides) > 1:
            self._rows.sides[-1].written = array

    def size(self) -> int:
        """Return the number of rows held, those that no query sees any more included."""
        return self._rows.held

    def empty(self) -> bool:
        """Return whether nothing was stored yet."""
        return not self._rows.sides

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, free rows included."""
        return sum(array.nbytes for array in self._rows.arrays)

    @property
    def seen_bytes(self) -> int:
        """Bytes of the rows that a query may see: neither free ones nor those that are held to go back to."""
        return self._rows.bytes_of(self._rows.held if self.window is None else min(self._rows.held, self.window))

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
        self.offset -= count
        self._view = None
        if self.offset <= self._pinned:
            self._rows.cut(self._rows.held - self.offset)
            self.lost = 0
        else:
            self._rows.cut(count)
        return count

    # What Flint asks besides

    def can_trim(self, count: int) -> bool:
        """Return whether the newest `count` tokens can be taken back exactly."""
        if not 0 <= count <= self.offset:
            return False
        position = self.offset - count
        if count == 0 or self.lost == 0 or position <= self._pinned:
            return True
        return self._pinned + self.lost <= self.oldest_needed(position)

    @property
    def pinned(self) -> int:
        """Tokens at the conversation's beginning that are never dropped. It may be set before the next query misses any token.

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
        """Tokens that the next one will not see: those at the positions from `pinned` on."""
        return 0 if self.window is None else max(0, self.offset + 1 - self.window)

    def positions(self) -> list[int]:
        """Return the absolute position of every row held, in order."""
        first = min(self._pinned, self._rows.held)
        return [*range(first), *range(self.offset - (self._rows.held - first), self.offset)]

    @property
    def most_rows(self) -> int | None:
        """The bound of `size()`, and of the rows there is ever room for: what a query sees, slack and step."""
        return self._rows.bound

    # What `pieces` asks besides, to take rows out and lay them back

    @property
    def rows(self) -> Rows:
        """The rows held, by their place."""
        return self._rows

    @property
    def room(self) -> int:
        """Tokens that can be stored before any is dropped."""
        return UNBOUNDED if self._rows.bound is None else self._rows.bound - self._rows.held

    def leaving(self, count: int) -> tuple[int, int]:
        """Return the span of positions held now that storing `count` tokens would drop; an empty one where none is."""
        start = self._pinned + self.lost
        return start, max(start, min(start + self._surplus(count), self.offset))

    def become(self, rows: Rows, *, offset: int, lost: int) -> None:
        """Become a cache of `offset` tokens that holds `rows`; `lost` ones behind the pinned rows are gone."""
        self._rows, self.offset, self.lost = rows, offset, lost
        self._view = None

    def snapshot(self) -> Snapshot:
        """Return the state by reference; it stays as it is whatever happens to the cache."""
        rows = self._rows.save()
        moment = {"offset": self.offset, "lost": self.lost, "pinned": self._pinned}
        return Snapshot(rows.arrays, rows.numbers | moment | self._make())

    def restore(self, snapshot: Snapshot) -> None:
        """Become what `snapshot` holds, by reference; the snapshot may be used again.

        Raises `ValueError` where it is not one of a cache made like this one.
        """
        self._check(snapshot)
        self._rows.load(snapshot)
        self.offset, self.lost, self._pinned = (snapshot.numbers[name] for name in ("offset", "lost", "pinned"))
        self._view = None

    # How it works

    def oldest_needed(self, position: int) -> int:
        """The oldest position behind the pinned ones that a query at `position` sees."""
        return 0 if self.window is None else position - (self.window - self._pinned) + 1

    def _seen(self) -> int:
        """Rows held that the next query sees."""
        return self._rows.held if self.window is None else min(self._rows.held, self.window - 1)

    def _seen_ranges(self) -> list[tuple[int, int]]:
        """The rows held that the next query sees, as ranges of them."""
        seen, held = self._seen(), self._rows.held
        if seen == held:
            return [(0, seen)]
        pinned = min(self._pinned, seen)
        return [(0, pinned), (held - (seen - pinned), held)]

    def _surplus(self, count: int) -> int:
        """Rows to drop so that there is room for `count` more; the slack stays."""
        if self._full is None or self._rows.bound is None or self._rows.held + count <= self._rows.bound:
            return 0
        return self._rows.held + count - self._full

    def _in_place(self, count: int, surplus: int) -> bool:
        """Whether all rows held can be returned: after the surplus is dropped they still hold what `count` queries see."""
        return not surplus or (count <= self._slack and surplus <= self._rows.aged - self._pinned)

    def _make(self) -> dict[str, int]:
        """What must agree for a snapshot to fit."""
        key_bits, value_bits = self._rows.bits
        window = -1 if self.window is None else self.window
        return {"window": window, "sliding": int(self.sliding), "key_bits": key_bits or 0, "value_bits": value_bits or 0}

    def _check(self, snapshot: Snapshot) -> None:
        if any(snapshot.numbers.get(name) != value for name, value in self._make().items()):
            raise ValueError("The snapshot is of a cache of another make.")
