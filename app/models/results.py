"""The list of models in the models window, and how a row of it is painted."""

from PySide6.QtCore import QAbstractListModel, QRect
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from app.models.badge import HEIGHT as BADGE
from app.models.badge import BadgeKind, badge_width, draw_badge
from app.models.model_list import CURRENT_ROLE, ENTRY_ROLE, Index
from app.models.row_view import RowDelegate, RowView, draw_line
from app.models.words import SEPARATOR, context_text, size_text, stored_as
from app.theme import Theme
from engine.core.facts import ModelEntry
from engine.core.machine import THIS_MACHINE
from engine.models.fact_words import origin_badge

_GAP = 8
_SIZE_ROOM, _CONTEXT_ROOM = 64, 96
CANT_BE_USED = "Can’t be used"


class ResultsView(RowView):
    """Models on this machine. `chosen` carries the row that Return or a double click asks for."""

    def __init__(self, theme: Theme, model: QAbstractListModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.setObjectName("modelResults")
        self.setAccessibleName(f"Models on {THIS_MACHINE}")
        self.setItemDelegate(ResultsDelegate(theme, self))


class ResultsDelegate(RowDelegate):
    """Name, badges, how it is stored, size and context; or, where a model can't be used, the reason."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        with self.row(painter, option) as box:
            self._words(painter, *self.lines(box), index)

    def _words(self, painter: QPainter, upper: QRect, lower: QRect, index: Index) -> None:
        entry: ModelEntry = index.data(ENTRY_ROLE)
        upper.setRight(self._badges(painter, upper, entry, current=bool(index.data(CURRENT_ROLE))))
        draw_line(painter, self._theme, upper, entry.name, "ui", 600, "ink")
        words = entry.problem
        if not words:
            columns = ((context_text(entry.context), _CONTEXT_ROOM), (size_text(entry.disk_bytes), _SIZE_ROOM))
            lower.setRight(self.facts(painter, lower, columns) - 1)
            words = SEPARATOR.join(part for part in (entry.architecture, stored_as(entry)) if part)
        draw_line(painter, self._theme, lower, words, "small", 400, "ink-3")

    def _badges(self, painter: QPainter, line: QRect, entry: ModelEntry, *, current: bool) -> int:
        """Paint the badges at the right; return where the name has to end."""
        badges: list[tuple[str, BadgeKind, str]] = [(origin_badge(entry), "plain", "")]
        if entry.download:
            badges.insert(0, ("Downloading" if entry.download == "running" else "Unfinished", "plain", ""))
        elif entry.problem:
            badges.insert(0, (CANT_BE_USED, "failed", "warn"))
        elif current:
            badges.insert(0, ("In use", "yes", "check"))
        right = line.right() + 1
        for text, kind, icon in badges:
            width = badge_width(self._theme, text, icon)
            draw_badge(painter, self._theme, QRect(right - width, line.top(), width, BADGE), text, kind, icon)
            right -= width + 4
        return right - _GAP
