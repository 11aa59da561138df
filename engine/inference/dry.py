"""DRY (“don't repeat yourself”, p-e-w 2024): holds back the token that would go on with a repeated phrase.

For every place where the end of the history stood before, n tokens long, the token that followed there is penalized by
multiplier · base^(n − allowed length) if n reaches the allowed length; of several places the longest counts. No match goes
across a breaker, and no breaker is penalized.
"""

from collections.abc import Collection, Sequence
from math import log

import mlx.core as mx

LARGEST = 60.0
"""The exponent of e that a penalty may reach: more would leave float32, and no score is that far from another."""


class Dry:
    """The penalty, kept up to date without knowing what was drawn: each step is a few operations over the window, all lazy.

    It holds, for every place of the history, how many tokens up to there equal the history's end. With a new token t that
    length grows by one where the place after holds t, and is 0 elsewhere. `window` None looks back on everything; `breakers`
    are ids.
    """

    def __init__(
        self,
        multiplier: float,
        base: float,
        allowed: int,
        window: int | None,
        breakers: Collection[int],
        history: Sequence[int],
    ) -> None:
        self._multiplier, self._log_base, self._allowed = multiplier, log(base), allowed
        self._window = window
        self._breakers = mx.array(sorted(breakers), dtype=mx.uint32)
        self._breaks: mx.array | None = None
        seen = list(history if window is None else history[-window:])
        self._tokens = mx.array(seen, dtype=mx.uint32)
        self._lengths = mx.array(suffix_lengths(seen, frozenset(breakers)), dtype=mx.int32)

    def __call__(self, scores: mx.array) -> mx.array:
        """Return scores [V], penalized."""
        if self._breaks is None:  # The size of the vocabulary is not known before.
            self._breaks = mx.zeros(scores.shape, dtype=mx.bool_).at[self._breakers].maximum(True)
        if self._tokens.size < 2:
            return scores
        lengths, following = self._lengths[:-1], self._tokens[1:]  # The last place is the end itself.
        excess = (lengths - self._allowed).astype(mx.float32)
        penalties = self._multiplier * mx.exp(mx.minimum(excess * self._log_base, LARGEST))
        penalties = mx.where(lengths >= self._allowed, penalties, 0.0)
        return scores - mx.where(self._breaks, 0.0, mx.zeros_like(scores).at[following].maximum(penalties))

    def add(self, token: mx.array) -> None:
        """Let a drawn token, a scalar, join the history."""
        if self._breaks is None:
            return
        token = token.reshape(1)
        before = mx.concatenate([mx.zeros(1, dtype=mx.int32), self._lengths])
        tokens = mx.concatenate([self._tokens, token])
        goes_on = (tokens == token) & ~self._breaks[token]
        self._tokens, self._lengths = tokens, mx.where(goes_on, before + 1, 0)
        if self._window is not None and tokens.size > self._window:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        # A match may not reach back over the window's first token.
        self._tokens, lengths = self._tokens[1:], self._lengths[1:]
        self._lengths = mx.minimum(lengths, mx.arange(1, lengths.size + 1, dtype=mx.int32))


def suffix_lengths(tokens: Sequence[int], breakers: Collection[int]) -> list[int]:
    """Return, for each place, how many tokens up to and with it equal as many at the end, counted no further than a breaker.

    The Z function of the reversed tokens: time grows with their number, whatever they repeat.
    """
    reverse = list(reversed(tokens))
    reach = next((index for index, token in enumerate(reverse) if token in breakers), len(reverse))
    lengths = [0] * len(reverse)
    if reverse:
        lengths[0] = reach
    left = right = 0
    for place in range(1, len(reverse)):
        length = min(right - place, lengths[place - left]) if place < right else 0
        while length < reach and place + length < len(reverse) and reverse[length] == reverse[place + length]:
            length += 1
        if place + length > right:
            left, right = place, place + length
        lengths[place] = length
    lengths.reverse()
    return lengths
