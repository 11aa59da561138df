"""A small card of labelled figures beside what they explain."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHideEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from app.widgets.shadow import Shadow

_PADDING_X, _PADDING_Y, _ROW, _BETWEEN, _DISTANCE, _RADIUS = 16, 12, 20, 24, 8, 8


class FactsPopover(QWidget):
    """Shows rows of (label, value) over a window, under or over an anchor; a press elsewhere or Escape closes it."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._over = theme, window
        self._rows: tuple[tuple[str, str], ...] = ()
        self._anchor: QWidget | None = None
        self.setObjectName("factsPopover")
        self.hide()
        self._shadow = Shadow(theme, self, _RADIUS)
        self._shadow.hide()
        theme.changed.connect(self.update)

    @property
    def rows(self) -> Sequence[tuple[str, str]]:
        """What is shown."""
        return self._rows

    def show_rows(self, rows: Sequence[tuple[str, str]], anchor: QWidget, *, place: QRect | None = None) -> None:
        """Show `rows` beside `anchor`, or beside `place` in it: above it where there is room, else below."""
        self._rows, self._anchor = tuple(rows), anchor
        self.setAccessibleName("; ".join(f"{label}: {value}" for label, value in rows))
        self.resize(self.sizeHint())
        over = self._over
        rect = place or anchor.rect()
        top_left = anchor.mapTo(over, rect.topLeft())
        y = top_left.y() - self.height() - _DISTANCE
        if y < _DISTANCE:
            y = top_left.y() + rect.height() + _DISTANCE
        x = min(max(_DISTANCE, top_left.x()), over.width() - self.width() - _DISTANCE)
        self.move(QPoint(x, y))
        self.show()
        self.raise_()
        self.update()
        application = QApplication.instance()
        if application:
            application.installEventFilter(self)

    def hideEvent(self, _event: QHideEvent) -> None:
        """Stop listening."""
        application = QApplication.instance()
        if application:
            application.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Close at a press elsewhere, at Escape, and when the window or what it is about goes."""
        gone = watched is self._anchor and event.type() == QEvent.Type.Hide
        if gone or event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.Wheel, QEvent.Type.WindowDeactivate):
            self.hide()
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            self.hide()
            return True
        return False

    def sizeHint(self) -> QSize:
        """Room for the longest label and the longest value."""
        metrics = QFontMetrics(self._theme.font("small"))
        labels = max((metrics.horizontalAdvance(label) for label, _ in self._rows), default=0)
        values = max((metrics.horizontalAdvance(value) for _, value in self._rows), default=0)
        return QSize(2 * _PADDING_X + labels + _BETWEEN + values, 2 * _PADDING_Y + _ROW * len(self._rows))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        draw_frame(painter, self.rect(), _RADIUS, color("raised"), color("border"))
        painter.setFont(self._theme.font("small"))
        for index, (label, value) in enumerate(self._rows):
            line = QRect(_PADDING_X, _PADDING_Y + index * _ROW, self.width() - 2 * _PADDING_X, _ROW)
            painter.setPen(color("ink-2"))
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, label)
            painter.setPen(color("ink"))
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, value)
