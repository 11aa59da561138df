"""How many tokens a prompt would be, counted while it is typed: what an earlier count encoded is not encoded again.

Nothing here evaluates anything, so that it can be done between two tokens of a reply. It is done in steps of a bounded size:
the generators yield where somebody else may have a turn.
"""

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.facts import Message
from engine.inference.layout import Place, places
from engine.inference.prompt_plan import OTHER, Encoded, encode, pinned_in, with_replies
from engine.inference.template import render_text

STEP = 32_768
"""Characters encoded at a time: about 10 ms."""
KEPT_TEXTS = 32

# Every tokenizer's words end before a line that begins with a letter, so that a text can be cut there.
_CUT = re.compile(r"\n(?=[^\W\d_])")

type Steps[T] = Generator[None, None, T]


@dataclass(frozen=True)
class Counted:
    """The `ids` of a prompt; the last message's own words are `words` of them, and each message is complete after `ends`.

    `pinned` of the ids are the same for every chat with this system prompt.
    """

    ids: tuple[int, ...]
    words: int
    ends: tuple[int, ...]
    pinned: int


class Counter:
    """Counts the prompts of one conversation as it grows."""

    def __init__(self, tokenizer: Any, fingerprint: str) -> None:
        self._tokenizer = tokenizer
        self._fingerprint = fingerprint
        self._messages: tuple[Message, ...] = ()
        self._text = ""
        self._found: list[Place | None] = []
        self._encoded: Encoded = ([], [])

    def count(self, messages: Sequence[Message]) -> Steps[Counted]:
        """Count the prompt that asks for a reply to `messages`.

        Where they do not end with the user's, it is the beginning that any next message of the user's would have.
        Raises `TemplateError`.
        """
        asked = bool(messages) and messages[-1].role == "user"
        whole = tuple(messages) if asked else (*messages, Message("user", OTHER))
        text = render_text(self._tokenizer, whole)
        found = places(self._tokenizer, whole, text)
        kept, encoded = self._reusable(whole, text, found)
        start = encoded[1][-1] if encoded[1] else 0
        more = yield from _encode_in_steps(self._tokenizer, text[start:])
        encoded = ([*encoded[0], *more[0]], [*encoded[1], *(start + end for end in more[1])])
        encoded = with_replies(self._tokenizer, whole, text, found, self._fingerprint, encoded, kept)
        self._messages, self._text, self._found, self._encoded = whole, text, found, encoded
        return self._told(messages, whole, text, found, asked)

    def _reusable(self, messages: Sequence[Message], text: str, found: Sequence[Place | None]) -> tuple[int, Encoded]:
        """Return the number of leading messages that stand in the last prompt too, and the ids up to the end of them."""
        count = 0
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
        pinned = pinned_in(self._tokenizer, whole, text, self._encoded)
        if asked:
            return Counted(tuple(ids), words, tuple(complete), pinned)
        before = bisect_right(ends, last[0]) if last else 0
        return Counted(tuple(ids[:before]), 0, tuple(complete[: len(messages)]), min(pinned, before))


class TextCounter:
    """Counts texts that stand alone, each once."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._known: OrderedDict[str, int] = OrderedDict()

    def count(self, text: str) -> Steps[int]:
        """Return the tokens of a text."""
        if text not in self._known:
            ids, _ = yield from _encode_in_steps(self._tokenizer, text)
            self._known[text] = len(ids)
            while len(self._known) > KEPT_TEXTS:
                self._known.popitem(last=False)
        self._known.move_to_end(text)
        return self._known[text]


def _encode_in_steps(tokenizer: Any, text: str) -> Steps[Encoded]:
    """Return the ids of a text and where in it each ends; a long one is cut where its words end anyway."""
    ids: list[int] = []
    ends: list[int] = []
    start = 0
    while start < len(text):
        cut = _CUT.search(text, start + STEP)
        stop = cut.end() if cut and cut.end() <= start + 4 * STEP else min(len(text), start + 4 * STEP)
        try:
            some, their_ends = encode(tokenizer, text[start:stop])
        except NotImplementedError:  # A tokenizer without a fast form knows no offsets.
            some = list(tokenizer.encode(text[start:stop], add_special_tokens=False))
            their_ends = [stop - start] * len(some)
        ids += some
        ends += [start + end for end in their_ends]
        start = stop
        yield
    return ids, ends
