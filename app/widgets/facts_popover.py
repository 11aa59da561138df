"""A small card of labelled figures beside what they explain."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QHideEvent, QKeyEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.theme import Theme
from app.widgets.button import Button
from app.widgets.frame import draw_frame
from app.widgets.shadow import Shadow

_PADDING_X, _PADDING_Y, _ROW, _BETWEEN, _DISTANCE, _RADIUS = 16, 12, 20, 24, 8, 8
_HEADING, _COLUMNS_APART, _ABOVE_BUTTON = 28, 32, 12
_LONGEST_VALUE, _HIGHEST = 280, 400
_STEPS: dict[int, int] = {Qt.Key.Key_Up: -2, Qt.Key.Key_Down: 2, Qt.Key.Key_PageUp: -8, Qt.Key.Key_PageDown: 8}
_LEAVE = (QEvent.Type.MouseButtonPress, QEvent.Type.Wheel)


class FactsPopover(QWidget):
    """Shows rows of (label, value) over a window, under or over an anchor; a press elsewhere or Escape closes it.

    A row without a value is a heading. Many rows stand in two columns, parted at a heading, or, where the window is too narrow
    for that, in one. What has no room is scrolled by wheel and arrows. A `copyable` card has a button that copies the rows as
    text, and takes the focus while it is open.
    """

    def __init__(self, theme: Theme, window: QWidget, *, copyable: bool = False) -> None:
        super().__init__(window)
        self._theme, self._over = theme, window
        self._rows: tuple[tuple[str, str], ...] = ()
        self._columns: list[Sequence[tuple[str, str]]] = []
        self._scrolled = 0
        self._anchor: QWidget | None = None
        self._before: QWidget | None = None
        self.setObjectName("factsPopover")
        self._copy = Button(theme, "Copy", icon="copy", small=True, parent=self) if copyable else None
        if self._copy is not None:
            self._copy.setObjectName("copyFacts")
            self._copy.setAccessibleName("Copy as text")
            self._copy.clicked.connect(self._copy_rows)
        self.hide()
        self._shadow = Shadow(theme, self, _RADIUS)
        self._shadow.hide()
        theme.changed.connect(self.update)

    @property
    def rows(self) -> Sequence[tuple[str, str]]:
        """What is shown."""
        return self._rows

    @property
    def text(self) -> str:
        """The rows as text, a line each, the parts apart."""
        lines = [f"{label}: {value}" if value else f"\n{label}" for label, value in self._rows]
        return "\n".join(lines).strip()

    def show_rows(self, rows: Sequence[tuple[str, str]], anchor: QWidget, *, place: QRect | None = None) -> None:
        """Show `rows` beside `anchor`, or beside `place` in it: above it where there is room, else below."""
        self._rows, self._anchor = tuple(rows), anchor
        self.setAccessibleName("; ".join(f"{label}: {value}" if value else label for label, value in rows))
        room = self._over.height() - 2 * _DISTANCE - 2 * _PADDING_Y - self._foot()
        self._columns = _columns(self._rows, min(room, _HIGHEST))
        self._scrolled = 0
        within = self._over.size() - QSize(2 * _DISTANCE, 2 * _DISTANCE)
        if self.sizeHint().width() > within.width():
            self._columns = [self._rows]
        self.resize(self.sizeHint().boundedTo(within))
        self._place(anchor, place or anchor.rect())
        self.show()
        self.raise_()
        self.update()
        if self._copy is not None:
            self._copy.setText("Copy")
            self._copy.resize(self._copy.sizeHint())
            self._copy.move(_PADDING_X, self.height() - _PADDING_Y - self._copy.height())
            self._before = self._over.window().focusWidget()
            self._copy.setFocus(Qt.FocusReason.PopupFocusReason)
        application = QApplication.instance()
        if application:
            application.installEventFilter(self)

    def _place(self, anchor: QWidget, rect: QRect) -> None:
        over = self._over
        top_left = anchor.mapTo(over, rect.topLeft())
        y = top_left.y() - self.height() - _DISTANCE
        if y < _DISTANCE:
            y = min(top_left.y() + rect.height() + _DISTANCE, over.height() - self.height() - _DISTANCE)
        x = min(top_left.x(), over.width() - self.width() - _DISTANCE)
        self.move(QPoint(max(_DISTANCE, x), max(_DISTANCE, y)))

    def hideEvent(self, _event: QHideEvent) -> None:
        """Stop listening."""
        application = QApplication.instance()
        if application:
            application.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Close at a press elsewhere, at Escape, and when the window or what it is about goes."""
        gone = watched is self._anchor and event.type() == QEvent.Type.Hide
        # A press reaches its window before the widget; only the widget tells whether it is in here.
        elsewhere = isinstance(watched, QWidget) and watched is not self and not self.isAncestorOf(watched)
        if gone or (event.type() in _LEAVE and elsewhere) or event.type() == QEvent.Type.WindowDeactivate:
            self.hide()
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            # Before it is hidden: hiding what has the focus hands it to just any widget.
            if self._before is not None and isValid(self._before):
                self._before.setFocus(Qt.FocusReason.PopupFocusReason)
            self.hide()
            return True
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and not elsewhere:
            return self._scroll(_STEPS.get(event.key(), 0) * _ROW)
        return False

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the rows that have no room; nothing under the card moves."""
        self._scroll(-(event.pixelDelta().y() or event.angleDelta().y() // 2))
        event.accept()

    def _scroll(self, pixels: int) -> bool:
        """Move the rows up by `pixels`; return whether there was anything to move."""
        before = self._scrolled
        self._scrolled = max(0, min(before + pixels, self._hidden()))
        self.update()
        return bool(pixels and self._hidden())

    def _hidden(self) -> int:
        """Return the pixels of the rows that have no room."""
        return self.sizeHint().height() - self.height()

    def sizeHint(self) -> QSize:
        """Room for the longest label and the longest value."""
        width = sum(self._width(column) for column in self._columns) + _COLUMNS_APART * max(0, len(self._columns) - 1)
        height = max((_height(column) for column in self._columns), default=0)
        return QSize(2 * _PADDING_X + width, 2 * _PADDING_Y + height + self._foot())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        draw_frame(painter, self.rect(), _RADIUS, self._theme.color("raised"), self._theme.color("border"))
        rows = self._rows_area()
        self._paint_handle(painter, rows)
        painter.setClipRect(rows)
        left = _PADDING_X
        for column in self._columns:
            self._paint_column(painter, column, left)
            left += self._width(column) + _COLUMNS_APART

    def _rows_area(self) -> QRect:
        return self.rect().adjusted(0, _PADDING_Y, 0, -_PADDING_Y - self._foot())

    def _paint_handle(self, painter: QPainter, rows: QRect) -> None:
        """Show which part of the rows is seen, where that is not all of them."""
        if not self._hidden():
            return
        share = rows.height() / (rows.height() + self._hidden())
        top = rows.top() + round(self._scrolled * share)
        painter.fillRect(QRect(self.width() - 8, top, 4, round(rows.height() * share)), self._theme.color("border-hi"))

    def _paint_column(self, painter: QPainter, column: Sequence[tuple[str, str]], left: int) -> None:
        color, width = self._theme.color, min(self._width(column), self.width() - 2 * _PADDING_X)
        top = _PADDING_Y - self._scrolled
        for index, (label, value) in enumerate(column):
            line = QRect(left, top + _rise(index, value), width, _ROW)
            painter.setFont(self._theme.font("small") if value else self._theme.font("caption", 600))
            painter.setPen(color("ink-2" if value else "ink-3"))
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, label)
            painter.setPen(color("ink"))
            shown = painter.fontMetrics().elidedText(value, Qt.TextElideMode.ElideMiddle, _LONGEST_VALUE)
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, shown)
            top = line.bottom() + 1

    def _width(self, column: Sequence[tuple[str, str]]) -> int:
        metrics = QFontMetrics(self._theme.font("small"))
        labels = max((metrics.horizontalAdvance(label) for label, _ in column), default=0)
        values = max((metrics.horizontalAdvance(value) for _, value in column), default=0)
        return labels + _BETWEEN + min(_LONGEST_VALUE, values)

    def _foot(self) -> int:
        return _ABOVE_BUTTON + self._copy.sizeHint().height() if self._copy is not None else 0

    def _copy_rows(self) -> None:
        QGuiApplication.clipboard().setText(self.text)
        if self._copy is not None:
            self._copy.setText("Copied")
            self._copy.resize(self._copy.sizeHint())


def _rise(index: int, value: str) -> int:
    """Return the space above a row: a heading stands apart from what comes before it."""
    return _HEADING - _ROW if index and not value else 0


def _height(column: Sequence[tuple[str, str]]) -> int:
    return sum(_ROW + _rise(index, value) for index, (_, value) in enumerate(column))


def _columns(rows: Sequence[tuple[str, str]], room: int) -> list[Sequence[tuple[str, str]]]:
    """Return the rows in one column, or where `room` pixels are too few for it, in two that are about as high."""
    headings = [index for index, (_, value) in enumerate(rows) if not value and index]
    if _height(rows) <= room or not headings:
        return [rows]
    part = min(headings, key=lambda index: max(_height(rows[:index]), _height(rows[index:])))
    return [rows[:part], rows[part:]]
