"""Reads how likely a reply's tokens were, beside the window: of a long reply that takes longer than a frame."""

from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.chat.inspector.token_sheet import TokenSheet, odds_sheet
from engine.chats.store import ChatStore
from engine.core.errors import FlintError
from engine.core.odds import TokenOdds
from engine.core.record import Record


class ReadOdds(Record):
    """What was kept of a reply, and how the inspector shows it."""

    odds: TokenOdds
    sheet: TokenSheet


class OddsReader(QObject):
    """Keeps what was read last. `read` says that what was asked for is known now."""

    read = Signal()

    def __init__(self, store: ChatStore, parent: QObject) -> None:
        super().__init__(parent)
        self._store = store
        self._reply, self._known = "", False
        self._found: ReadOdds | None = None
        self._work = Background(self)
        self._work.done.connect(self._take)

    def ask(self, reply: str) -> bool:
        """Return whether it is known what was kept of a reply; if not, it is read now."""
        if reply != self._reply:
            self._reply, self._known = reply, False
            before = self._found
            self._work.run("odds", lambda: _read(self._store, reply, before))
        return self._known

    @property
    def found(self) -> ReadOdds | None:
        """What was kept of the reply that is known; None where nothing was."""
        return self._found if self._known else None

    def forget(self) -> None:
        """Read again when asked again: replies have changed."""
        self._reply, self._known = "", False
        self._work.forget()

    def close(self) -> None:
        """End the thread that reads."""
        self._work.close()

    def _take(self, _key: str, found: ReadOdds | None) -> None:
        self._found, self._known = found, True
        self.read.emit()


def _read(store: ChatStore, reply: str, before: ReadOdds | None) -> ReadOdds | None:
    try:
        odds = store.odds(reply)
    except FlintError:
        return None
    if odds is None:
        return None
    return before if before and before.odds == odds else ReadOdds(odds, odds_sheet(odds))  # The same is shown already.
