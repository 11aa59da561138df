"""What the shades of a reply's tokens mean: from expected to surprising."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame

HEIGHT = 16
_SWATCH, _GAP = QSize(16, 12), 6
_ENDS = ("expected", "surprising")


class ShadeLegend(QWidget):
    """16 pixels high: a word, four swatches, a word."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName(
            "Shades: expected, with a probability of 60% or more, is not shaded; surprising is shaded most, under 10%"
        )
        self.setToolTip("No shade: 60% or more. Then under 60%, under 30%, and under 10%.")
        self.setFixedSize(self.sizeHint())
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Room for the words and the swatches."""
        metrics = QFontMetrics(self._theme.font("caption"))
        words = sum(metrics.horizontalAdvance(word) for word in _ENDS)
        return QSize(words + 4 * (_SWATCH.width() + _GAP) + _GAP + 2, HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        painter.setFont(self._theme.font("caption"))
        painter.setPen(color("ink-3"))
        x = painter.fontMetrics().horizontalAdvance(_ENDS[0])
        painter.drawText(QRect(0, 0, x + 2, HEIGHT), Qt.AlignmentFlag.AlignVCenter, _ENDS[0])
        x += _GAP
        for role in ("", "p2", "p3", "p4"):
            swatch = QRect(x, 2, _SWATCH.width(), _SWATCH.height())
            draw_frame(painter, swatch, 0, color(role) if role else None, None if role else color("border"))
            x += _SWATCH.width() + _GAP
        painter.setPen(color("ink-3"))
        painter.drawText(QRect(x, 0, self.width() - x, HEIGHT), Qt.AlignmentFlag.AlignVCenter, _ENDS[1])
