"""Perplexity with a pinned window in chunks of 64 against the same read token by token; mlx-lm's rotating cache beside it.

Both caches keep the text's first tokens while the window rolls. What is kept must also be seen by a forward of many tokens:
mlx-lm's rotating cache holds those rows and masks them out there. To reach: within 1% of the perplexity token by token.
"""

import math
from typing import Any

from tests.benchmarks.reading import STARTER, model_and_ids, read
from tests.benchmarks.timing import options, report

WITHIN = 0.01
CHUNK = 64


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--model", default=STARTER, help="starter, gemma3, or a folder")
    parser.add_argument("--window", type=int, default=256, help="tokens that a query sees")
    parser.add_argument("--pinned", type=int, default=4, help="tokens that are never dropped")
    parser.add_argument("--tokens", type=int, help="tokens of the text that are read")
    given = parser.parse_args()
    tokens = given.tokens or (given.window + 2 * CHUNK if given.quick else 1000)
    with model_and_ids(given.model, tokens) as (model, ids):
        found = {
            (cache, chunk): perplexity(model, make(model, cache, given.window, given.pinned), ids, chunk, given.window)
            for cache in ("flint", "mlx-lm")
            for chunk in (1, CHUNK)
        }
    print(f"{'':<22}{'one by one':>12}{f'by {CHUNK}':>10}{'ratio':>8}")
    for cache in ("flint", "mlx-lm"):
        one, many = found[cache, 1], found[cache, CHUNK]
        print(f"{cache:<22}{one:>12.3f}{many:>10.3f}{many / one:>8.3f}")
    report(
        "pinned_perplexity",
        ratio=abs(found["flint", CHUNK] / found["flint", 1] - 1),
        at_most=WITHIN,
        against="the same window read token by token",
        model=given.model,
        window=given.window,
        pinned=given.pinned,
        tokens=len(ids),
        perplexity={f"{cache} by {chunk}": value for (cache, chunk), value in found.items()},
    )


def make(model: Any, cache: str, window: int, pinned: int) -> list[Any]:
    """Return Flint's caches, or mlx-lm's as it makes them for `--max-kv-size`, with as many rows kept."""
    from mlx_lm.models.cache import RotatingKVCache

    from engine.cache.make import make_cache
    from engine.cache.policy import CachePolicy

    if cache == "flint":
        return make_cache(model, CachePolicy(window, pinned=pinned))
    return [RotatingKVCache(window, keep=pinned) for _ in model.layers]


def perplexity(model: Any, caches: list[Any], ids: list[int], chunk: int, window: int) -> float:
    """Return the perplexity of the tokens after the first `window`, read `chunk` at a time."""
    import mlx.core as mx

    losses: list[float] = []
    for number, logits in enumerate(read(model, caches, ids[:-1], chunk)):
        start = number * chunk
        wanted = mx.array(ids[start + 1 : start + 1 + logits.shape[0]])
        chosen = mx.take_along_axis(logits, wanted[:, None], axis=1)[:, 0]
        losses += (mx.logsumexp(logits, axis=1) - chosen).tolist()
    after = losses[window:]
    return math.exp(sum(after) / len(after))


if __name__ == "__main__":
    main()
