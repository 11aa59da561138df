"""How many tokens a prompt would be, counted while it is typed: what an earlier count encoded is not encoded again.

Nothing here evaluates anything, so that it can be done between two tokens of a reply. It is done in steps of a bounded size:
the generators yield where somebody else may have a turn.
"""

import re
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.facts import Message
from engine.inference.encoding import Encoded, encode
from engine.inference.layout import Place, places
from engine.inference.prompt_plan import OTHER, pinned_in, with_replies
from engine.inference.template import render_text

STEP = 16_384
"""Characters encoded at a time: about 10 ms."""
KEPT_TEXTS = 32
KEPT_PIECES = 512
"""Pieces of long texts whose ids are remembered: 8 MB of text, in about 20 MB of memory."""

# Nearly every tokenizer's words end before a line that begins with a letter, and before the space between two words; after
# an empty line they may not.
_CUT = re.compile(r"(?<=\S\n)(?=[^\W\d_])|(?<=[^\W_])(?= [^\W\d_])")
_SAMPLE = "One line, and another word.\nA second line\n\nThird: x1 y2 z3\n"

type Steps[T] = Generator[None, None, T]


@dataclass(frozen=True)
class Counted:
    """The `ids` of a prompt; the last message's own words are `words` of them, and each message is complete after `ends`.

    `pinned` of the ids are the same for every chat with this system prompt. All messages' own words are `said` of them, 0 where
    that can't be told.
    """

    ids: tuple[int, ...]
    words: int
    ends: tuple[int, ...]
    pinned: int
    said: int


class Encoder:
    """Encodes long texts in steps, and remembers the pieces: a count that a newer one replaced is not lost."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        # Whether a text's ids are those of its parts: some tokenizers begin every text with a space of their own.
        parts = [token for part in _CUT.split(_SAMPLE) for token in encode(tokenizer, part)[0]]
        self.apart = parts == encode(tokenizer, _SAMPLE)[0]
        self._pieces: OrderedDict[str, tuple[array[int], array[int]]] = OrderedDict()

    def encode(self, text: str) -> Steps[Encoded]:
        """Return the ids of a text and where in it each ends; a long one is cut where its words end anyway, if that may be."""
        ids: list[int] = []
        ends: list[int] = []
        start = 0
        while start < len(text):
            cut = _CUT.search(text, start + STEP) if self.apart else None
            stop = cut.start() if cut else len(text)
            some, their_ends = self._piece(text[start:stop], kept=cut is not None)
            ids += some
            ends += [start + end for end in their_ends]
            start = stop
            yield
        return ids, ends

    def _piece(self, text: str, kept: bool) -> tuple[Sequence[int], Sequence[int]]:
        if text in self._pieces:
            self._pieces.move_to_end(text)
            return self._pieces[text]
        ids, ends = encode(self.tokenizer, text)
        if kept:
            self._pieces[text] = array("I", ids), array("I", ends)
            while len(self._pieces) > KEPT_PIECES:
                self._pieces.popitem(last=False)
        return ids, ends


class Counter:
    """Counts the prompts of one conversation as it grows."""

    def __init__(self, encoder: Encoder, fingerprint: str) -> None:
        self._encoder = encoder
        self._tokenizer = encoder.tokenizer
        self._fingerprint = fingerprint
        self._messages: tuple[Message, ...] = ()
        self._text = ""
        self._found: list[Place | None] = []
        self._encoded: Encoded = ([], [])
        self._pinned: tuple[Message, ...] | None = None
        self._pinned_ids = 0

    def count(self, messages: Sequence[Message]) -> Steps[Counted]:
        """Count the prompt that asks for a reply to `messages`.

        Where they do not end with the user's, it is the beginning that any next message of the user's would have.
        Raises `TemplateError`.
        """
        asked = bool(messages) and messages[-1].role == "user"
        whole = tuple(messages) if asked else (*messages, Message("user", OTHER))
        text, found = self._retyped(whole) or self._rendered(whole)
        yield
        kept, encoded = self._reusable(whole, text, found)
        start = encoded[1][-1] if encoded[1] else 0
        more = yield from self._encoder.encode(text[start:])
        encoded = ([*encoded[0], *more[0]], [*encoded[1], *(start + end for end in more[1])])
        encoded = with_replies(self._tokenizer, whole, text, found, self._fingerprint, encoded, kept)
        self._messages, self._text, self._found, self._encoded = whole, text, found, encoded
        return self._told(messages, whole, text, found, asked)

    def _rendered(self, messages: Sequence[Message]) -> tuple[str, list[Place | None]]:
        text = render_text(self._tokenizer, messages)
        return text, places(self._tokenizer, messages, text)

    def _retyped(self, messages: tuple[Message, ...]) -> tuple[str, list[Place | None]] | None:
        """Return the last prompt with other words in its last message, where nothing else is new; None where it can't be told.

        A long chat need not be rendered anew for every key. A template may trim what it is given, so words with white space
        around them are left to it.
        """
        place = self._found[-1] if self._found else None
        if place is None or messages[:-1] != self._messages[:-1] or len(messages) != len(self._messages):
            return None
        (start, end), words, before = place, messages[-1].text, self._messages[-1].text
        if words != words.strip() or not words or self._text[start:end] != before or before != before.strip():
            return None
        changed = f"{self._text[:start]}{words}{self._text[end:]}"
        return changed, [*self._found[:-1], (start, start + len(words))]

    def _reusable(self, messages: Sequence[Message], text: str, found: Sequence[Place | None]) -> tuple[int, Encoded]:
        """Return the number of leading messages that stand in the last prompt too, and the ids up to the end of them."""
        count = 0
        if not self._encoder.apart:
            return 0, ([], [])
        for message, earlier, place, before in zip(messages, self._messages, found, self._found, strict=False):
            if place is None or place != before or message != earlier:
                break
            count += 1
        while count:
            place = found[count - 1]
            end = place[1] if place else 0
            last = bisect_right(self._encoded[1], end)
            if last and self._encoded[1][last - 1] == end and self._text[:end] == text[:end]:
                return count, (self._encoded[0][:last], self._encoded[1][:last])
            count -= 1
        return 0, ([], [])

    def _told(
        self, messages: Sequence[Message], whole: Sequence[Message], text: str, found: Sequence[Place | None], asked: bool
    ) -> Counted:
        ids, ends = self._encoded
        complete, position = [], 0
        for place in found:
            position = place[1] if place else position
            complete.append(bisect_right(ends, position))
        last = found[-1]
        words = complete[-1] - bisect_right(ends, last[0]) if last else len(ids)
        pinned, said = self._pinned_in(whole, text), _said(found[: len(messages)], ends)
        if asked:
            return Counted(tuple(ids), words, tuple(complete), pinned, said)
        before = bisect_right(ends, last[0]) if last else 0
        return Counted(tuple(ids[:before]), 0, tuple(complete[: len(messages)]), min(pinned, before), said)

    def _pinned_in(self, messages: Sequence[Message], text: str) -> int:
        """Return what is pinned, which hangs on what stands before the first question alone."""
        first = next((index for index, message in enumerate(messages) if message.role == "user"), len(messages))
        if self._pinned != tuple(messages[:first]):
            self._pinned = tuple(messages[:first])
            self._pinned_ids = pinned_in(self._tokenizer, messages, text, self._encoded)
        return min(self._pinned_ids, len(self._encoded[0]) - 1)


def _said(found: Sequence[Place | None], ends: Sequence[int]) -> int:
    """Return how many ids are the messages' own; 0 where one of them is not found in the text."""
    own = [bisect_right(ends, place[1]) - bisect_right(ends, place[0]) for place in found if place]
    return sum(own) if len(own) == len(found) else 0


class TextCounter:
    """Counts texts that stand alone, each once."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: OrderedDict[str, int] = OrderedDict()

    def count(self, text: str) -> Steps[int]:
        """Return the tokens of a text."""
        if text not in self._known:
            ids, _ = yield from self._encoder.encode(text)
            self._known[text] = len(ids)
            while len(self._known) > KEPT_TEXTS:
                self._known.popitem(last=False)
        self._known.move_to_end(text)
        return self._known[text]
