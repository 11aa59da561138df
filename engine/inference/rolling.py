"""What is left out of a prompt that has grown beyond the positions a model was trained for."""

from collections.abc import Sequence

from engine.core.facts import Message


def least(ends: Sequence[int], pinned: int, size: int) -> int:
    """Return how many of a prompt's `size` tokens can not leave before it is answered: the pinned ones and the newest message.

    `ends` are the tokens up to each message's end.
    """
    return pinned + size - max(pinned, ends[-2] if len(ends) > 1 else 0)


def left_out(messages: Sequence[Message], ends: Sequence[int], pinned: int, context: int, positions: int) -> int:
    """Return how many of the messages after the system's are left out, oldest first, so that the rest fits.

    `ends` are the tokens up to each message's end in the whole prompt. The rest begins with a user's message and, once
    something must go, takes at most half of the context, so that it is a while until something must go again. The answer is the
    same for every later prompt of the conversation until then, so that the cache stays good: it is found by going through the
    turns as they came.
    """
    first = next((index for index, message in enumerate(messages) if message.role != "system"), len(messages))
    users = [index for index, message in enumerate(messages) if message.role == "user"]

    def begins(index: int) -> int:
        return ends[index - 1] if index > first else pinned

    start = first
    for index in users:
        if pinned + ends[index] - begins(start) < positions:
            continue
        start = next(
            (other for other in users if start < other <= index and pinned + ends[index] - begins(other) <= context // 2), index
        )
    return start - first
