"""How a prompt meets the KV cache: its ids as they were written, what of it stays pinned, where a later one will agree."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.errors import TemplateError
from engine.core.messages import Message
from engine.inference.template import Prompt, render_text

OTHER = "§"
"""A text that no message begins with by chance, put in place of one to see what of the prompt depends on it."""


@dataclass(frozen=True)
class Plan:
    """`ids` to read; the first `pinned` of them are the same for every chat with this system prompt.

    `marks` are the numbers of leading ids after which another prompt may go on: after the pinned ones and after the user's
    turns. `ends` holds, for each message, after how many ids it is complete.
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
    for start, stop, written in _written(tokenizer, messages, prompt, fingerprint):
        ids, ends = _spliced(ids, ends, start, stop, written)
    pinned = bisect_right(ends, _agreed(tokenizer, prompt, [*messages[: _first_user(messages)], Message("user", OTHER)]))
    marks = {min(pinned, len(ids) - 1)}
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    for index in users[-turns:]:
        later = [*messages[: index + 1], Message("assistant", OTHER), Message("user", OTHER)]
        marks.add(min(bisect_right(ends, _agreed(tokenizer, prompt, later)), len(ids) - 1))
    complete = tuple(bisect_right(ends, at) for at in _message_ends(messages, prompt.text))
    return Plan(tuple(ids), min(pinned, len(ids) - 1), tuple(sorted(mark for mark in marks if mark > 0)), complete)


def _encoded(tokenizer: Any, prompt: Prompt) -> tuple[list[int], list[int]]:
    """Return the prompt's ids, and for each where in the text it ends."""
    try:
        encoded = tokenizer(prompt.text, add_special_tokens=False, return_offsets_mapping=True)
        ids, ends = list(encoded["input_ids"]), [end for _, end in encoded["offset_mapping"]]
    except NotImplementedError:  # A tokenizer without a fast form knows no offsets: nothing can be placed in its text.
        return list(prompt.ids), [len(prompt.text)] * len(prompt.ids)
    return ids, ends


def _first_user(messages: Sequence[Message]) -> int:
    return next((index for index, message in enumerate(messages) if message.role == "user"), len(messages))


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
    tokenizer: Any, messages: Sequence[Message], prompt: Prompt, fingerprint: str
) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return the stretches of the text that this model wrote, with their ids, the last one first."""
    found, position = [], 0
    for message in messages:
        start = prompt.text.find(message.text, position) if message.text else -1
        if start < 0:
            continue
        position = start + len(message.text)
        if message.role == "assistant" and message.ids and message.fingerprint == fingerprint:
            text = tokenizer.decode(list(message.ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
            if text == message.text:
                found.append((start, position, message.ids))
    return found[::-1]


def _spliced(ids: list[int], ends: list[int], start: int, stop: int, written: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Put `written` in place of the ids between two places of the text, where ids begin and end at both."""
    first, last = bisect_right(ends, start), bisect_right(ends, stop)
    begins = start == 0 or (first > 0 and ends[first - 1] == start)
    if not begins or last == 0 or ends[last - 1] != stop:
        return ids, ends
    return [*ids[:first], *written, *ids[last:]], [*ends[:first], *[stop] * len(written), *ends[last:]]


def _message_ends(messages: Sequence[Message], text: str) -> list[int]:
    """Return where in the text each message ends; one that the template left out ends where the one before does."""
    found, position = [], 0
    for message in messages:
        wanted = message.text.strip()
        start = text.find(wanted, position) if wanted else -1
        position = start + len(wanted) if start >= 0 else position
        found.append(position)
    return found
