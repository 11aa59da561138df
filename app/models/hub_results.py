"""The list of what was found on the hub, and how a row of it is painted."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from app.models.badge import HEIGHT as BADGE
from app.models.badge import badge_width, draw_badge
from app.models.hub_list import ROW_ROLE, HubList, HubRow
from app.models.model_list import Index
from app.models.row_view import RowDelegate, RowView, draw_line
from app.theme import Theme

_GAP = 8
_SIZE_ROOM, _RATE_ROOM = 80, 88


class HubResults(RowView):
    """Models on the hub. `chosen` carries the row that Return or a double click asks for."""

    def __init__(self, theme: Theme, model: HubList, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.setObjectName("hubResults")
        self.setAccessibleName("Models on Hugging Face")
        self.setItemDelegate(HubDelegate(theme, self))


class HubDelegate(RowDelegate):
    """Name, lock and badge; author, licence, size and rate."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        with self.row(painter, option) as box:
            self._words(painter, *self.lines(box), index.data(ROW_ROLE))

    def _words(self, painter: QPainter, upper: QRect, lower: QRect, row: HubRow) -> None:
        self._name(painter, upper, row)
        right = self.facts(painter, lower, ((row.rate, _RATE_ROOM), (row.size, _SIZE_ROOM)))
        words = QRect(lower.left(), lower.top(), right - lower.left() + (_SIZE_ROOM - 64), lower.height())
        draw_line(painter, self._theme, words, row.facts, "small", 400, "ink-3")

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
        draw_line(painter, self._theme, QRect(line.left(), line.top(), room, line.height()), shown, "ui", 600, "ink")
        if gated:
            left = line.left() + QFontMetrics(font).horizontalAdvance(shown) + _GAP
            draw_badge(painter, self._theme, QRect(left, line.top(), gated, BADGE), "Gated", "plain", "lock")
