"""The chat list at work: what the sidebar wishes for, done in the store."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, Signal

from app.chat.controller import ChatController
from app.chat.replies import Replies
from app.chat.sidebar.chat_list import UNTITLED
from app.chat.sidebar.chat_search import ChatSearch
from app.chat.sidebar.folder_controller import FolderController
from app.chat.sidebar.listing import Listing
from app.chat.sidebar.sidebar import Sidebar
from app.chat.sidebar.store_work import StoreWork
from app.chat.sidebar.trash_controller import TrashController
from app.widgets.toast import Toast, Toaster
from engine.chats.store import ChatStore
from engine.core.sizes import count_text


class ChatListController(StoreWork):
    """Lists, opens, renames, pins and deletes chats; deleting can be undone until the trash is emptied.

    `hit_opened` carries a message's id and the words it was found by, once it is in view.
    """

    trash_changed = Signal()
    hit_opened = Signal(str, str)

    def __init__(
        self,
        store: ChatStore,
        sidebar: Sidebar,
        chat: ChatController,
        replies: Replies,
        toaster: Toaster,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(self.refresh, parent)
        self._store = store
        self._sidebar = sidebar
        self._chat = chat
        self._replies = replies
        self._toaster = toaster
        self._listing = Listing(store)
        self._undo: dict[str, Toast] = {}
        self.folders = FolderController(store, sidebar, toaster, self.refresh, self)
        self.trash = TrashController(store, sidebar, toaster, self.refresh, self)
        self.search = ChatSearch(store, sidebar, self)
        for part in (self.folders, self.trash, self.search):
            part.failed.connect(self.failed)
        self.trash.restored.connect(self._take_back)
        sidebar.new_requested.connect(lambda: chat.open(None))
        sidebar.chat_selected.connect(self._open)
        sidebar.hit_selected.connect(self._open_hit)
        sidebar.wishes.rename_requested.connect(self._rename)
        sidebar.wishes.delete_requested.connect(self._delete)
        sidebar.wishes.pin_requested.connect(self.pin)
        chat.chats_changed.connect(self._follow)
        chat.chat_opened.connect(self._mark)

    def refresh(self) -> None:
        """Read the list again, and who is writing."""
        self.trash.update()  # First: rows for thousands of chats that are gone would be made once more.
        self._show(self._listing.read)
        self.search.refresh()

    def _follow(self) -> None:
        """Something was said in a chat: read what is new."""
        self._show(lambda: self._listing.catch_up(self._chat.chat_id))

    def _show(self, read: Callable[[], object]) -> None:
        def show() -> None:
            read()
            self._sidebar.set_chats(self._listing.chats, self._store.folders.all(), self._store.trash_count())

        self.do(show, refresh=False)
        self._sidebar.set_writing(self._replies.writing_chat())
        self._sidebar.select(self._chat.chat_id)

    def step(self, steps: int) -> None:
        """Open the chat `steps` under the open one in the list, not over its ends; without an open one, the first or last."""
        listed = self._sidebar.listed()
        if not listed:
            return
        chat_id = self._chat.chat_id
        place = listed.index(chat_id) + steps if chat_id in listed else 0 if steps > 0 else len(listed) - 1
        self._open(listed[max(0, min(len(listed) - 1, place))])

    def acted_on(self) -> tuple[str, ...]:
        """Return the chats that a command is for: the selected ones, or the open one."""
        return self._sidebar.picked() or ((self._chat.chat_id,) if self._chat.chat_id else ())

    def toggle_pinned(self) -> None:
        """Pin the selected chats; where all of them are pinned, let go of them."""
        chosen = self.acted_on()
        if chosen:
            pinned = {chat.id for chat in self._listing.chats if chat.pinned}
            self.pin(chosen, not pinned.issuperset(chosen))

    def pin(self, chat_ids: tuple[str, ...], pinned: bool) -> None:
        """Pin chats, or let go of them."""
        self.do(lambda: self._store.pin_chats(chat_ids, pinned))

    def end_undo(self, chat_ids: Iterable[str]) -> None:
        """Take back the offer to bring these chats back: they are gone for good."""
        for toast in {self._undo[chat_id] for chat_id in chat_ids if chat_id in self._undo}:
            toast.close_toast()

    def forget(self, chat_ids: Iterable[str]) -> None:
        """These chats are gone for good: what is listed, and what could be undone, follows."""
        self.end_undo(chat_ids)
        self.refresh()

    def _mark(self, chat_id: str | None) -> None:
        self.trash.show(False)
        self._sidebar.select(chat_id)

    def _open(self, chat_id: str) -> None:
        if chat_id != self._chat.chat_id:
            self._chat.open(chat_id)
            if chat_id != self._chat.chat_id:
                self.refresh()  # It is gone: the list still marked it as the one shown.

    def _open_hit(self, chat_id: str, message_id: str, words: str) -> None:
        self._open(chat_id)
        if message_id and chat_id == self._chat.chat_id:
            self._chat.reveal(message_id)
            self.hit_opened.emit(message_id, words)

    def _rename(self, chat_id: str, title: str) -> None:
        self.do(lambda: self._store.rename_chat(chat_id, title))

    def _delete(self, chat_ids: tuple[str, ...]) -> None:
        for chat_id in chat_ids:
            pending = self._replies.of_chat(chat_id)
            if pending:
                self._replies.stop(pending)
        titles = {chat.id: chat.title for chat in self._listing.chats}
        if not self.do(lambda: self._store.delete_chats(chat_ids)):
            return
        opened = self._chat.chat_id if self._chat.chat_id in chat_ids else None
        if opened:
            self._chat.open(None)
        if len(chat_ids) == 1:
            told = f"“{titles.get(chat_ids[0]) or UNTITLED}” was deleted."
        else:
            told = f"{count_text(len(chat_ids), 'chat')} were deleted."
        toast = self._toaster.show(told, action=("Undo", lambda: self._restore(chat_ids, opened)))
        toast.closed.connect(lambda: self._forget_undo(chat_ids))
        self._undo.update(dict.fromkeys(chat_ids, toast))
        self.trash_changed.emit()

    def _forget_undo(self, chat_ids: Iterable[str]) -> None:
        for chat_id in chat_ids:
            self._undo.pop(chat_id, None)

    def _restore(self, chat_ids: tuple[str, ...], opened: str | None) -> None:
        if self.do(lambda: self._store.restore_chats(chat_ids)):
            if opened or len(chat_ids) == 1:
                self._chat.open(opened or chat_ids[0])
            self.trash_changed.emit()

    def _take_back(self, chat_ids: tuple[str, ...]) -> None:
        """Chats came out of the trash by the sidebar: the one that came alone is opened."""
        self.end_undo(chat_ids)
        if len(chat_ids) == 1:
            self._chat.open(chat_ids[0])
        self.trash_changed.emit()
