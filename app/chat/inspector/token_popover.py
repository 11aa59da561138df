"""The card beside a token: its text, id, bytes and position."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from app.widgets.shadow import Shadow

_PADDING_X, _PADDING_Y, _LABELS, _WIDEST, _RADIUS = 12, 10, 64, 320, 8
_DISTANCE, _EDGE = 8, 8


class TokenPopover(QWidget):
    """Shows labelled values over a window, under or over a place in it. It is deaf to the mouse."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._over = theme, window
        self._rows: tuple[tuple[str, str], ...] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        self._shadow = Shadow(theme, self, _RADIUS)
        self._shadow.hide()
        theme.changed.connect(self.update)

    @property
    def rows(self) -> Sequence[tuple[str, str]]:
        """What is shown."""
        return self._rows

    def show_rows(self, rows: Sequence[tuple[str, str]], anchor: QWidget, place: QRect) -> None:
        """Show `rows` beside `place` in `anchor`: under it where there is room, else over it."""
        self._rows = tuple(rows)
        self.setAccessibleName("; ".join(f"{label}: {value}" for label, value in rows))
        self.resize(self.sizeHint())
        self.move(beside(self, self._over, anchor, place))
        self.show()
        self.raise_()
        self.update()

    def sizeHint(self) -> QSize:
        """Room for the longest value, up to 320 pixels."""
        values = max((QFontMetrics(self._font(label)).horizontalAdvance(value) for label, value in self._rows), default=0)
        return QSize(min(_WIDEST, 2 * _PADDING_X + _LABELS + values + 2), 2 * _PADDING_Y + self._row() * len(self._rows))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        draw_frame(painter, self.rect(), _RADIUS, color("raised"), color("border"))
        for number, (label, value) in enumerate(self._rows):
            line = QRect(_PADDING_X, _PADDING_Y + number * self._row(), self.width() - 2 * _PADDING_X, self._row())
            painter.setFont(self._theme.font("small"))
            painter.setPen(color("ink-3"))
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, label)
            painter.setFont(self._font(label))
            painter.setPen(color("ink"))
            room = line.adjusted(_LABELS, 0, 0, 0)
            text = painter.fontMetrics().elidedText(value, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, text)

    def _row(self) -> int:
        return self._theme.line("token")  # It grows with the text size.

    def _font(self, label: str) -> QFont:
        if label == "Position":
            return self._theme.font("small")
        return self._theme.font("token", 500 if label == "Token" else None)


def beside(card: QWidget, window: QWidget, anchor: QWidget, place: QRect) -> QPoint:
    """Return where in `window` a card goes that is about `place` in `anchor`: under it where there is room, else over it."""
    top_left = anchor.mapTo(window, place.topLeft())
    y = top_left.y() + place.height() + _DISTANCE
    if y + card.height() + _EDGE > window.height():
        y = top_left.y() - card.height() - _DISTANCE
    x = top_left.x() + min(0, place.width() // 2 - 24)
    return QPoint(max(_EDGE, min(x, window.width() - card.width() - _EDGE)), max(_EDGE, y))
