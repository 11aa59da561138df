"""The field that searches all chats."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.filter_field import PADDING, FilterField
from app.widgets.frame import draw_frame
from app.widgets.line_field import RADIUS


class SearchField(FilterField):
    """Shows its shortcut at the right while it is empty. `left` is for Escape in an empty field."""

    left = Signal()

    def __init__(self, theme: Theme, shortcut: QKeySequence, parent: QWidget | None = None) -> None:
        self._shortcut = shortcut.toString(QKeySequence.SequenceFormat.NativeText)
        super().__init__(theme, "chatSearch", "Search the chats", parent)
        self.setPlaceholderText("Search")
        self.clearing.setObjectName("clearSearchButton")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape leaves an empty field."""
        if event.key() == Qt.Key.Key_Escape and not self.text():
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def draw_ground(self, painter: QPainter) -> None:
        """Draw the magnifier and the shortcut; a frame only while words are typed."""
        color = self._theme.color
        if self.hasFocus():
            draw_frame(painter, self.rect(), RADIUS, color("field"), color("accent"))
        else:
            draw_frame(painter, self.rect(), RADIUS, color("selected"))
        self.draw_magnifier(painter)
        if not self.text():
            painter.setFont(self._theme.font("caption"))
            painter.setPen(color("ink-3"))
            box = self.rect().adjusted(PADDING, 0, -PADDING, 0)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._shortcut)

    def room_at_right(self) -> int:
        """Return the pixels that the shortcut takes."""
        return self.fontMetrics().horizontalAdvance(self._shortcut) + 12
