"""What lies over the models window while a file is dragged over it."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame, faded

_TEXT = "Drop to import"
_INSET, _RADIUS = 8, 12
_SIDE, _ABOVE = 16, 12


class DropOverlay(QWidget):
    """Covers its parent, deaf to the mouse, with a frame and a word."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def cover(self) -> None:
        """Lie over the parent as it is now."""
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(parent.rect())
        self.show()
        self.raise_()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        painter.fillRect(self.rect(), faded(color("content"), 0.8))
        draw_frame(painter, self.rect().adjusted(_INSET, _INSET, -_INSET, -_INSET), _RADIUS, None, color("accent"), 2)
        painter.setFont(self._theme.font("section"))
        words = painter.fontMetrics().size(0, _TEXT)
        card = QRect(0, 0, words.width() + 2 * _SIDE, words.height() + 2 * _ABOVE)
        card.moveCenter(self.rect().center())
        draw_frame(painter, card, 8, color("raised"), color("border"))
        painter.setPen(color("ink"))
        painter.drawText(card, Qt.AlignmentFlag.AlignCenter, _TEXT)
