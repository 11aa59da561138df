"""A reply that goes on: the ids it has so far behind an open assistant turn, and what of its text was shown already."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from engine.core.facts import Message
from engine.inference.encoding import encode
from engine.inference.reasoning import markers
from engine.inference.template import Prompt


def goes_on(messages: Sequence[Message]) -> bool:
    """Whether a request asks for the rest of a reply, the last of its messages, and not for one of its own."""
    return bool(messages) and messages[-1].role == "assistant"


def ids_so_far(tokenizer: Any, prompt: Prompt, message: Message, fingerprint: str) -> tuple[int, ...]:
    """Return the ids of a reply that is to go on after `prompt`, which opened its turn.

    Those it was written with where this model wrote it, else those its text encodes to there: spaces at its end are left to
    the next token, which brings its own.
    """
    if message.ids and message.fingerprint == fingerprint:
        return message.ids
    raw = _raw(tokenizer, prompt, message).rstrip(" ")
    ids, ends = encode(tokenizer, prompt.text + raw)
    first = bisect_right(ends, len(prompt.text))
    if first and ends[first - 1] == len(prompt.text):
        return tuple(ids[first:])
    return tuple(tokenizer.encode(raw, add_special_tokens=False))


def _raw(tokenizer: Any, prompt: Prompt, message: Message) -> str:
    """Return a reply as the model would have written it: what it thought between its markers, then the answer."""
    start, end = markers(tokenizer) or ("", "")
    if not start or not (message.reasoning or prompt.starts_in_reasoning):
        return message.text
    opening = "" if prompt.starts_in_reasoning else f"{start}\n"
    closing = f"\n{end}\n\n{message.text}" if message.text.strip() else ""
    return f"{opening}{message.reasoning}{closing}"


class Shown:
    """The text that a reply had when it was cut, so that none of it is told twice and none left out.

    `had` is what its ids give so far. More was shown where something was held back that can't be any more (the beginning of a
    stop text, half a character); less where the text was cut.
    """

    def __init__(self, shown: str, had: str) -> None:
        self._due = shown[len(had) :] if shown.startswith(had) else ""
        self._backlog = had[len(shown) :] if had.startswith(shown) else ""

    def new(self, text: str) -> str:
        """Return what is new of the text that follows."""
        text, self._backlog = self._backlog + text, ""
        same = 0
        while same < min(len(text), len(self._due)) and text[same] == self._due[same]:
            same += 1
        if text:
            self._due = self._due[same:] if same == len(text) else ""
        return text[same:]
