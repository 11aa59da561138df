"""What lies over the models window while a file is dragged over it."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame, faded

_TEXT = "Drop to import"
_INSET, _RADIUS = 8, 12


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
        painter.setPen(color("ink"))
        size = painter.fontMetrics().size(0, _TEXT)
        painter.drawText(
            QRect(self.rect().center().x() - size.width() // 2, 0, size.width() + 2, self.height()),
            Qt.AlignmentFlag.AlignVCenter,
            _TEXT,
        )
