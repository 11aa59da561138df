"""Why a reply failed and what to do about it, in the critical colour with a sign beside it."""

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.errors import advice
from app.theme import Theme
from engine.core.errors import ErrorInfo

_PADDING, _TEXT_LEFT = 8, 36
_WRAP = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft


class FailureNote(QWidget):
    """A badge as wide as the column: the error's text, and its hint under it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text, self._hint = "", ""
        self.setObjectName("failureNote")
        theme.changed.connect(self.update)

    def show_error(self, error: ErrorInfo | None) -> None:
        """Say what went wrong; None where nothing is known."""
        self._text = error.text if error else "The reply could not be written."
        self._hint = advice(error) if error else "Send the message again."
        self.setAccessibleName(f"Failed: {self._text} {self._hint}")
        self.update()

    def height_at(self, width: int) -> int:
        """Return the height both texts need in `width` pixels."""
        text, hint = self._heights(width)
        return text + hint + 2 * _PADDING

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the badge, the sign and both texts."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("critical-soft"))
        painter.drawRoundedRect(self.rect(), 8, 8)
        painter.drawPixmap(QPoint(12, _PADDING + 2), self._theme.pixmap("warn", "critical", 16, self.devicePixelRatioF()))
        text, hint = self._heights(self.width())
        width = self.width() - _TEXT_LEFT - 12
        painter.setPen(self._theme.color("critical"))
        painter.setFont(self._theme.font("ui", 500))
        painter.drawText(QRect(_TEXT_LEFT, _PADDING, width, text), _WRAP, self._text)
        painter.setFont(self._theme.font("ui"))
        painter.drawText(QRect(_TEXT_LEFT, _PADDING + text, width, hint), _WRAP, self._hint)

    def _heights(self, width: int) -> tuple[int, int]:
        room = QRect(0, 0, max(1, width - _TEXT_LEFT - 12), 10_000)
        line = self._theme.line("ui")
        text = QFontMetrics(self._theme.font("ui", 500)).boundingRect(room, _WRAP, self._text).height()
        hint = QFontMetrics(self._theme.font("ui")).boundingRect(room, _WRAP, self._hint).height() if self._hint else 0
        return max(line, text), max(line, hint) if self._hint else 0
