"""The rows of the sidebar's list: chats under headings, or the hits of a search, as a Qt model."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

type Index = QModelIndex | QPersistentModelIndex

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
UNTITLED = "New chat"
_NONE = QModelIndex()


class Row(NamedTuple):
    """One row. `spans` are the (start, end) character positions of the matched words in `snippet`."""

    kind: Literal["heading", "chat", "hit"]
    title: str
    chat_id: str = ""
    message_id: str = ""
    snippet: str = ""
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What stays the same when the row's words change."""
        return self.kind, self.chat_id or self.title, self.message_id


class ChatListModel(QAbstractListModel):
    """Rows for a view. Emits `renamed` with a chat's id and its new title after somebody edited it in place."""

    renamed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Row] = []
        self._places: dict[str, int] = {}

    @property
    def rows(self) -> Sequence[Row]:
        """All rows, top to bottom."""
        return self._rows

    def row_of(self, chat_id: str) -> int:
        """Return the first row of a chat, -1 when it is not listed."""
        return self._places.get(chat_id, -1)

    def replace(self, rows: Sequence[Row]) -> bool:
        """Show other rows; return whether the view was reset (not so when only words changed)."""
        new = list(rows)
        if new == self._rows:
            return False
        if [row.key for row in new] == [row.key for row in self._rows]:
            changed = [place for place, row in enumerate(new) if row != self._rows[place]]
            self._rows = new
            self.dataChanged.emit(self.index(changed[0]), self.index(changed[-1]))
            return False
        self.beginResetModel()
        self._rows = new
        self._places = {row.chat_id: place for place, row in reversed(list(enumerate(new))) if row.chat_id}
        self.endResetModel()
        return True

    def touch(self, chat_id: str) -> None:
        """Have a chat's row drawn again."""
        place = self.row_of(chat_id)
        if place >= 0:
            self.dataChanged.emit(self.index(place), self.index(place))

    def rowCount(self, parent: Index = _NONE) -> int:
        """The number of rows; rows have no rows of their own."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """The title to show, to edit and to read aloud; the whole `Row` under `ROW_ROLE`."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return row.title or UNTITLED
        if role == Qt.ItemDataRole.AccessibleTextRole:
            title = row.title or UNTITLED
            return f"{title}: {row.snippet}" if row.snippet else title
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Headings are only read; chats are chosen and renamed; hits are chosen."""
        row = self._rows[index.row()] if index.isValid() else Row("heading", "")
        if row.kind == "heading":
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return flags | Qt.ItemFlag.ItemIsEditable if row.kind == "chat" else flags

    def setData(self, index: Index, value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        """Take a new title; white space alone is refused, and the title it already has changes nothing."""
        title = " ".join(str(value).split())
        if role != Qt.ItemDataRole.EditRole or not index.isValid() or not title:
            return False
        row = self._rows[index.row()]
        if row.kind != "chat" or title == (row.title or UNTITLED):
            return False
        self._rows[index.row()] = row._replace(title=title)
        self.dataChanged.emit(index, index)
        self.renamed.emit(row.chat_id, title)
        return True
