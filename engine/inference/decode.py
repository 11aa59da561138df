"""Writing a reply, one token a step, with the next step's graph built while the current one runs."""

from collections.abc import Generator
from typing import Any, cast

import mlx.core as mx

from engine.cache.prefix import PrefixCache
from engine.inference.odds import Measured, Odds
from engine.inference.sampling import Sampler

CLEAR_EVERY = 256
"""Steps between two returns of MLX's spare buffers."""


def decode(
    model: Any, cache: PrefixCache, last_id: int, sampler: Sampler, limit: int, odds: Odds | None = None
) -> Generator[int, None, None]:
    """Yield up to `limit` token ids; `last_id` is the prompt's last token, not yet in the cache. `odds` keeps theirs.

    Whenever it stands at a yield, or ends, the cache's record and its layers agree: they hold the prompt and every id yielded,
    but for an id at the limit, after which nothing was built. So it may be closed at any id, and the next turn goes on there.
    """
    current, measured = _step(model, cache, mx.array([last_id]), sampler, odds)
    mx.async_eval(current, *(measured or ()))
    cache.extend([last_id])
    for count in range(limit):
        following, following_measured = None, None
        if count + 1 < limit:
            following, following_measured = _step(model, cache, current, sampler, odds)
            mx.async_eval(following, *(following_measured or ()))
        token = int(cast(int, current.item()))
        if odds and measured:
            odds.keep(token, measured)
        if following is not None:
            cache.extend([token])
        yield token
        if following is None:
            return
        if count % CLEAR_EVERY == CLEAR_EVERY - 1:
            mx.clear_cache()
        current, measured = following, following_measured


def _step(
    model: Any, cache: PrefixCache, token: mx.array, sampler: Sampler, odds: Odds | None
) -> tuple[mx.array, Measured | None]:
    """Return the next token id, shape [1], and what `odds` measures of it; nothing is evaluated yet."""
    cache.before(1)
    logits = model(token[None], cache=cache.layers)
    drawn: mx.array = sampler(logits[0, -1])
    return drawn.reshape(1), odds.measure(logits[0, -1], drawn) if odds else None
