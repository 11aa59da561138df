"""Replies that were cut, and what is told of one that was written in several stretches."""

from dataclasses import replace

from engine.chats.records import StoredMessage
from engine.core.facts import Message, ReplyFacts

HALF_CHARACTER = "\ufffd"


def is_cut(message: StoredMessage) -> bool:
    """Return whether a reply ended before the model was done, so that it can go on."""
    if message.role != "assistant" or message.edited or is_unbegun(message):
        return False
    if message.state == "complete":
        return message.facts is not None and message.facts.finish_reason == "length"
    return message.state in ("cancelled", "interrupted", "failed")


def is_unbegun(message: StoredMessage) -> bool:
    """Return whether a model wrote nothing of a reply: no word, and no token that shows nothing yet, as half a character."""
    words = (message.text or message.reasoning).strip()
    return message.role == "assistant" and not words and not (message.facts and message.facts.output_ids)


def text_to_continue(text: str) -> str:
    """Return a cut reply's text without the sign for a character that was cut in half: it comes whole now."""
    return text.rstrip(HALF_CHARACTER)


def begun_turn(facts: ReplyFacts) -> Message | None:
    """Return what a reply had before its last stretch, as the open turn it went on from; None where it was written at once."""
    begun = facts.output_ids[: facts.resumed[-1]] if facts.resumed else ()
    return Message("assistant", "", begun, facts.fingerprint) if begun else None


def joined(before: ReplyFacts | None, now: ReplyFacts | None) -> ReplyFacts | None:
    """Return the facts of a reply that went on: `now` counts all its tokens, and the times of both stretches are added.

    The time to the first token is the first stretch's; what was known and read is the last one's.
    """
    if before is None or now is None:
        return now
    decode_s = before.decode_s + now.decode_s
    timed = before.decode_tps * before.decode_s + now.decode_tps * now.decode_s
    return replace(
        now,
        ttft_s=before.ttft_s or now.ttft_s,
        prefill_s=before.prefill_s + now.prefill_s,
        decode_s=decode_s,
        decode_tps=timed / decode_s if decode_s > 0 else 0.0,
        reasoning_s=before.reasoning_s + now.reasoning_s,
        resumed=(*before.resumed, *now.resumed),
    )
