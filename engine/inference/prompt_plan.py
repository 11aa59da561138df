"""How a prompt meets the KV cache: its ids as they were written, what of it stays pinned, where a later one will agree."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.errors import TemplateError
from engine.core.facts import Message
from engine.inference.detokenize import REPLACEMENT
from engine.inference.encoding import Encoded, encode
from engine.inference.layout import Place, places
from engine.inference.template import Prompt, render_text

OTHER = "\ue000"
"""A text that no message begins with, put in place of one to see what of the prompt depends on it."""


@dataclass(frozen=True)
class Plan:
    """`ids` to read; the first `pinned` of them are the same for every chat with this system prompt.

    `marks` are the numbers of leading ids after which another prompt may go on: after the pinned ones, after the user's turns,
    and before the last one, which may be edited. `ends` holds, for each message, after how many ids it is complete; `stops`,
    for each id, where in the prompt's text it ends (all of a reply's at its end). The last
    `resumed` ids are those of a reply that goes on; `ends` and `stops` know nothing of them.
    """

    ids: tuple[int, ...]
    pinned: int
    marks: tuple[int, ...]
    ends: tuple[int, ...]
    stops: tuple[int, ...] = ()
    resumed: int = 0


def plan(tokenizer: Any, messages: Sequence[Message], prompt: Prompt, fingerprint: str, turns: int = 8) -> Plan:
    """Return the plan of a rendered prompt, with marks after its newest `turns` user turns.

    A reply that this model wrote (its `fingerprint` says so) is given the ids it was written with, since its text does not
    always encode to the same ones. Where the template treats the same messages differently later (it may drop reasoning), the
    marks stand before that: they are found by rendering what may come next, not assumed.
    """
    found = places(tokenizer, messages, prompt.text)
    encoded = list(prompt.ids), list(prompt.ends)
    ids, ends = with_replies(tokenizer, messages, prompt.text, found, fingerprint, encoded)

    def agreed(*other: Message, before_text: bool = False) -> int:
        length = _agreed(tokenizer, prompt.text, other, before_text)
        return min(bisect_right(ends, length), len(ids) - 1)

    asked, answered = Message("user", OTHER), Message("assistant", OTHER)
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    pinned = pinned_in(tokenizer, messages, prompt.text, (ids, ends))
    marks = {pinned} | {agreed(*messages[: index + 1], answered, asked) for index in users[-turns:]}
    if users:
        marks.add(agreed(*messages[: users[-1]], asked, before_text=True))
    complete = tuple(bisect_right(ends, at) for at in _message_ends(found))
    return Plan(tuple(ids), pinned, tuple(sorted(mark for mark in marks if mark > 0)), complete, tuple(ends))


def pinned_in(tokenizer: Any, messages: Sequence[Message], text: str, encoded: Encoded) -> int:
    """Return how many ids of a prompt are the same for every chat with this system prompt."""
    first = next((index for index, message in enumerate(messages) if message.role == "user"), len(messages))
    length = _agreed(tokenizer, text, (*messages[:first], Message("user", OTHER)), before_text=True)
    return min(bisect_right(encoded[1], length), len(encoded[0]) - 1)


def _agreed(tokenizer: Any, prompt: str, other: Sequence[Message], before_text: bool) -> int:
    """Return how many characters the prompt shares with that of other messages."""
    try:
        text = render_text(tokenizer, other)
    except TemplateError:
        return 0
    low, high = 0, min(len(text), len(prompt))
    if text[:high] == prompt[:high]:
        low = high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if text[:middle] == prompt[:middle] else (low, middle)
    # Spaces and line breaks may be one token with what somebody writes after them.
    return len(prompt[:low].rstrip()) if before_text else low


def with_replies(
    tokenizer: Any,
    messages: Sequence[Message],
    text: str,
    found: Sequence[Place | None],
    fingerprint: str,
    encoded: Encoded,
    first: int = 0,
) -> Encoded:
    """Return a prompt's ids and where in the text each ends, with the ids of the replies that this model wrote put in.

    Those of the messages before the `first` are in `encoded` already.
    """
    for index in range(len(messages) - 1, first - 1, -1):  # The last first: what is before it stays where it is.
        message, place = messages[index], found[index]
        if place is None or message.role != "assistant" or not message.ids or message.fingerprint != fingerprint:
            continue
        written = tokenizer.decode(list(message.ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        # A reply that was cut inside a character has half of it among its ids, and not in its text.
        same = written.rstrip(REPLACEMENT) == message.text.rstrip(REPLACEMENT)
        if same and message.text == text[place[0] : place[1]]:
            before = found[index - 1] if index else None
            opening = before[1] if before else place[0]
            encoded = _spliced(tokenizer, text, encoded, (opening, *place), message.ids)
    return encoded


def _spliced(tokenizer: Any, text: str, encoded: Encoded, stretch: tuple[int, int, int], written: Sequence[int]) -> Encoded:
    """Put `written` in place of a reply's ids. In `stretch` the reply's opening begins, and the reply begins and ends.

    The opening gets the ids that it had while nothing followed it: a line break at its end may be one token with another
    before it, or with what the reply begins with. Where ids do not begin and end at these places all stays as it is.
    """
    ids, ends = encoded
    opening, start, stop = stretch
    last = bisect_right(ends, stop)
    if not last or ends[last - 1] != stop:
        return encoded
    first = bisect_right(ends, opening)
    own, own_ends = encode(tokenizer, text[opening:start])
    apart = opening == 0 or (first > 0 and ends[first - 1] == opening)
    if not apart or encode(tokenizer, text[opening:stop])[0] != ids[first:last]:
        first, own, own_ends = bisect_right(ends, start), [], []
        if start and (not first or ends[first - 1] != start):
            return encoded
    middle = [*(opening + end for end in own_ends), *[stop] * len(written)]
    return [*ids[:first], *own, *written, *ids[last:]], [*ends[:first], *middle, *ends[last:]]


def _message_ends(found: Sequence[Place | None]) -> list[int]:
    """Return where in the text each message ends; one that the template left out ends where the one before does."""
    ends, position = [], 0
    for place in found:
        position = place[1] if place else position
        ends.append(position)
    return ends
