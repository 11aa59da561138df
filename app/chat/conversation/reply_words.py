"""What is said aloud when a reply has ended."""

from engine.chats.records import StoredMessage

_LONGEST = 300


def ending_words(message: StoredMessage, shown: str) -> str:
    """Return how a reply ended and how it begins, from the text as it is `shown`."""
    text = " ".join(shown.split())
    begins = text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(' ', 1)[0]}…"
    if message.state == "failed":
        return f"The reply failed: {message.error.text}" if message.error else "The reply failed."
    if message.state == "cancelled":
        return f"Reply stopped: {begins}" if begins else "Reply stopped."
    return f"Reply: {begins}" if begins else "The reply is empty."
