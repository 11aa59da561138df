"""Older turns made into a summary by the model itself, when they no longer fit."""

from collections.abc import Sequence
from dataclasses import replace

from engine.core.facts import Message
from engine.core.messages import Generate
from engine.core.settings import Sampling

LONGEST_SUMMARY = 400
HEADING = "Summary of the conversation so far:"
INSTRUCTION = (
    "Below is the earlier part of a conversation. Summarise it in at most 200 words, in its own language: facts, names, "
    "numbers, decisions and open questions that the rest of the conversation may need. Write the summary only."
)


def with_summary(messages: Sequence[Message], summary: str) -> tuple[Message, ...]:
    """Return the messages with a summary of what came before put into the system message."""
    if not summary.strip():
        return tuple(messages)
    system = "\n\n".join(message.text for message in messages if message.role == "system")
    text = "\n\n".join(part for part in (system, f"{HEADING}\n{summary.strip()}") if part.strip())
    return (Message("system", text), *(message for message in messages if message.role != "system"))


def reserve(context: int, max_tokens: int) -> int:
    """Return the tokens kept free for a reply: what it may take, at most a quarter of the context."""
    return min(max_tokens, context // 4)


def summary_tokens(context: int) -> int:
    """Return the tokens that a summary may take: 400, but at most a quarter of the context."""
    return min(LONGEST_SUMMARY, context // 4)


def summary_request(request: Generate, gone: Sequence[Message], characters: int, tokens: int = LONGEST_SUMMARY) -> Generate:
    """Return the request that makes a summary of at most `tokens` of `gone` and of the summary before.

    The text to summarise is cut to `characters`. What is cut is the oldest, but for the earlier summary, which stands for what
    is older still.
    """
    told = "\n\n".join(f"{message.role.capitalize()}: {message.text}" for message in gone)
    earlier = f"{HEADING}\n{request.summary.strip()}\n\n" if request.summary.strip() else ""
    room = max(0, characters - len(earlier))
    told = told[-room:] if room else ""
    return replace(
        request,
        messages=(Message("user", f"{INSTRUCTION}\n\n{earlier}{told}"),),
        sampling=Sampling(temperature=0.0, max_tokens=tokens),
        when_full="roll",
        summary="",
        keep_probabilities="off",
    )
