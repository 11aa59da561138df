"""The space between messages, and how high one will probably be."""

from app.chat.conversation.context_marker import ROOM
from engine.chats.records import StoredMessage

EDGE = 24
LINE = 24
COLUMN, MARGINS = 720, 48
# A message's view is this much wider than the column on each side: icons and focus rings stick out.
BLEED = 8
_ABOVE_TURN, _ABOVE_REPLY = 24, 20
_CHARACTERS_A_LINE = 95


def gap_above(message: StoredMessage, *, first: bool, marked: bool) -> int:
    """Return the pixels above a message; `marked`, the context's mark stands there too."""
    if first:
        return 0
    return (ROOM if marked else 0) + (_ABOVE_TURN if message.role == "user" else _ABOVE_REPLY)


def estimated_height(message: StoredMessage, width: int) -> int:
    """Return about how high a message is in a column of `width` pixels, without looking at its markdown."""
    lines = 1 + message.text.count("\n") + len(message.text) * COLUMN // (_CHARACTERS_A_LINE * width)
    return lines * LINE + (28 if message.role == "assistant" else 16)
