"""Drawing the next token. Everything here stays lazy: nothing is evaluated, so the next step's graph is built meanwhile."""

from collections.abc import Sequence
from math import log

import mlx.core as mx

from engine.core.settings import Sampling

GREEDY_BELOW = 1e-6
"""A temperature under this takes the likeliest token: float32 logits are no finer than that, so nothing else could be drawn."""


class Sampler:
    """Draws the tokens of one request, from a key of its own: nothing global is read or moved.

    Order: repetition penalty, temperature, top-k, top-p, min-p. `history` holds every token before the reply, also the cached
    ones; `seed` is any number of 64 bits. Each drawn token joins the history by itself.
    """

    def __init__(self, sampling: Sampling, seed: int, history: Sequence[int]) -> None:
        self._sampling = sampling
        self._key = mx.random.key(seed)  # Threefry: the upper and the lower 32 bits are its two words.
        self._penalized = sampling.repetition_penalty != 1.0 and sampling.repetition_window > 0
        newest = list(history[-sampling.repetition_window :]) if self._penalized else []
        self._window = mx.array(newest, dtype=mx.uint32)

    def __call__(self, logits: mx.array) -> mx.array:
        """Return the next token id, a scalar of uint32, from logits of shape [V]; not yet evaluated."""
        scores = logits.astype(mx.float32)
        if self._penalized and self._window.size:
            scores = penalize(scores, self._window, self._sampling.repetition_penalty)
        token = self._draw(scores)
        if self._penalized:
            joined = mx.concatenate([self._window, token.reshape(1)])
            self._window = joined[-self._sampling.repetition_window :]
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
        drawn = mx.random.categorical(scores, key=key)
        return drawn if candidates is None else candidates[drawn]


def penalize(scores: mx.array, tokens: mx.array, penalty: float) -> mx.array:
    """Return scores [V] with those of `tokens` [n] made less likely: positive ones divided, negative ones multiplied.

    The repetition penalty of CTRL (Keskar et al. 2019), with the sign rule that later became usual. A token counts once,
    however often it appeared.
    """
    seen = scores[tokens]
    return mx.put_along_axis(scores, tokens, mx.where(seen > 0, seen / penalty, seen * penalty), axis=-1)


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


def _highest(scores: mx.array, threshold: mx.array, count: mx.array) -> mx.array:
    """Return a mask of the `count` highest scores, where `threshold` is the lowest of them: ties go to the first."""
    above, tied = scores > threshold, scores == threshold
    room = count - above.sum()
    return above | (tied & (mx.cumsum(tied.astype(mx.int32)) <= room))
