"""A reply while it is shaded: its text on shades, what they mean, and the way back."""

import time

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.chat.inspector.shade_legend import HEIGHT as LEGEND_HEIGHT
from app.chat.inspector.shade_legend import ShadeLegend
from app.chat.inspector.shaded_text import ShadedText
from app.theme import Theme
from app.widgets.link import Link
from engine.core.odds import TokenOdds

_GAP = 8
_SLICE_S, _FIRST_S = 0.005, 0.004


class ShadedReply(QWidget):
    """Stands in the place of a message's text once it is laid out, which `laid` says where it takes longer.

    `closed` asks for the formatted text again.
    """

    closed = Signal()
    laid = Signal()

    def __init__(self, theme: Theme, odds: TokenOdds, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shadedReply")
        self.text = ShadedText(theme, self)
        self.text.show_odds(odds)
        self.odds = odds
        self._legend = ShadeLegend(theme, self)
        self._back = Link(theme, "Show formatted", style="caption", parent=self)
        self._back.setObjectName("showFormatted")
        self._back.clicked.connect(self.closed)
        self._width = 0
        self._slices = QTimer(self, interval=0)
        self._slices.timeout.connect(self._lay_slice)
        self.hide()

    def lay_at(self, width: int) -> bool:
        """Begin to lay it out for `width` pixels; return whether that is done."""
        if width != self._width:
            self._width = width
            if self.text.lay(width, time.perf_counter() + _FIRST_S):
                self._slices.stop()
            else:
                self._slices.start()
        return not self._slices.isActive()

    def _lay_slice(self) -> None:
        if self.text.lay(self._width, time.perf_counter() + _SLICE_S):
            self._slices.stop()
            self.laid.emit()

    def height_at(self, width: int) -> int:
        """Put the parts in their places and return the height they need."""
        height = self.text.height_at(width)
        self.text.setGeometry(0, 0, width, height)
        top = height + _GAP
        size = self._back.sizeHint()
        self._back.setGeometry(0, top, size.width(), size.height())
        if size.width() + self._legend.width() + _GAP > width:  # No room beside each other.
            top += size.height() + _GAP // 2
            self._legend.move(0, top)
        else:
            self._legend.move(width - self._legend.width(), top)
        return top + LEGEND_HEIGHT
