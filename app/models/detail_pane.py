"""The right part of the models window, whose page scrolls: what all that stands there has in common."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.theme import Theme


class DetailPane(QScrollArea):
    """Scrolls up and down over the panel's colour. `body` holds the parts, and is hidden while there is nothing to show."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        page = QWidget()
        self.body = QWidget(page)
        outer = QVBoxLayout(page)
        outer.setContentsMargins(24, 16, 24, 16)
        outer.addWidget(self.body)
        outer.addStretch(1)
        self.setWidget(page)
        # Both fill themselves with the system's colour unless told not to.
        page.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
        theme.changed.connect(self.viewport().update)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self.viewport()).fillRect(self.viewport().rect(), self._theme.color("panel"))
        super().paintEvent(event)
