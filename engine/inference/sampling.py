"""Drawing the next token. Everything here stays lazy: nothing is evaluated, so the next step's graph is built meanwhile."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from math import log
from types import MappingProxyType
from typing import Protocol

import mlx.core as mx

from engine.core.sampling import Sampling
from engine.inference.dry import Dry
from engine.inference.penalties import CountPenalties, LogitBias, RepetitionPenalty

GREEDY_BELOW = 1e-6
"""A temperature under this takes the likeliest token: float32 logits are no finer than that, so nothing else could be drawn."""

RECENT = 16
"""Draws whose logits are kept, for the picture of the next token."""


class Adjustment(Protocol):
    """Changes the scores before the temperature does."""

    def __call__(self, scores: mx.array) -> mx.array:
        """Return scores [V], changed."""

    def add(self, token: mx.array) -> None:
        """Let a drawn token, a scalar, join the history."""


class Sampler:
    """Draws the tokens of one request, from a key of its own: nothing global is read or moved.

    The order is that of `Sampling`; what is off costs nothing. `history` holds every token before the reply, also the cached
    ones; `seed` is any number of 64 bits. Each drawn token joins the history by itself. `biases` are by token id, `breakers`
    the ids that DRY does not look across. `recent` keeps the logits [V] of the newest draws.
    """

    def __init__(
        self,
        sampling: Sampling,
        seed: int,
        history: Sequence[int],
        biases: Mapping[int, float] = MappingProxyType({}),
        breakers: Collection[int] = (),
    ) -> None:
        self._sampling = sampling
        self._key = mx.random.key(seed)  # Threefry: the upper and the lower 32 bits are its two words.
        self._adjustments = _adjustments(sampling, history, biases, breakers)
        self.drawn = 0
        self.recent: deque[mx.array] = deque(maxlen=RECENT)

    def __call__(self, logits: mx.array) -> mx.array:
        """Return the next token id, a scalar of uint32, from logits of shape [V]; not yet evaluated."""
        self.drawn += 1
        self.recent.append(logits)
        scores = logits.astype(mx.float32)
        for adjust in self._adjustments:
            scores = adjust(scores)
        token = self._draw(scores)
        for adjust in self._adjustments:
            adjust.add(token)
        return token

    def _draw(self, scores: mx.array) -> mx.array:
        sampling = self._sampling
        if sampling.temperature < GREEDY_BELOW:
            return mx.argmax(scores)
        self._key, key = mx.random.split(self._key)
        candidates = None
        if 0 < sampling.top_k < scores.size:
            # The temperature does not change which are the highest, so all that follows works on k scores instead of V.
            candidates = top_k(scores, sampling.top_k)
            scores = scores[candidates]
        scores = heat(scores, sampling.temperature)
        if sampling.top_p < 1.0:
            scores = top_p(scores, sampling.top_p)
        if sampling.min_p > 0.0:
            scores = min_p(scores, sampling.min_p)
        if sampling.xtc_probability > 0.0:
            key, coin = mx.random.split(key)
            excluded = mx.random.uniform(key=coin) < sampling.xtc_probability
            scores = mx.where(excluded, xtc(scores, sampling.xtc_threshold), scores)
        drawn = mx.random.categorical(scores, key=key)
        return drawn if candidates is None else candidates[drawn]


def _adjustments(
    sampling: Sampling, history: Sequence[int], biases: Mapping[int, float], breakers: Collection[int]
) -> list[Adjustment]:
    """Return what is on, in the order of `Sampling`."""
    found: list[Adjustment] = []
    if biases:
        found.append(LogitBias(biases))
    if sampling.repetition_penalty != 1.0 and sampling.repetition_window > 0:
        found.append(RepetitionPenalty(sampling.repetition_penalty, sampling.repetition_window, history))
    if sampling.presence_penalty or sampling.frequency_penalty:
        found.append(CountPenalties(sampling.presence_penalty, sampling.frequency_penalty, history))
    if sampling.dry_multiplier > 0.0:
        limits = (sampling.dry_multiplier, sampling.dry_base, sampling.dry_allowed_length, sampling.dry_window)
        found.append(Dry(*limits, breakers, history))
    return found


def heat(scores: mx.array, temperature: float) -> mx.array:
    """Return scores [V] over the temperature, moved so that the highest is 0 (no temperature then overflows)."""
    return (scores - scores.max()) / temperature


def top_k(scores: mx.array, k: int) -> mx.array:
    """Return the ids [k] of the k highest of scores [V], in ascending order; of equal scores, lower ids go first. 0 < k < V."""
    threshold = mx.partition(scores, scores.size - k)[scores.size - k]
    counted = mx.cumsum(_highest(scores, threshold, mx.array(k)).astype(mx.int32))
    # The j-th kept id is where the count of kept ones reaches j.
    return mx.searchsorted(counted, mx.arange(1, k + 1, dtype=mx.int32))


def top_p(scores: mx.array, p: float) -> mx.array:
    """Return scores [n] with −∞ outside the smallest set of likeliest tokens whose probability reaches p.

    The nucleus of Holtzman et al. 2020. At least one token stays; of equal scores, earlier ones go first.
    """
    falling = mx.sort(scores)[::-1]
    mass = mx.cumsum(mx.softmax(falling))
    count = mx.minimum((mass < p).sum() + 1, scores.size)
    return mx.where(_highest(scores, falling[count - 1], count), scores, -mx.inf)


def min_p(scores: mx.array, p: float) -> mx.array:
    """Return scores [n] with −∞ where a token is less likely than p times the likeliest (Nguyen et al. 2024). 0 < p ≤ 1."""
    return mx.where(scores >= scores.max() + log(p), scores, -mx.inf)


def xtc(scores: mx.array, threshold: float) -> mx.array:
    """Return scores [n] with −∞ for all of the tokens at least as likely as the threshold but the least likely of them.

    “Exclude Top Choices” (p-e-w 2024). Of equal scores the last one stays.
    """
    top = mx.softmax(scores) >= threshold
    least = mx.where(top, scores, mx.inf)
    stays = scores.size - 1 - mx.argmin(least[::-1])
    return mx.where(top & (mx.arange(scores.size) != stays), -mx.inf, scores)


def _highest(scores: mx.array, threshold: mx.array, count: mx.array) -> mx.array:
    """Return a mask of the `count` highest scores, where `threshold` is the lowest of them: ties go to the first."""
    above, tied = scores > threshold, scores == threshold
    room = count - above.sum()
    return above | (tied & (mx.cumsum(tied.astype(mx.int32)) <= room))
