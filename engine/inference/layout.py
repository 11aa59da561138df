"""Where in a rendered prompt each message stands, found from the template itself and not by looking for the text.

A reply of one word, “user”, stands in a prompt many times. So the conversation is rendered once more with a stand-in for every
text: what lies between two stand-ins is the template's own, and leads through the prompt from one message to the next.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.core.errors import TemplateError
from engine.core.facts import Message
from engine.inference.template import render_text

_STAND_IN = re.compile("\ue000([0-9]+)\ue001")

type Place = tuple[int, int]


def places(tokenizer: Any, messages: Sequence[Message], text: str) -> list[Place | None]:
    """Return where the content of each message begins and ends in the rendered `text`; None where that can't be told.

    So it is for what the template left out, and for everything behind a message around which it writes something else than
    around a short one.
    """
    stand_ins = [f"\ue000{index}\ue001" for index in range(len(messages))]
    found: list[Place | None] = [None] * len(messages)
    try:
        blank = render_text(tokenizer, [replace(one, text=name) for one, name in zip(messages, stand_ins, strict=True)])
    except TemplateError:
        return found
    order = [(match.start(), int(match[1])) for match in _STAND_IN.finditer(blank)]  # One look: there may be a thousand.
    if len({index for _, index in order}) < len(order):
        return found
    starts = [start for start, _ in order] + [len(blank)]
    position = starts[0]
    if text[:position] != blank[:position]:
        return found
    for (start, index), following in zip(order, starts[1:], strict=True):
        own = blank[start + len(stand_ins[index]) : following]
        end = _end(text, position, messages[index].text, own, last=following == len(blank))
        if end is None:
            break
        found[index] = (position, end)
        position = end + len(own)
    return found


def _end(text: str, position: int, content: str, own: str, *, last: bool) -> int | None:
    """Return where the content that begins at `position` ends: where the template's `own` text follows it."""
    if last:
        end = len(text) - len(own)
        return end if end >= position and text.endswith(own) else None
    for given in (content, content.strip()):
        if text.startswith(given + own, position):
            return position + len(given)
    end = text.find(own, position) if own else -1  # The template changed the content: it may drop reasoning.
    return None if end < 0 else end
