"""The chat list at work: what the sidebar wishes for, done in the store."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.chat_list import UNTITLED
from app.chat.controller import ChatController
from app.chat.replies import Replies
from app.chat.sidebar import Sidebar
from app.widgets.toast import Toast, Toaster
from engine.chats.store import ChatStore
from engine.core.errors import FlintError

SEARCH_AFTER_MS = 150


class ChatListController(QObject):
    """Lists, searches, renames and deletes chats; deleting can be undone until the trash is emptied."""

    trash_changed = Signal()
    failed = Signal(object)

    def __init__(
        self,
        store: ChatStore,
        sidebar: Sidebar,
        chat: ChatController,
        replies: Replies,
        toaster: Toaster,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._sidebar = sidebar
        self._chat = chat
        self._replies = replies
        self._toaster = toaster
        self._query = ""
        self._undo: dict[str, Toast] = {}
        self._search_timer = QTimer(self, singleShot=True, interval=SEARCH_AFTER_MS)
        self._search_timer.timeout.connect(self._search)
        sidebar.new_requested.connect(lambda: chat.open(None))
        sidebar.chat_selected.connect(self._open)
        sidebar.hit_selected.connect(self._open_hit)
        sidebar.rename_requested.connect(self._rename)
        sidebar.delete_requested.connect(self._delete)
        sidebar.search_changed.connect(self._on_search)
        sidebar.search_left.connect(lambda: self._on_search(""))
        chat.chats_changed.connect(self.refresh)
        chat.chat_opened.connect(sidebar.select)

    def refresh(self) -> None:
        """Read the list again, and who is writing."""
        try:
            self._sidebar.set_chats(self._store.chats())
        except FlintError as error:
            self.failed.emit(error.info())
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

    def end_undo(self, chat_ids: Iterable[str]) -> None:
        """Take back the offer to bring these chats back: they are gone for good."""
        for toast in [self._undo[chat_id] for chat_id in chat_ids if chat_id in self._undo]:
            toast.close_toast()

    def _open(self, chat_id: str) -> None:
        if chat_id != self._chat.chat_id:
            self._chat.open(chat_id)
            if chat_id != self._chat.chat_id:
                self.refresh()  # It is gone: the list still marked it as the one shown.

    def _open_hit(self, chat_id: str, message_id: str) -> None:
        self._open(chat_id)
        if message_id:
            self._chat.reveal(message_id)

    def _rename(self, chat_id: str, title: str) -> None:
        self._do(lambda: self._store.rename_chat(chat_id, title))

    def _delete(self, chat_id: str) -> None:
        pending = self._replies.of_chat(chat_id)
        if pending:
            self._replies.stop(pending)
        if self._do(lambda: self._store.delete_chat(chat_id)):
            if chat_id == self._chat.chat_id:
                self._chat.open(None)
            title = next((chat.title for chat in self._store.trash() if chat.id == chat_id), "") or UNTITLED
            toast = self._toaster.show(f"“{title}” was deleted.", action=("Undo", lambda: self._restore(chat_id)))
            toast.closed.connect(lambda: self._undo.pop(chat_id, None))
            self._undo[chat_id] = toast
            self.trash_changed.emit()

    def _restore(self, chat_id: str) -> None:
        if self._do(lambda: self._store.restore_chat(chat_id)):
            self._chat.open(chat_id)
            self.trash_changed.emit()

    def _on_search(self, query: str) -> None:
        self._query = query.strip()
        if self._query:
            self._search_timer.start()
        else:
            self._search_timer.stop()
            self._sidebar.set_hits(None)

    def _search(self) -> None:
        if self._query:
            self._do(lambda: self._sidebar.set_hits(self._store.search(self._query)), refresh=False)

    def _do(self, work: Callable[[], object], *, refresh: bool = True) -> bool:
        """Do something in the store; tell what went wrong, return whether it went well."""
        try:
            work()
        except FlintError as error:
            self.failed.emit(error.info())
            return False
        finally:
            if refresh:
                self.refresh()
        return True
