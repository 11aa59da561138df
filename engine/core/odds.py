"""The probabilities a model gave to the tokens of a reply, and to the likeliest in their place."""

from dataclasses import dataclass

from engine.core.record import Record

ALTERNATIVES = 5
"""How many of the likeliest tokens are kept for each place."""


@dataclass(frozen=True, repr=False, eq=False)
class TokenOdds(Record):
    """One reply's tokens and their natural log-probabilities, as the model gave them: before penalties and temperature.

    Token i is `ids[i]`, added `pieces[i]` to the text (nothing while a character was incomplete) and had `logprobs[i]`. The
    `count` likeliest in its place are `other_ids[i * count : (i + 1) * count]`, falling, with `other_logprobs` beside them; the
    written one may be among them. `texts` are what the different ids in `known_ids` stand for.
    """

    count: int
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    logprobs: tuple[float, ...]
    other_ids: tuple[int, ...]
    other_logprobs: tuple[float, ...]
    known_ids: tuple[int, ...]
    texts: tuple[str, ...]

    def others(self, index: int) -> list[tuple[int, float]]:
        """Return the likeliest ids in the place of a token, with their log-probabilities, falling."""
        place = slice(index * self.count, (index + 1) * self.count)
        return list(zip(self.other_ids[place], self.other_logprobs[place], strict=True))
