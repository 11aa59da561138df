"""Which of the rows that a cache returns each query may attend to."""

import mlx.core as mx


def visible(
    *, first: int, queries: int, rows: int, pinned: int, near: int | None, always: int, window_size: int | None
) -> mx.array:
    """Return a boolean mask [queries, rows].

    The queries stand at positions `first`, `first + 1`, …; the rows are the first `pinned` positions, then a run that ends at
    the last query's. A query sees itself and what is before it, if that is less than `near` tokens away or one of the first
    `always` positions, and, for a model whose layer has a sliding window, less than `window_size` away.
    """
    end = first + queries
    keys = mx.concatenate([mx.arange(pinned), mx.arange(end - (rows - pinned), end)])[None]
    asked = mx.arange(first, end)[:, None]
    seen = keys <= asked
    if near is not None:
        seen = seen & ((keys > asked - near) | (keys < always))
    if window_size is not None:
        seen = seen & (keys > asked - window_size)
    return seen
