"""The models on this machine as a list that views show: filtered by a query, the current one known."""

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.models.words import matches, row_facts
from engine.core.facts import ModelEntry
from engine.models.fact_words import origin_badge

ENTRY_ROLE = Qt.ItemDataRole.UserRole
CURRENT_ROLE = Qt.ItemDataRole.UserRole + 1

type Index = QModelIndex | QPersistentModelIndex


class ModelList(QAbstractListModel):
    """Rows are `ModelEntry`s. With `only_usable`, a row whose model has a problem can be seen and not chosen."""

    def __init__(self, *, only_usable: bool = False, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[ModelEntry, ...] = ()
        self._shown: tuple[ModelEntry, ...] = ()
        self._current = ""
        self._query = ""
        self._only_usable = only_usable

    @property
    def entries(self) -> tuple[ModelEntry, ...]:
        """All models, also those that the query hides."""
        return self._all

    @property
    def shown(self) -> tuple[ModelEntry, ...]:
        """The models that match the query, in order."""
        return self._shown

    @property
    def current_id(self) -> str:
        """The id of the model in use, or empty."""
        return self._current

    def set_entries(self, entries: Sequence[ModelEntry], current_id: str) -> None:
        """Show these models; `current_id` is the one in use, or empty."""
        self.beginResetModel()
        self._all, self._current = tuple(entries), current_id
        self._shown = tuple(entry for entry in self._all if matches(entry, self._query))
        self.endResetModel()

    def set_query(self, query: str) -> None:
        """Show only the models that match."""
        if query != self._query:
            self._query = query
            self.set_entries(self._all, self._current)

    def row_of(self, model_id: str) -> int:
        """Return the row of a model, or -1 when it is not shown."""
        return next((row for row, entry in enumerate(self._shown) if entry.id == model_id), -1)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        entry = self._shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.name
        if role == ENTRY_ROLE:
            return entry
        if role == CURRENT_ROLE:
            return entry.id == self._current
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{entry.name}, in use" if entry.id == self._current else entry.name
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return f"{row_facts(entry)}, {origin_badge(entry)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return entry.problem or None
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        if self._only_usable and self._shown[index.row()].problem:
            return Qt.ItemFlag.ItemNeverHasChildren
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
