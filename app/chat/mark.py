"""Flint's mark, its stone in the inks of the mode in force."""

from PySide6.QtCore import QByteArray, QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from engine.core.paths import resource

# The colours the file is drawn in, and the roles they stand for.
_FACETS = {"#57524D": "ink-2", "#E8590C": "accent", "#68625C": "ink-3", "#1C1917": "ink"}


class Mark(QWidget):
    """48 px square."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._source = resource("icons", "mark.svg").read_text("utf-8")
        self._renderer = QSvgRenderer(self)
        self.setFixedSize(48, 48)
        theme.changed.connect(self._tint)
        self._tint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the mark."""
        del event
        self._renderer.render(QPainter(self), QRectF(self.rect()))

    def _tint(self) -> None:
        source = self._source
        for color, role in _FACETS.items():
            source = source.replace(color, self._theme.color(role).name())
        self._renderer.load(QByteArray(source.encode()))
        self.update()
