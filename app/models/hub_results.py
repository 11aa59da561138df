"""The list of what was found on the hub, and how a row of it is painted."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.badge import HEIGHT as BADGE
from app.models.badge import badge_width, draw_badge
from app.models.hub_list import ROW_ROLE, HubList, HubRow
from app.models.model_list import Index
from app.models.results import ROW, ResultsView
from app.theme import Theme
from app.widgets.frame import draw_frame

_INSET, _PADDING, _RADIUS = 8, 8, 6
_NAME, _FACTS, _BETWEEN, _GAP = 20, 16, 4, 8
_SIZE_ROOM, _RATE_ROOM = 80, 88
_RIGHT, _MIDDLE = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignVCenter


class HubResults(ResultsView):
    """Models on the hub, one a row of 56 px. `chosen` carries the row that Return or a double click asks for."""

    def __init__(self, theme: Theme, model: HubList, parent: QWidget | None = None) -> None:
        super().__init__(theme, model, parent)
        self.setObjectName("hubResults")
        self.setAccessibleName("Models on Hugging Face")
        self.setItemDelegate(HubDelegate(theme, self))


class HubDelegate(QStyledItemDelegate):
    """Name, lock and badge; author, licence, size and rate."""

    def __init__(self, theme: Theme, view: HubResults) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """All rows are 56 px high, and as wide as the view."""
        del option, index
        return QSize(0, ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        row: HubRow = index.data(ROW_ROLE)
        box = option.rect.adjusted(_INSET, 0, -_INSET, 0)
        painter.save()
        self._ground(painter, option, box)
        words = box.adjusted(_PADDING, _PADDING, -_PADDING, -_PADDING)
        upper = QRect(words.topLeft(), QSize(words.width(), _NAME))
        lower = QRect(words.left(), upper.top() + _NAME + _BETWEEN, words.width(), _FACTS)
        self._name(painter, upper, row)
        self._facts(painter, lower, row)
        painter.restore()

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, box: QRect) -> None:
        if option.state & QStyle.StateFlag.State_Selected:
            draw_frame(painter, box, _RADIUS, self._theme.color("selected"))
            if self._view.ring and self._view.hasFocus():
                draw_frame(painter, box, _RADIUS, line=self._theme.color("accent"), width=2)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            draw_frame(painter, box, _RADIUS, self._theme.color("hover"))

    def _name(self, painter: QPainter, line: QRect, row: HubRow) -> None:
        right = line.right() + 1
        text, kind, icon = row.badge
        if text:
            width = badge_width(self._theme, text, icon)
            draw_badge(painter, self._theme, QRect(right - width, line.top(), width, BADGE), text, kind, icon)
            right -= width + _GAP
        gated = badge_width(self._theme, "Gated", "lock") if row.model.gate else 0
        room = right - line.left() - (gated + _GAP if gated else 0)
        font = self._theme.font("ui", 600)
        shown = QFontMetrics(font).elidedText(row.model.name, Qt.TextElideMode.ElideRight, room)
        self._line(painter, QRect(line.left(), line.top(), room, line.height()), shown, "ui", 600, "ink")
        if gated:
            left = line.left() + QFontMetrics(font).horizontalAdvance(shown) + _GAP
            draw_badge(painter, self._theme, QRect(left, line.top(), gated, BADGE), "Gated", "plain", "lock")

    def _facts(self, painter: QPainter, line: QRect, row: HubRow) -> None:
        right = line.right() + 1
        for text, room in ((row.rate, _RATE_ROOM), (row.size, _SIZE_ROOM)):
            column = QRect(right - room, line.top(), room, line.height())
            self._line(painter, column, text, "small", 400, "ink-3", _RIGHT)
            right -= room
        words = QRect(line.left(), line.top(), right - line.left() + (_SIZE_ROOM - 64), line.height())
        self._line(painter, words, row.facts, "small", 400, "ink-3")

    def _line(
        self,
        painter: QPainter,
        box: QRect,
        text: str,
        style: str,
        weight: int,
        role: str,
        side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> None:
        painter.setFont(self._theme.font(style, weight))
        painter.setPen(self._theme.color(role))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, side | _MIDDLE, shown)
