"""How a prompt meets the KV cache: its ids as they were written, what of it stays pinned, where a later one will agree."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.errors import TemplateError
from engine.core.messages import Message
from engine.inference.layout import Place, places
from engine.inference.template import Prompt, render_text

OTHER = "\ue000"
"""A text that no message begins with, put in place of one to see what of the prompt depends on it."""


@dataclass(frozen=True)
class Plan:
    """`ids` to read; the first `pinned` of them are the same for every chat with this system prompt.

    `marks` are the numbers of leading ids after which another prompt may go on: after the pinned ones, after the user's turns,
    and before the last one, which may be edited. `ends` holds, for each message, after how many ids it is complete.
    """

    ids: tuple[int, ...]
    pinned: int
    marks: tuple[int, ...]
    ends: tuple[int, ...]


def plan(tokenizer: Any, messages: Sequence[Message], prompt: Prompt, fingerprint: str, turns: int = 8) -> Plan:
    """Return the plan of a rendered prompt, with marks after its newest `turns` user turns.

    A reply that this model wrote (its `fingerprint` says so) is given the ids it was written with, since its text does not
    always encode to the same ones. Where the template treats the same messages differently later (it may drop reasoning), the
    marks stand before that: they are found by rendering what may come next, not assumed.
    """
    ids, ends = _encoded(tokenizer, prompt)
    found = places(tokenizer, messages, prompt.text)
    for start, stop, written in _written(tokenizer, messages, prompt, found, fingerprint):
        ids, ends = _spliced(ids, ends, start, stop, written)

    def agreed(*other: Message) -> int:
        return min(bisect_right(ends, _agreed(tokenizer, prompt, other)), len(ids) - 1)

    asked, answered = Message("user", OTHER), Message("assistant", OTHER)
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    pinned = agreed(*messages[: users[0] if users else len(messages)], asked)
    marks = {pinned} | {agreed(*messages[: index + 1], answered, asked) for index in users[-turns:]}
    if users:
        marks.add(agreed(*messages[: users[-1]], asked))
    complete = tuple(bisect_right(ends, at) for at in _message_ends(found))
    return Plan(tuple(ids), pinned, tuple(sorted(mark for mark in marks if mark > 0)), complete)


def _encoded(tokenizer: Any, prompt: Prompt) -> tuple[list[int], list[int]]:
    """Return the prompt's ids, and for each where in the text it ends."""
    try:
        encoded = tokenizer(prompt.text, add_special_tokens=False, return_offsets_mapping=True)
        ids, ends = list(encoded["input_ids"]), [end for _, end in encoded["offset_mapping"]]
    except NotImplementedError:  # A tokenizer without a fast form knows no offsets: nothing can be placed in its text.
        return list(prompt.ids), [len(prompt.text)] * len(prompt.ids)
    return ids, ends


def _agreed(tokenizer: Any, prompt: Prompt, other: Sequence[Message]) -> int:
    """Return how many characters the prompt shares with that of other messages."""
    try:
        text = render_text(tokenizer, other)
    except TemplateError:
        return 0
    length = min(len(text), len(prompt.text))
    if text[:length] == prompt.text[:length]:
        return length
    low, high = 0, length
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if text[:middle] == prompt.text[:middle] else (low, middle)
    return low


def _written(
    tokenizer: Any, messages: Sequence[Message], prompt: Prompt, found: Sequence[Place | None], fingerprint: str
) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return the stretches of the text that this model wrote, with their ids, the last one first."""
    written = []
    for message, place in zip(messages, found, strict=True):
        if place is None or message.role != "assistant" or not message.ids or message.fingerprint != fingerprint:
            continue
        text = tokenizer.decode(list(message.ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        if text == message.text == prompt.text[place[0] : place[1]]:
            written.append((*place, message.ids))
    return written[::-1]


def _spliced(ids: list[int], ends: list[int], start: int, stop: int, written: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Put `written` in place of the ids between two places of the text, where ids begin and end at both."""
    first, last = bisect_right(ends, start), bisect_right(ends, stop)
    begins = start == 0 or (first > 0 and ends[first - 1] == start)
    if not begins or last == 0 or ends[last - 1] != stop:
        return ids, ends
    return [*ids[:first], *written, *ids[last:]], [*ends[:first], *[stop] * len(written), *ends[last:]]


def _message_ends(found: Sequence[Place | None]) -> list[int]:
    """Return where in the text each message ends; one that the template left out ends where the one before does."""
    ends, position = [], 0
    for place in found:
        position = place[1] if place else position
        ends.append(position)
    return ends
