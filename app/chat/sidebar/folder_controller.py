"""Folders at work: made, renamed, opened, deleted, and chats put into them."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.chat.sidebar.sidebar import Sidebar
from app.chat.sidebar.store_work import StoreWork
from app.widgets.toast import Toaster
from engine.chats.folders import RemovedFolder
from engine.chats.store import ChatStore
from engine.core.sizes import count_text


class FolderController(StoreWork):
    """Does what the sidebar wishes for folders. A folder that is deleted leaves its chats, and can be brought back."""

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
        wishes = sidebar.wishes
        wishes.folder_requested.connect(self.create)
        wishes.folder_renamed.connect(lambda id_, name: self.do(lambda: store.folders.rename(id_, name)))
        wishes.folder_expanded.connect(lambda id_, open_: self.do(lambda: store.folders.expand(id_, open_)))
        wishes.folder_deleted.connect(self._delete)
        wishes.move_requested.connect(self._move)

    def create(self, chat_ids: tuple[str, ...] = ()) -> None:
        """Make a folder with these chats in it, its name ready to be typed."""
        made: list[str] = []

        def make() -> None:
            folder = self._store.folders.create()
            made.append(folder.id)
            self._put(chat_ids, folder.id)

        self.do(make)
        for folder_id in made:
            self._sidebar.rename(folder_id)

    def _move(self, chat_ids: tuple[str, ...], folder_id: str) -> None:
        def move() -> None:
            self._put(chat_ids, folder_id)
            if folder_id:
                self._store.folders.expand(folder_id, True)  # So that they are seen to arrive.

        self.do(move)

    def _put(self, chat_ids: tuple[str, ...], folder_id: str) -> None:
        """A chat stands in one place: what is put into a folder, or back under its date, is pinned no more."""
        if chat_ids:
            self._store.folders.move(chat_ids, folder_id or None)
            self._store.pin_chats(chat_ids, False)

    def _delete(self, folder_id: str) -> None:
        gone: list[RemovedFolder] = []
        if self.do(lambda: gone.append(self._store.folders.remove(folder_id))):
            removed = gone[0]
            count = len(removed.chat_ids)
            kept = f"Its {count_text(count, 'chat')} {'is' if count == 1 else 'are'} kept." if count else ""
            title = f"The folder “{removed.folder.name}” was deleted."
            self._toaster.show(title, kept, action=("Undo", lambda: self.do(lambda: self._store.folders.restore(removed))))
