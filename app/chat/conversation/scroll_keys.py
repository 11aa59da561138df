"""Which keys scroll a list, and how far."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollBar

from app.chat.conversation.spacing import LINE


def scroll_step(key: int, bar: QScrollBar) -> int | None:
    """Return how many pixels a key scrolls, None where it is none that does; Home and End go all the way."""
    page = max(LINE, bar.pageStep() - 2 * LINE)
    steps = {
        Qt.Key.Key_PageUp: -page,
        Qt.Key.Key_PageDown: page,
        Qt.Key.Key_Space: page,
        Qt.Key.Key_Up: -2 * LINE,
        Qt.Key.Key_Down: 2 * LINE,
        Qt.Key.Key_Home: -bar.maximum(),
        Qt.Key.Key_End: bar.maximum(),
    }
    return steps.get(Qt.Key(key))
