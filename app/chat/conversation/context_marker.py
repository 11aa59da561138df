"""The line in a conversation above which the model sees nothing any more."""

from PySide6.QtCore import QPointF, QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.frame import draw_hairline
from app.widgets.link import Link
from engine.core.sizes import count_text

ABOVE, HEIGHT, BELOW = 8, 16, 12
ROOM = ABOVE + HEIGHT + BELOW
_APART, _ICON = 12, 12


class ContextMarker(QWidget):
    """Line, words, line; 16 high. Where a summary stands for what left, a link asks to see it."""

    summary_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text = ""
        self.setObjectName("contextMarker")
        self._link = Link(theme, "Show summary", style="caption", parent=self)
        self._link.setObjectName("showSummary")
        self._link.clicked.connect(self.summary_requested)
        self._link.hide()
        self.hide()
        theme.changed.connect(self.update)

    @property
    def text(self) -> str:
        """The words."""
        return self._text

    def show_count(self, messages: int, *, summarised: bool = False) -> None:
        """Say how many messages left the context, and whether a summary stands for them."""
        self._text = f"Left the context: {count_text(messages, 'message')}"
        if summarised:
            self._text += ", summarised"
        self._link.setVisible(summarised)
        self.setAccessibleName(self._text)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self._theme.font("caption"))
        words = painter.fontMetrics().horizontalAdvance(self._text)
        link = self._link.width() + _APART if self._link.isVisibleTo(self) else 0
        left = (self.width() - words - _ICON - 6 - link) // 2
        y = self.height() / 2
        line = self._theme.color("separator")
        draw_hairline(painter, QPointF(0, y), QPointF(left - _APART, y), line)
        self._link.move(left + _ICON + 6 + words + _APART, (self.height() - self._link.height()) // 2)
        draw_hairline(painter, QPointF(left + _ICON + 6 + words + link + _APART, y), QPointF(self.width(), y), line)
        ratio = self.devicePixelRatioF()
        painter.drawPixmap(left, (self.height() - _ICON) // 2, self._theme.pixmap("arrowup", "ink-3", _ICON, ratio))
        painter.setPen(self._theme.color("ink-3"))
        painter.drawText(QRect(left + _ICON + 6, 0, words + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, self._text)
