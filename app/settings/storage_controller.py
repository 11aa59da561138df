"""Throwing away at work: the trash is emptied, what models have read is forgotten, and the engine is told."""

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge
from app.errors import telling
from app.settings.panel import SettingsPanel
from app.widgets.question import ask_to_remove
from engine.chats.store import ChatStore
from engine.chats.trash import KEPT_DAYS
from engine.core.errors import FlintError
from engine.core.messages import TERMINALS, ClearPrefixCache, Event, Failed, Finished, ForgetChats

KEPT_S = KEPT_DAYS * 24 * 60 * 60


class StorageController(QObject):
    """Connects the panel's `Storage` with the store and the engine.

    `removed` carries the ids of chats that are gone for good; `cleared` says that the engine holds nothing any more of what
    it had read.
    """

    removed = Signal(object)
    cleared = Signal()
    failed = Signal(object)

    def __init__(self, store: ChatStore, panel: SettingsPanel, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._panel = panel
        self._bridge = bridge
        self._forgetting: dict[str, list[str]] = {}
        self._clearing: str | None = None
        panel.opened.connect(self.refresh)
        panel.empty_requested.connect(self.ask_to_empty)
        panel.clear_requested.connect(self._clear)
        bridge.received.connect(self._take)

    def refresh(self) -> None:
        """Show how many chats are in the trash now, where that can be seen."""
        if self._panel.isVisible():
            self._panel.storage.show_trash(*self._count())

    def tidy(self) -> None:
        """Remove the chats that were in the trash long enough, and finish what an earlier Flint could not.

        What fails here is tried again at the next start: nobody asked for it.
        """
        try:
            self._remove(KEPT_S)
        except FlintError:
            return

    # -- the trash --------------------------------------------------------------------------------------------------

    def _count(self) -> tuple[int, int]:
        """Return how many chats are in the trash, and how many messages in the trash of other chats."""
        with telling(self.failed):
            return len(self._store.trash()), self._store.trashed_messages()
        return 0, 0

    def ask_to_empty(self) -> None:
        """Ask whether the trash is to be emptied, and do it then."""
        from app.settings.storage import things

        chats, messages = self._count()
        count = chats + messages
        if not count:
            self.refresh()
            return
        text = f"Delete {things(chats, messages)} for good?"
        more = "They can’t be brought back." if count > 1 else "It can’t be brought back."
        ask_to_remove(self._panel.window(), "emptyTrash", text, more, "Delete", self._empty)

    def _empty(self) -> None:
        with telling(self.failed):
            self._remove()
        self.refresh()

    def _remove(self, older_than_s: float | None = None) -> None:
        """Remove chats from the trash and have the engine forget them.

        They stay listed as removed until it has: a Flint that ends before that tells it at its next start.
        """
        self._store.empty_trash(older_than_s)
        self.forget_removed()

    def forget_removed(self) -> None:
        """Have the engine forget the chats that are gone for good."""
        self.refresh()
        gone = self._store.removed_chats()
        if gone:
            request_id = self._bridge.new_id("forget-chats")
            self._forgetting[request_id] = gone
            self._bridge.send(ForgetChats(request_id, tuple(gone)))
            self.removed.emit(gone)

    # -- what was read ----------------------------------------------------------------------------------------------

    def _clear(self) -> None:
        self._clearing = self._bridge.new_id("clear-cache")
        self._panel.storage.show_clearing(True)
        self._bridge.send(ClearPrefixCache(self._clearing))

    # -- the engine's answers ---------------------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        if not isinstance(event, TERMINALS):
            return
        forgotten = self._forgetting.pop(event.request_id, None)
        if forgotten is not None and isinstance(event, Finished):
            self._forgot(forgotten)
        clearing = event.request_id == self._clearing
        if clearing:
            self._clearing = None
            self._panel.storage.show_clearing(False)
            if isinstance(event, Finished):
                self.cleared.emit()
        if isinstance(event, Failed) and (clearing or forgotten is not None):
            self.failed.emit(event.error)

    def _forgot(self, chat_ids: list[str]) -> None:
        try:
            self._store.forget_removed(chat_ids)
        except FlintError:
            return  # The engine is told once more at the next start.
