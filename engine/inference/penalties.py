"""What makes tokens more or less likely because of what was written before. Lazy MLX graphs throughout."""

from collections.abc import Mapping, Sequence

import mlx.core as mx


def biased(scores: mx.array, tokens: mx.array, values: mx.array) -> mx.array:
    """Return scores [V] with `values` [n] added to those of `tokens` [n], ids that differ."""
    return scores.at[tokens].add(values)


def penalize(scores: mx.array, tokens: mx.array, penalty: float) -> mx.array:
    """Return scores [V] with those of `tokens` [n] made less likely: positive ones divided, negative ones multiplied.

    The repetition penalty of CTRL (Keskar et al. 2019), with the sign rule that later became usual. A token counts once,
    however often it appeared.
    """
    seen = scores[tokens]
    return mx.put_along_axis(scores, tokens, mx.where(seen > 0, seen / penalty, seen * penalty), axis=-1)


def discouraged(scores: mx.array, counts: mx.array, presence: float, frequency: float) -> mx.array:
    """Return scores [V] less `frequency` for each time a token appeared, and less `presence` if it did; OpenAI's definition.

    `counts` [V] says how often each token appeared.
    """
    return scores - counts * frequency - (counts > 0) * presence


class RepetitionPenalty:
    """The repetition penalty over the newest `window` tokens of the history."""

    def __init__(self, penalty: float, window: int, history: Sequence[int]) -> None:
        self._penalty, self._length = penalty, window
        self._window = mx.array(list(history[-window:]), dtype=mx.uint32)

    def __call__(self, scores: mx.array) -> mx.array:
        """Return scores [V], penalized."""
        return penalize(scores, self._window, self._penalty) if self._window.size else scores

    def add(self, token: mx.array) -> None:
        """Let a drawn token, a scalar, join the history."""
        self._window = mx.concatenate([self._window, token.reshape(1)])[-self._length :]


class CountPenalties:
    """Presence and frequency penalty over the whole history."""

    def __init__(self, presence: float, frequency: float, history: Sequence[int]) -> None:
        self._presence, self._frequency = presence, frequency
        self._history: mx.array = mx.array(list(history), dtype=mx.uint32)
        self._counts: mx.array | None = None

    def __call__(self, scores: mx.array) -> mx.array:
        """Return scores [V], penalized."""
        if self._counts is None:  # The size of the vocabulary is not known before.
            self._counts = mx.zeros(scores.shape, dtype=mx.float32).at[self._history].add(1.0)
        return discouraged(scores, self._counts, self._presence, self._frequency)

    def add(self, token: mx.array) -> None:
        """Let a drawn token, a scalar, join the history."""
        if self._counts is not None:
            self._counts = self._counts.at[token.reshape(1)].add(1.0)


class LogitBias:
    """A fixed amount for each of some tokens: `biases` by id."""

    def __init__(self, biases: Mapping[int, float]) -> None:
        self._tokens = mx.array(list(biases), dtype=mx.uint32)
        self._values = mx.array(list(biases.values()), dtype=mx.float32)

    def __call__(self, scores: mx.array) -> mx.array:
        """Return scores [V] with the biases added."""
        return biased(scores, self._tokens, self._values)

    def add(self, token: mx.array) -> None:
        """Take no notice of what is drawn."""
