"""The trash in the sidebar: deleted chats are listed, brought back, or removed for good."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.chat.sidebar.sidebar import Sidebar
from app.chat.sidebar.store_work import StoreWork
from app.widgets.question import ask_to_remove
from app.widgets.toast import Toaster
from engine.chats.store import ChatStore
from engine.core.sizes import count_text


class TrashController(StoreWork):
    """Shows the trash in the list's place while that is wanted.

    `restored` carries the ids of chats that were brought back; `removed` says that some are gone for good and the engine is to
    forget them.
    """

    restored = Signal(object)
    removed = Signal()

    def __init__(
        self,
        store: ChatStore,
        sidebar: Sidebar,
        toaster: Toaster,
        refresh: Callable[[], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(refresh, parent)
        self._store = store
        self._sidebar = sidebar
        self._toaster = toaster
        self._shown = False
        sidebar.trash_toggled.connect(self.show)
        sidebar.wishes.restore_requested.connect(self._restore)
        sidebar.wishes.removal_requested.connect(self._ask)

    def show(self, shown: bool) -> None:
        """Show the deleted chats, or the others again."""
        self._shown = shown
        self.update()

    def update(self) -> None:
        """Read the trash again where it is shown."""
        if not self._shown:
            self._sidebar.set_trash(None)
            return
        self.do(lambda: self._sidebar.set_trash(self._store.trash()), refresh=False)

    def _restore(self, chat_ids: tuple[str, ...]) -> None:
        if self.do(lambda: self._store.restore_chats(chat_ids)):
            if len(chat_ids) > 1:
                self._toaster.show(f"{count_text(len(chat_ids), 'chat')} were restored.")
            self.restored.emit(chat_ids)

    def _ask(self, chat_ids: tuple[str, ...]) -> None:
        count = len(chat_ids)
        titles: dict[str, str] = {}
        if not self.do(lambda: titles.update((chat.id, chat.title) for chat in self._store.trash()), refresh=False):
            return
        what = f"“{titles.get(chat_ids[0]) or 'New chat'}”" if count == 1 else count_text(count, "chat")
        more = "They can’t be brought back." if count > 1 else "It can’t be brought back."
        text = f"Delete {what} for good?"
        ask_to_remove(self._sidebar.window(), "removeChats", text, more, "Delete", lambda: self._remove(chat_ids))

    def _remove(self, chat_ids: tuple[str, ...]) -> None:
        if self.do(lambda: self._store.discard_chats(chat_ids)):
            self.removed.emit()
