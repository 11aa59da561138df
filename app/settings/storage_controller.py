"""Throwing away at work: the trash is emptied, what models have read is forgotten, and the engine is told."""

import contextlib

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge
from app.errors import telling
from app.long_work import LongWork
from app.settings.panel import SettingsPanel
from app.widgets.question import ask_to_remove
from engine.chats.store import ChatStore
from engine.chats.trash import KEPT_DAYS
from engine.core.errors import ErrorInfo, FlintError
from engine.core.messages import TERMINALS, ClearPrefixCache, Event, Failed, Finished, ForgetChats

KEPT_S = KEPT_DAYS * 24 * 60 * 60


class StorageController(QObject):
    """Connects the panel's `Storage` with the store and the engine.

    `removed` carries the ids of chats that are gone for good; `cleared` says that the engine holds nothing any more of what
    it had read; `emptying` how many chats of the trash are removed and how many there were, (0, 0) when that is over.
    """

    removed = Signal(object)
    emptying = Signal(int, int)
    cleared = Signal()
    failed = Signal(object)

    def __init__(self, store: ChatStore, panel: SettingsPanel, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._panel = panel
        self._bridge = bridge
        self._forgetting: dict[str, list[str]] = {}
        self._clearing: str | None = None
        self._work = LongWork(self)
        self._work.progressed.connect(self._tell)
        self._work.finished.connect(lambda _: self._sweep())  # More was emptied meanwhile, perhaps.
        self._work.failed.connect(self._on_failed)
        self._work.ended.connect(self._on_swept)
        self._asked = False
        panel.opened.connect(self.refresh)
        panel.empty_requested.connect(self.ask_to_empty)
        panel.clear_requested.connect(self._clear)
        bridge.received.connect(self._take)

    def refresh(self) -> None:
        """Show how many chats are in the trash now, where that can be seen."""
        if self._panel.isVisible():
            self._panel.storage.show_trash(*self._count())

    def close(self) -> None:
        """Stop what is on its way and wait for it; it goes on at the next start."""
        self._work.close()

    def tidy(self) -> None:
        """Remove the chats that were in the trash long enough, and finish what an earlier Flint could not.

        What fails here is tried again at the next start: nobody asked for it.
        """
        try:
            self._store.discard_trash(KEPT_S)
            self.forget_removed(asked=False)
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
            self._store.discard_trash()
            self.forget_removed()
        self.refresh()

    def forget_removed(self, *, asked: bool = True) -> None:
        """Have the engine forget the chats that are gone for good, and remove from the file what is left of them.

        They stay listed as removed until the engine has: a Flint that ends before that tells it at its next start.
        """
        self.refresh()
        self._asked = self._asked or asked
        self._sweep()
        gone = self._store.removed_chats()
        if gone:
            request_id = self._bridge.new_id("forget-chats")
            self._forgetting[request_id] = gone
            self._bridge.send(ForgetChats(request_id, tuple(gone)))
            self.removed.emit(gone)

    def _sweep(self) -> None:
        with contextlib.suppress(FlintError):
            if not self._store.is_swept():
                self._work.start(self._store.sweep)

    def _tell(self, done: int, total: int) -> None:
        if self._panel.isVisible():
            self._panel.storage.show_emptying(done, total)
        self.emptying.emit(done, total)

    def _on_failed(self, error: ErrorInfo) -> None:
        """Tell somebody who asked; else it is tried again at the next start."""
        if self._asked:
            self.failed.emit(error)
        self.removed.emit([])  # What could not be removed is in the trash again.

    def _on_swept(self) -> None:
        self._asked = False
        self.emptying.emit(0, 0)
        self.refresh()

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
