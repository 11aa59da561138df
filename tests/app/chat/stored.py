"""Stored messages for tests of the chat's widgets."""

from engine.chats.records import StoredMessage
from engine.core.facts import ReplyFacts
from engine.core.settings import Sampling


def facts(**changes):
    """What picture 01 shows under its first reply."""
    values = {
        "model": "m",
        "finish_reason": "stop",
        "seed": 1,
        "prompt_tokens": 16_900,
        "cached_tokens": 16_600,
        "output_tokens": 386,
        "ttft_s": 0.41,
        "prefill_s": 0.3,
        "decode_s": 6.2,
        "prefill_tps": 900.0,
        "decode_tps": 62.3,
        "weights_bytes": 1,
        "kv_bytes": 1,
        "peak_bytes": 1,
        "context": 32_768,
        "fingerprint": "f",
        "template_hash": "t",
        "sampling": Sampling(),
    }
    return ReplyFacts(**{**values, **changes})


def message(message_id, role, text, chat_id="chat", **changes):
    """A complete message; a reply has its facts."""
    values = {
        "parent_id": None,
        "reasoning": "",
        "state": "complete",
        "created_at": 0.0,
        "model_id": "m",
        "facts": facts() if role == "assistant" else None,
        "error": None,
        "sibling_index": 0,
        "sibling_count": 1,
    }
    return StoredMessage(id=str(message_id), chat_id=chat_id, role=role, text=text, **{**values, **changes})


def asked(message_id, text="A question?", **changes):
    """A user's message."""
    return message(message_id, "user", text, **changes)


def replied(message_id, text="An answer.", **changes):
    """A reply that is complete."""
    return message(message_id, "assistant", text, **changes)


def writing(message_id, text="", **changes):
    """A reply that is being written."""
    return message(message_id, "assistant", text, **{"state": "streaming", "facts": None, **changes})
