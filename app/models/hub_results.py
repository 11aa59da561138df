"""The list of what was found on the hub, and how a row of it is painted."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from app.models.badge import badge_height, badge_width, draw_badge
from app.models.hub_list import ROW_ROLE, HubList, HubRow
from app.models.model_list import Index
from app.models.row_view import FACTS, GAP, NAME, RowDelegate, RowView, draw_line
from app.theme import Theme

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

    def _words(self, painter: QPainter, upper: QRect, badges: QRect, lower: QRect, row: HubRow) -> None:
        self.badges(painter, upper, badges, [row.badge])
        self._name(painter, upper, row)
        figures = badges if self.stacked else lower
        right = self.facts(painter, figures, ((row.rate, _RATE_ROOM), (row.size, _SIZE_ROOM)))
        if not self.stacked:
            lower.setRight(right - 1 + self._theme.grown(_SIZE_ROOM - 64))
        draw_line(painter, self._theme, lower, row.facts, FACTS, 400, "ink-3")

    def _name(self, painter: QPainter, line: QRect, row: HubRow) -> None:
        gated = badge_width(self._theme, "Gated", "lock") if row.model.gate else 0
        room = line.width() - (gated + GAP if gated else 0)
        font = self._theme.font(NAME, 600)
        shown = QFontMetrics(font).elidedText(row.model.name, Qt.TextElideMode.ElideRight, room)
        draw_line(painter, self._theme, QRect(line.left(), line.top(), room, line.height()), shown, NAME, 600, "ink")
        if gated:
            left = line.left() + QFontMetrics(font).horizontalAdvance(shown) + GAP
            top = line.top() + (line.height() - badge_height(self._theme)) // 2
            draw_badge(painter, self._theme, QRect(left, top, gated, badge_height(self._theme)), "Gated", "plain", "lock")
