"""The rows of the sidebar's list: chats under headings and in folders, the hits of a search, or the trash, as a Qt model."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import QMimeData, QModelIndex, QObject, QPersistentModelIndex, QStringListModel, Qt, Signal

from engine.core.sizes import count_text

type Index = QModelIndex | QPersistentModelIndex
type Key = tuple[str, str, str]

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
UNTITLED = "New chat"
CHATS_MIME = "application/x-flint-chats"
"""The ids of dragged chats, one a line."""
_NONE = QModelIndex()


class Row(NamedTuple):
    """One row. `spans` are the (start, end) character positions of the matched words in `snippet`; `note` stands at the right.

    A chat's `folder_id` is the folder it is listed under, and it is `pinned` where it stands among the pinned ones.
    """

    kind: Literal["heading", "folder", "chat", "hit", "more", "trashed"]
    title: str
    chat_id: str = ""
    message_id: str = ""
    snippet: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    folder_id: str = ""
    note: str = ""
    expanded: bool = False
    pinned: bool = False

    @property
    def key(self) -> Key:
        """What stays the same when the row's words change."""
        return self.kind, self.chat_id or self.folder_id or self.title, self.message_id


class ChatListModel(QStringListModel):
    """Rows for a view. Qt's own model counts them, since a layout asks for their number once a row.

    Emits `renamed` with a chat's id and its new title after somebody edited it in place; `folder_renamed` is the same for a
    folder.
    """

    renamed = Signal(str, str)
    folder_renamed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Row] = []
        self._next: list[Row] = []
        self._places: dict[str, int] = {}
        self._keys: dict[Key, int] | None = None
        for moved in (self.rowsInserted, self.rowsRemoved, self.rowsMoved):
            moved.connect(self._go_on)

    @property
    def rows(self) -> Sequence[Row]:
        """All rows, top to bottom."""
        return self._rows

    def row_of(self, chat_id: str) -> int:
        """Return the first row of a chat or folder, -1 when it is not listed."""
        return self._places.get(chat_id, -1)

    def find(self, key: Key) -> int:
        """Return the row with a key, -1 where there is none."""
        place = self.row_of(key[1])
        if place >= 0 and self._rows[place].key == key:
            return place
        if self._keys is None:  # Made once for all that are not found by their chat: a search for each would be quadratic.
            places = range(len(self._rows) - 1, -1, -1)
            self._keys = {self._rows[place].key: place for place in places}
        return self._keys.get(key, -1)

    def replace(self, rows: Sequence[Row]) -> bool:
        """Show other rows; return whether any came, went or moved (not so when only words changed).

        Only what differs is told to views: what is selected elsewhere stays so.
        """
        old, new = self._rows, list(rows)
        if new == old:
            return False
        start, ends = _alike(old, new)
        here, there = old[start : len(old) - ends], new[start : len(new) - ends]
        if here or there:
            self._exchange(start, here, there)
        pairs = enumerate(zip(new, self._rows, strict=True))
        changed = [place for place, (row, before) in pairs if row is not before and row != before]
        self._rows = new
        self._places = _places(new)
        self._keys = None
        if changed:
            self.dataChanged.emit(self.index(changed[0]), self.index(changed[-1]))
        return bool(here or there)

    def _exchange(self, start: int, here: list[Row], there: list[Row]) -> None:
        """Put `there` in the place of `here` in the rows from `start` on."""
        keys, wanted = [row.key for row in here], [row.key for row in there]
        before, after = self._rows[:start], self._rows[start + len(here) :]
        if len(here) > 1 and wanted == [keys[-1], *keys[:-1]]:
            self._next = [*before, here[-1], *here[:-1], *after]
            self.moveRows(_NONE, start + len(here) - 1, 1, _NONE, start)
            return
        if here:
            self._next = before + after
            self.removeRows(start, len(here))
        if there:
            self._next = [*before, *there, *after]
            self.insertRows(start, len(there))

    def _go_on(self) -> None:
        """Rows came, went or moved: this is heard before any view hears of it."""
        self._rows = self._next
        self._keys = None

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
            return _spoken(row)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Headings are only read; chats are chosen, dragged and renamed; folders opened and renamed; the rest is chosen."""
        row = self._rows[index.row()] if index.isValid() else Row("heading", "")
        if row.kind == "heading":
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        if row.kind in ("chat", "folder"):
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags | Qt.ItemFlag.ItemIsDragEnabled if row.kind == "chat" else flags

    def setData(self, index: Index, value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        """Take a new title; white space alone is refused, and the title it already has changes nothing."""
        title = " ".join(str(value).split())
        if role != Qt.ItemDataRole.EditRole or not index.isValid() or not title:
            return False
        row = self._rows[index.row()]
        if row.kind not in ("chat", "folder") or title == (row.title or UNTITLED):
            return False
        self._rows[index.row()] = row._replace(title=title)
        self.dataChanged.emit(index, index)
        if row.kind == "folder":
            self.folder_renamed.emit(row.folder_id, title)
        else:
            self.renamed.emit(row.chat_id, title)
        return True

    def mimeTypes(self) -> list[str]:
        """What dragged rows are."""
        return [CHATS_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """Return the chats in rows, for a drag: their ids for Flint, their titles for other programs."""
        chats = [row for index in sorted(indexes, key=QModelIndex.row) if (row := self._rows[index.row()]).kind == "chat"]
        data = QMimeData()
        data.setData(CHATS_MIME, "\n".join(row.chat_id for row in chats).encode())
        data.setText("\n".join(row.title or UNTITLED for row in chats))
        return data


def _alike(old: Sequence[Row], new: Sequence[Row]) -> tuple[int, int]:
    """Return how many rows at the start and at the end of both are the same ones, words aside."""
    least = min(len(old), len(new))
    start = 0
    while start < least and (old[start] is new[start] or old[start].key == new[start].key):
        start += 1
    ends = 0
    while ends < least - start and (old[-1 - ends] is new[-1 - ends] or old[-1 - ends].key == new[-1 - ends].key):
        ends += 1
    return start, ends


def _places(rows: Sequence[Row]) -> dict[str, int]:
    """Return the first place of each chat and folder."""
    ids = [row.chat_id or row.folder_id for row in rows]
    places = dict(zip(reversed(ids), range(len(ids) - 1, -1, -1), strict=True))
    places.pop("", None)
    return places


def _spoken(row: Row) -> str:
    title = row.title or UNTITLED
    if row.kind == "folder":
        chats = count_text(int(row.note), "chat") if row.note else "no chats"
        return f"{title}, folder with {chats}, {'open' if row.expanded else 'closed'}"
    words = f"{title}: {row.snippet}" if row.snippet else title
    return f"{words}, {row.note}" if row.note else words
