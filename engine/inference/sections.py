"""Which part of a rendered prompt belongs to which message, the template's own words around it included.

Where one message ends and the next begins is the template's business. It is found by rendering a short conversation of
stand-ins: what follows the last text closes a turn of its role, and what of the words between two texts is left opens the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.errors import TemplateError
from engine.core.facts import Message
from engine.inference.layout import places
from engine.inference.template import render_closed

ASKED, ANSWERED, ASKED_AGAIN = "\ue000a\ue001", "\ue000b\ue001", "\ue000c\ue001"
TEMPLATE = "template"
"""The role of what the template adds by itself, as a system prompt of its own."""


@dataclass(frozen=True)
class Section:
    """A stretch of the prompt up to the character `stop`; `role` is a message's, or `TEMPLATE`."""

    role: str
    stop: int


@dataclass(frozen=True)
class _Frame:
    """What the template writes around texts: what closes a turn of a role, and what opens a user's."""

    closes: dict[str, str]
    opens_user: str


def sections(tokenizer: Any, messages: Sequence[Message], text: str) -> list[Section]:
    """Return the stretches of the rendered prompt `text` in order, the opening of the reply last.

    What can't be told apart (a template that changes what it is given) stays with the message before it.
    """
    frame = _frame(tokenizer)
    found_at = places(tokenizer, messages, text)
    placed = [(place, message.role) for place, message in zip(found_at, messages, strict=True) if place]
    if not placed:
        return [Section(TEMPLATE, len(text))]
    found = _leading(frame, placed[0][1], text[: placed[0][0][0]])
    for index, ((_, end), role) in enumerate(placed):
        following = placed[index + 1][0][0] if index + 1 < len(placed) else len(text)
        close = frame.closes.get("user" if role == "system" else role, "")
        gap = text[end:following]
        found.append(Section(role, end + (len(close) if gap.startswith(close) else 0)))
    if found[-1].stop < len(text):  # Behind a message that could not be placed it is not the reply's opening.
        found.append(Section("assistant" if found_at[-1] else TEMPLATE, len(text)))
    return found


def _leading(frame: _Frame, role: str, lead: str) -> list[Section]:
    """Return the template's own section before the first message, where it says more than a mark of the beginning."""
    if role != "user" or not frame.opens_user or not lead.endswith(frame.opens_user):
        return []
    own = lead[: len(lead) - len(frame.opens_user)]
    return [Section(TEMPLATE, len(own))] if any(letter.isspace() for letter in own.strip()) else []


def _frame(tokenizer: Any) -> _Frame:
    asked, answered, again = Message("user", ASKED), Message("assistant", ANSWERED), Message("user", ASKED_AGAIN)
    try:
        text = render_closed(tokenizer, (asked, answered, again))
        reply_last = render_closed(tokenizer, (asked, answered))
    except TemplateError:
        return _Frame({}, "")
    closes_user = text.partition(ASKED_AGAIN)[2]
    closes_reply = reply_last.partition(ANSWERED)[2]
    between = text.partition(ANSWERED)[2].partition(ASKED_AGAIN)[0]
    opens = between[len(closes_reply) :] if between.startswith(closes_reply) else ""
    return _Frame({"user": closes_user, "assistant": closes_reply}, opens)
