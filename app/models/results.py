"""The list of models in the models window, and how a row of it is painted."""

from PySide6.QtCore import QAbstractListModel, QRect
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from app.models.model_list import CURRENT_ROLE, ENTRY_ROLE, Index
from app.models.row_view import FACTS, NAME, Badge, RowDelegate, RowView, draw_line
from app.models.words import SEPARATOR, context_text, size_text, stored_as
from app.theme import Theme
from engine.core.facts import ModelEntry
from engine.core.machine import THIS_MACHINE
from engine.models.fact_words import origin_badge

_BETWEEN = 4
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

    def _words(self, painter: QPainter, upper: QRect, badges: QRect, lower: QRect, index: Index) -> None:
        entry: ModelEntry = index.data(ENTRY_ROLE)
        self.badges(painter, upper, badges, _badges(entry, current=bool(index.data(CURRENT_ROLE))), _BETWEEN)
        draw_line(painter, self._theme, upper, entry.name, NAME, 600, "ink")
        words = entry.problem
        if not words:
            columns = ((context_text(entry.context), _CONTEXT_ROOM), (size_text(entry.disk_bytes), _SIZE_ROOM))
            lower.setRight(self.facts(painter, lower, columns) - 1)
            words = SEPARATOR.join(part for part in (entry.architecture, stored_as(entry)) if part)
        draw_line(painter, self._theme, lower, words, FACTS, 400, "ink-3")


def _badges(entry: ModelEntry, *, current: bool) -> list[Badge]:
    """Return what stands beside a name: where it is from, and how it stands."""
    origin: Badge = (origin_badge(entry), "plain", "")
    if entry.download:
        return [origin, ("Downloading" if entry.download == "running" else "Unfinished", "plain", "")]
    if entry.problem:
        return [origin, (CANT_BE_USED, "failed", "warn")]
    return [origin, ("In use", "yes", "check")] if current else [origin]
