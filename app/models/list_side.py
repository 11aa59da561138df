"""The left part of a page of the models window, where its list stands."""

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.theme import Theme
from app.widgets.frame import draw_hairline

_WIDTH, _SHARE = 456, 46


class ListSide(QWidget):
    """456 px wide, with larger text up to 46 percent of the page; a line at its right."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setMinimumWidth(_WIDTH)
        theme.changed.connect(self._grow)
        self._grow()

    def beside(self, detail: QWidget, page: QWidget) -> None:
        """Lay `page` out: this, and the `detail` of what is chosen at its right."""
        layout = QHBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self, _SHARE)
        layout.addWidget(detail, 100 - _SHARE)

    def paintEvent(self, _event: QPaintEvent) -> None:
        x = self.width() - 1
        draw_hairline(QPainter(self), QPointF(x, 0), QPointF(x, self.height()), self._theme.color("separator"))

    def _grow(self) -> None:
        self.setMaximumWidth(max(_WIDTH, self._theme.grown(_WIDTH)))
        self.update()
