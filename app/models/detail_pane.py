"""The right part of the models window, whose page scrolls: what all that stands there has in common."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QScrollArea, QVBoxLayout, QWidget

from app.theme import Theme

_ROOMY = 420


class DetailPane(QScrollArea):
    """Scrolls up and down over the panel's colour. `body` holds the parts, and is hidden while there is nothing to show."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._pairs: list[QBoxLayout] = []
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
        theme.changed.connect(self._arrange)
        # Both fill themselves with the system's colour unless told not to.
        page.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
        theme.changed.connect(self.viewport().update)

    def pair(self) -> QBoxLayout:
        """Return a line whose parts stand under each other where the text is too large for the pane."""
        line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        line.setSpacing(8)
        self._pairs.append(line)
        return line

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        narrow = self.width() < self._theme.grown(_ROOMY)
        for line in self._pairs:
            line.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self.viewport()).fillRect(self.viewport().rect(), self._theme.color("panel"))
        super().paintEvent(event)
