"""What sampling settings do to a next-token distribution: the shares after the temperature, and how many tokens stay."""

import math
from collections.abc import Iterator, Mapping

from engine.core.messages import NextTokens
from engine.core.record import Record
from engine.core.setting import Value

READS = ("temperature", "top_k", "top_p", "min_p")
"""The settings that the picture follows."""
_GREEDY_BELOW = 1e-6


class Outlook(Record):
    """The likeliest tokens' texts with their shares of the whole (0 to 1), likeliest first; the first `kept` of `size` stay."""

    tokens: tuple[tuple[str, float], ...]
    kept: int
    size: int


def outlook(told: NextTokens, values: Mapping[str, Value]) -> Outlook:
    """Return what temperature, top-k, top-p and min-p among `values` make of a distribution, in the sampler's order."""
    temperature, top_k, top_p, min_p = (float(values[name] or 0) for name in READS)
    size = len(told.logprobs) + sum(told.tail_counts)
    if temperature < _GREEDY_BELOW:
        shares = [1.0, *[0.0] * (len(told.texts) - 1)]
        return Outlook(tuple(zip(told.texts, shares, strict=True)), 1, size)
    runs = list(_heated(told, temperature))
    whole = sum(count * weight for count, weight in runs)
    shares = [weight / whole for _, weight in runs[: len(told.texts)]]
    if 0 < top_k < size:
        runs = list(_first(runs, int(top_k)))
    kept = sum(count for count, _ in runs)
    if top_p < 1.0:
        kept = min(kept, _nucleus(runs, top_p))
    if min_p > 0.0:
        kept = min(kept, sum(count for count, weight in runs if weight >= min_p * runs[0][1]))
    return Outlook(tuple(zip(told.texts, shares, strict=True)), max(1, kept), size)


def _heated(told: NextTokens, temperature: float) -> Iterator[tuple[int, float]]:
    """Yield how many tokens have which weight, falling; the likeliest weighs 1."""
    best = told.logprobs[0]
    for logprob in told.logprobs:
        yield 1, math.exp((logprob - best) / temperature)
    for count, logprob in zip(told.tail_counts, told.tail_logprobs, strict=True):
        yield count, math.exp((logprob - best) / temperature)


def _first(runs: list[tuple[int, float]], most: int) -> Iterator[tuple[int, float]]:
    """Yield the runs of the first `most` tokens."""
    for count, weight in runs:
        if most <= 0:
            return
        yield min(count, most), weight
        most -= count


def _nucleus(runs: list[tuple[int, float]], share: float) -> int:
    """Return how many of the first tokens reach a share of the runs' weight together."""
    wanted = share * sum(count * weight for count, weight in runs)
    reached, tokens = 0.0, 0
    for count, weight in runs:
        if reached + count * weight >= wanted:
            return tokens + max(1, math.ceil((wanted - reached) / weight) if weight else 1)
        reached, tokens = reached + count * weight, tokens + count
    return tokens
