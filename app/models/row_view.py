"""Lists of models: rows that are chosen by Return or a double click, and how one is painted."""

import contextlib
from collections.abc import Iterator

from PySide6.QtCore import QAbstractListModel, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.model_list import Index
from app.theme import Theme
from app.widgets.frame import draw_frame

ROW = 56
_PADDING, _RADIUS = 8, 6
_NAME, _FACTS, _BETWEEN = 20, 16, 4
_LEFT, _RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


def draw_line(
    painter: QPainter, theme: Theme, box: QRect, text: str, style: str, weight: int, role: str, side: Qt.AlignmentFlag = _LEFT
) -> None:
    """Paint one line of text into `box`, cut with an ellipsis where it is too long."""
    painter.setFont(theme.font(style, weight))
    painter.setPen(theme.color(role))
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, side | Qt.AlignmentFlag.AlignVCenter, shown)


class RowView(QListView):
    """`chosen` carries the row that Return or a double click asks for; `ring` says that the focus came from the keyboard."""

    chosen = Signal(int)

    def __init__(self, model: QAbstractListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ring = False
        self.setModel(model)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setMouseTracking(True)
        self.doubleClicked.connect(lambda index: self.chosen.emit(index.row()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.chosen.emit(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring for focus that came from the keyboard alone."""
        self.ring = event.reason() in _KEYBOARD
        super().focusInEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.ring = False
        super().mousePressEvent(event)


class RowDelegate(QStyledItemDelegate):
    """Rows of 56 px that show what is chosen; `paint` of each list draws its words inside `row`.

    A list of another kind has a `height` and a distance from the view's sides, `inset`, of its own.
    """

    height, inset = ROW, 8

    def __init__(self, theme: Theme, view: RowView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view
        theme.changed.connect(view.viewport().update)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """All rows are as high, and as wide as the view: a wider wish would make it scroll sideways."""
        del option, index
        return QSize(0, self.height)

    @contextlib.contextmanager
    def row(self, painter: QPainter, option: QStyleOptionViewItem) -> Iterator[QRect]:
        """Draw a row's ground, and yield the room for its words; the painter is as before afterwards."""
        box = option.rect.adjusted(self.inset, 0, -self.inset, 0)
        painter.save()
        self._ground(painter, option, box)
        try:
            yield box.adjusted(_PADDING, 0, -_PADDING, 0)
        finally:
            painter.restore()

    def lines(self, box: QRect) -> tuple[QRect, QRect]:
        """Return the line for a name and the smaller one for facts."""
        upper = QRect(box.left(), box.top() + _PADDING, box.width(), _NAME)
        return upper, QRect(box.left(), upper.top() + _NAME + _BETWEEN, box.width(), _FACTS)

    def facts(self, painter: QPainter, line: QRect, columns: tuple[tuple[str, int], ...]) -> int:
        """Draw columns of small text, each with its width, from the right; return where what stands before them has to end."""
        right = line.right() + 1
        for text, room in columns:
            column = QRect(right - room, line.top(), room, line.height())
            draw_line(painter, self._theme, column, text, "small", 400, "ink-3", _RIGHT)
            right -= room
        return right

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, box: QRect) -> None:
        if option.state & QStyle.StateFlag.State_Selected:
            draw_frame(painter, box, _RADIUS, self._theme.color("selected"))
            if self._view.ring and self._view.hasFocus():
                draw_frame(painter, box, _RADIUS, line=self._theme.color("accent"), width=2)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            draw_frame(painter, box, _RADIUS, self._theme.color("hover"))
