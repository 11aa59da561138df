"""The probabilities a model gave to the tokens of a reply, and to the likeliest in their place."""

from dataclasses import replace

from engine.core.record import Record

PART = "\ufffd"
"""Begins the text of a token that is only a part of a character."""

ALTERNATIVES = 5
"""How many of the likeliest tokens are kept for each place."""


class TokenOdds(Record):
    """One reply's tokens and their natural log-probabilities, as the model gave them: before penalties and temperature.

    Token i is `ids[i]`, added `pieces[i]` to the text (nothing while a character was incomplete) and had `logprobs[i]`. The
    `count` likeliest in its place are `other_ids[i * count : (i + 1) * count]`, falling, with `other_logprobs` beside them; the
    written one may be among them. `texts` are what the different ids in `known_ids` stand for; of one that is only a part of a
    character it is `PART` and its bytes in hexadecimal.
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

    def branched(self, index: int, token: int) -> "TokenOdds":
        """Return the odds of the tokens before a place and of one of the others in it. Raises `KeyError` for a stranger."""
        logprob, text = dict(self.others(index))[token], dict(zip(self.known_ids, self.texts, strict=True))[token]
        end = (index + 1) * self.count
        return replace(
            self,
            ids=(*self.ids[:index], token),
            pieces=(*self.pieces[:index], "" if text.startswith(PART) else text),
            logprobs=(*self.logprobs[:index], logprob),
            other_ids=self.other_ids[:end],
            other_logprobs=self.other_logprobs[:end],
        )

    def joined(self, later: "TokenOdds | None") -> "TokenOdds":
        """Return the odds of these tokens and of those that followed them."""
        if later is None or later.count != self.count:
            return self
        known = dict(zip(self.known_ids, self.texts, strict=True)) | dict(zip(later.known_ids, later.texts, strict=True))
        return TokenOdds(
            count=self.count,
            ids=self.ids + later.ids,
            pieces=self.pieces + later.pieces,
            logprobs=self.logprobs + later.logprobs,
            other_ids=self.other_ids + later.other_ids,
            other_logprobs=self.other_logprobs + later.other_logprobs,
            known_ids=tuple(known),
            texts=tuple(known.values()),
        )
