"""The sidebar: search, ways to other places, and every chat in its folder or by date."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.chat.sidebar.chat_list import CHATS_MIME, Row
from app.chat.sidebar.chat_rows import ChatRows, found_words, hit_rows, trash_rows
from app.chat.sidebar.chat_view import ChatView
from app.chat.sidebar.date_groups import seconds_to_midnight
from app.chat.sidebar.nav_row import NavRow
from app.chat.sidebar.search_field import SearchField
from app.chat.sidebar.top_strip import TopStrip
from app.chat.sidebar.transfer_row import TransferRow
from app.chat.sidebar.trash_bar import TrashBar
from app.chat.sidebar.wishes import Wishes
from app.theme import Theme
from app.widgets.frame import draw_hairline
from engine.chats.records import ChatSummary, Folder, SearchHit

SEARCH_KEYS, NEW_KEYS, MODELS_KEYS = "Ctrl+Shift+F", "Ctrl+N", "Ctrl+Shift+M"

_WIDTH, _LEAST, _MOST = 260, 200, 360
_MAC = sys.platform == "darwin"


class Sidebar(QWidget):
    """All chats, and what a person does to them. Nothing here touches the store: every wish is a signal, most in `wishes`.

    `chat_selected` comes with every pick, `hit_selected` (chat id, message id or "", the words found) besides when it
    was a search hit; calls such as `select` and `set_chats` emit nothing. `trash_toggled` asks for the deleted chats in the
    list's place, or for their end. The widget draws its own line at the right.
    """

    new_requested = Signal()
    models_requested = Signal()
    chat_selected = Signal(str)
    hit_selected = Signal(str, str, str)
    more_requested = Signal()
    trash_toggled = Signal(bool)
    search_changed = Signal(str)
    search_left = Signal()
    entered = Signal()
    """Return was pressed on a chat in the list: the keyboard is to go on in it."""
    hits_wanted = Signal()
    """Now, not once the typing pauses."""
    collapse_requested = Signal()
    needed = Signal()
    """It is about to take the keyboard, and must not do so out of sight."""

    def __init__(
        self, theme: Theme, footer: QWidget | None = None, parent: QWidget | None = None, *, traffic_lights: bool = _MAC
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.wishes = Wishes(self)
        self._chats: tuple[ChatSummary, ...] = ()
        self._folders: tuple[Folder, ...] = ()
        self._rows = ChatRows()
        self._hits: tuple[SearchHit, ...] | None = None
        self._more_hits = False
        self._deleted: tuple[ChatSummary, ...] | None = None
        self._dragging = False
        self._selected: str | None = None
        self._search = SearchField(theme, QKeySequence(SEARCH_KEYS), self)
        self._new = NavRow(theme, "compose", "New Chat", QKeySequence(NEW_KEYS), self)
        self._models = NavRow(theme, "cube", "Models", QKeySequence(MODELS_KEYS), self)
        self._trash = NavRow(theme, "trash", "Trash", QKeySequence(), self)
        self._trash_bar = TrashBar(theme, self)
        self._list = ChatView(theme, self.wishes, self)
        self.transfer = TransferRow(theme, self)
        self._strip = TopStrip(theme, traffic_lights, self)
        self._midnight = QTimer(self, singleShot=True)
        self.setObjectName("sidebar")
        self.setAccessibleName("Chats and places")
        self.setMinimumWidth(_LEAST)
        self.setMaximumWidth(_MOST)
        self._new.setObjectName("newChatButton")
        self._new.setCheckable(True)
        self._models.setObjectName("modelsButton")
        self._trash.setObjectName("trashButton")
        self._trash.setCheckable(True)
        self._trash.hide()
        self._trash_bar.hide()
        self.setAcceptDrops(True)
        self._search.setAcceptDrops(False)  # It would take a dropped file's address for words.
        self._lay_out(footer)
        self._connect()
        self._list_rows()

    def set_chats(self, chats: Sequence[ChatSummary], folders: Sequence[Folder] = (), deleted: int = 0) -> None:
        """List these chats in their folders or by the day of their last message; selection and scroll position stay.

        A selected chat that was not listed before, or that went elsewhere since something was said in it, is brought into view.
        `deleted` is how many there are in the trash.
        """
        before, place = self._selected_chat(), self._list.place_of(self._selected)
        self._chats = tuple(chats)
        self._folders = tuple(folders)
        self._list.set_folders(self._folders)
        self._trash.set_note(f"{deleted:,}" if deleted else "", f"{deleted:,} deleted")
        self._trash.setVisible(deleted > 0 or self._deleted is not None)
        self._list_rows()
        after = self._selected_chat()
        if after is None:
            return
        if before is None or (after.updated_at > before.updated_at and self._list.place_of(self._selected) != place):
            self._list.reveal_shown()

    def _selected_chat(self) -> ChatSummary | None:
        return next((chat for chat in self._chats if chat.id == self._selected), None)

    def show_emptying(self, done: int, total: int) -> None:
        """Show how far the trash is emptied, as its bar does."""
        self._trash_bar.show_emptying(done, total)

    def set_trash(self, chats: Sequence[ChatSummary] | None) -> None:
        """Show the deleted chats in place of the others; None shows the others again."""
        if chats is None and self._deleted is None:
            return
        self._deleted = None if chats is None else tuple(chats)
        self._trash.setChecked(chats is not None)
        self._trash.setVisible(chats is not None or self._trash.note != "")
        self._list_rows()

    def listed(self) -> Sequence[str]:
        """Return the ids of the chats in the list, top to bottom, each once."""
        return list(dict.fromkeys(row.chat_id for row in self._list.rows if row.kind in ("chat", "hit")))

    def picked(self) -> tuple[str, ...]:
        """Return the ids of the chats that are selected, top to bottom: what a command acts on."""
        return tuple(dict.fromkeys(row.chat_id for row in self._picked()))

    def _picked(self) -> list[Row]:
        return [row for row in self._list.picked() if row.kind in ("chat", "hit")]

    def set_hits(self, hits: Sequence[SearchHit] | None, more: bool = False) -> None:
        """Show what a search found in place of the chats, and whether there is more; None shows the chats again."""
        self._hits = None if hits is None else tuple(hits)
        self._more_hits = more
        self._list_rows()

    def select(self, chat_id: str | None) -> None:
        """Mark a chat as the one shown; None marks "New Chat"."""
        self._selected = chat_id
        self._new.setChecked(chat_id is None)
        self._list.select(chat_id)

    def set_writing(self, chat_id: str | None) -> None:
        """Mark the chat in which a reply is being written."""
        self._list.set_writing(chat_id)

    def focus_search(self) -> None:
        """Put the caret into the search field, its text ready to be typed over."""
        self.needed.emit()
        self._search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search.selectAll()

    def rename_selected(self) -> None:
        """Edit the title of the chat that the keyboard is on in place, else of the one that is shown."""
        chat_id = self._list.current_chat() or self._selected
        if chat_id:
            self.rename(chat_id)

    def rename(self, row_id: str) -> None:
        """Edit the title of a chat or the name of a folder in place; a search, the trash or a closed folder gives way to it."""
        self.needed.emit()
        self._search.clear()
        if self._deleted is not None:
            self.trash_toggled.emit(False)
        folder_id = next((chat.folder_id for chat in self._chats if chat.id == row_id), None)
        if folder_id and self._list.place_of(row_id) < 0:
            self.wishes.folder_expanded.emit(folder_id, True)
        self._list.rename_row(row_id)

    @property
    def browsing(self) -> bool:
        """Whether a chat is being opened by the arrow keys in the list, which are to go on there."""
        return self._list.browsing

    def drag_files(self, files_of: Callable[[tuple[str, ...]], Sequence[Path]]) -> None:
        """Have dragged chats carry the files that `files_of` makes of them."""
        self._list.files_of = files_of

    def offer_places(self) -> None:
        """Show where the selected chats can be moved to, or the one that is shown."""
        self.needed.emit()
        self._list.setFocus(Qt.FocusReason.OtherFocusReason)
        shown = self._selected_chat()
        rows = self._picked() or ([Row("chat", shown.title, shown.id, folder_id=shown.folder_id or "")] if shown else [])
        if rows:
            self._list.open_move_menu(rows)

    def offer_forms(self, chat_ids: tuple[str, ...]) -> None:
        """Show the forms in which these chats can be exported."""
        self.needed.emit()
        self._list.open_export_menu(chat_ids)

    def sizeHint(self) -> QSize:
        """260 wide."""
        return QSize(_WIDTH, 600)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ground and the line towards the chat."""
        del event
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("sidebar"))
        right = float(self.width() - 1)
        draw_hairline(painter, QPointF(right, 0), QPointF(right, self.height()), self._theme.color("separator"))

    def changeEvent(self, event: QEvent) -> None:
        """A machine that slept over midnight has other days under the same headings."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self._list_rows()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape leaves the trash."""
        if event.key() == Qt.Key.Key_Escape and self._deleted is not None:
            self.trash_toggled.emit(False)
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Let files in that chats may be imported from; what they are is told after the drop."""
        if _files(event.mimeData()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        """Import the chats in the files."""
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.wishes.import_requested.emit(_files(event.mimeData()))

    def _lay_out(self, footer: QWidget | None) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 1, 0)
        column.setSpacing(0)
        column.addWidget(self._strip)
        # The widget's own line counts to its width: 8 px on both sides leaves rows 244 wide at 260.
        top = QVBoxLayout()
        top.setContentsMargins(8, 0, 7, 0)
        top.setSpacing(0)
        top.addWidget(self._search)
        top.addSpacing(8)
        top.addWidget(self._new)
        top.addWidget(self._models)
        top.addWidget(self._trash)
        top.addWidget(self._trash_bar)
        column.addLayout(top)
        column.addSpacing(4)
        column.addWidget(self._list, 1)
        between = QVBoxLayout()
        between.setContentsMargins(8, 0, 7, 0)
        between.addWidget(self.transfer)
        column.addLayout(between)
        if footer is not None:
            foot = QVBoxLayout()
            foot.setContentsMargins(8, 8, 7, 12)
            foot.addWidget(footer)
            column.addLayout(foot)

    def _connect(self) -> None:
        self._new.clicked.connect(self._ask_for_new)
        self._models.clicked.connect(self.models_requested)
        self._strip.collapse_requested.connect(self.collapse_requested)
        self._search.textChanged.connect(self._take_search)
        self._search.moved.connect(self._take_key)
        self._search.left.connect(self.search_left)
        self._trash.clicked.connect(self._toggle_trash)
        self._trash_bar.empty_requested.connect(self.wishes.emptying_requested)
        self._trash_bar.left.connect(lambda: self.trash_toggled.emit(False))
        self._list.chosen.connect(self._take_choice)
        self._list.entered.connect(self.entered)
        self._list.dragging.connect(self._show_targets)
        self._midnight.timeout.connect(self._list_rows)

    def _ask_for_new(self) -> None:
        # A click toggles a checkable button; what is shown is decided by `select`.
        self._new.setChecked(self._selected is None)
        self.new_requested.emit()

    def _take_search(self, text: str) -> None:
        if not text.strip():
            self.set_hits(None)
        self.search_changed.emit(text)

    def _toggle_trash(self) -> None:
        self._trash.setChecked(self._deleted is not None)
        self.trash_toggled.emit(self._deleted is None)

    def _show_targets(self, dragging: bool) -> None:
        self._dragging = dragging
        self._list_rows()

    def _take_choice(self, row: Row) -> None:
        if row.kind == "more":
            self.more_requested.emit()
            return
        self._selected = row.chat_id
        self._new.setChecked(False)
        self.chat_selected.emit(row.chat_id)
        if row.kind == "hit":
            self.hit_selected.emit(row.chat_id, row.message_id, found_words(row))

    def _take_key(self, event: QKeyEvent) -> None:
        """Return opens the first hit of what is typed by now, without words the first chat; the arrow goes to the list."""
        down = event.key() == Qt.Key.Key_Down
        if not down and event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return
        self.hits_wanted.emit()
        if down:
            self._list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if not down or not self._list.currentIndex().isValid():
            self._list.choose_first()

    def _list_rows(self) -> None:
        now = time.time()
        self._trash_bar.setVisible(self._hits is None and self._deleted is not None)
        if self._hits is not None:
            query = self._search.text().strip()
            self._list.set_empty("", f"Nothing found for “{query}”")
            rows = hit_rows(self._hits, now, more=self._more_hits)
        elif self._deleted is not None:
            self._list.set_empty("", "The trash is empty.")
            self._trash_bar.set_count(len(self._deleted))
            rows = trash_rows(self._deleted, now)
        else:
            self._list.set_empty("Chats", "The chats you start are listed here.")
            rows = self._rows.rows(self._chats, self._folders, now, targets=self._dragging)
        self._list.show_rows(rows, self._selected)
        self._midnight.start(int(seconds_to_midnight(now) * 1000) + 1000)


def _files(data: QMimeData) -> tuple[str, ...]:
    """Return the paths of the files and folders in a drag; none where they are chats of Flint's own."""
    if data.hasFormat(CHATS_MIME):
        return ()
    return tuple(url.toLocalFile() for url in data.urls() if url.isLocalFile())
