"""What is stored and can be thrown away, as the panel shows it: deleted chats, and what models have read."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.settings.action_row import ActionRow
from app.theme import Theme
from engine.chats.trash import KEPT_DAYS
from engine.core.sizes import count_text

_TRASH_HELP = (
    f"A deleted chat stays in the trash for {KEPT_DAYS} days. Then it is removed for good, and with it what models have read "
    "of it."
)
_READ_HELP = (
    "What models have read of your chats is kept in memory and on disk, so that they go on at once. Without it they are read "
    "again; no message is lost."
)


class Storage(QWidget):
    """Two rows: `empty_requested` asks to remove the chats in the trash, `clear_requested` to forget what was read."""

    empty_requested = Signal()
    clear_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._trash = ActionRow(theme, "Deleted chats", "Empty trash", _TRASH_HELP, name="emptyTrash", parent=self)
        self._read = ActionRow(theme, "What models have read", "Clear", _READ_HELP, name="clearCache", parent=self)
        self._trash.pressed.connect(self.empty_requested)
        self._read.pressed.connect(self.clear_requested)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self._trash)
        layout.addWidget(self._read)
        self.show_trash(0)

    def show_trash(self, chats: int, messages: int = 0) -> None:
        """Show how many chats are in the trash, and how many messages of chats that are not."""
        shown = f"{chats:,} in the trash" if not messages else f"{things(chats, messages)} in the trash"
        spoken = f"deleted: {things(chats, messages)}" if messages else deleted_chats(chats)
        self._trash.show_state(shown if chats or messages else "none", chats + messages > 0, spoken)

    def show_emptying(self, done: int, total: int) -> None:
        """Show how many chats of the trash that is being emptied are removed."""
        self._trash.show_state(f"emptying… {done:,} of {total:,}", False)

    def show_clearing(self, clearing: bool) -> None:
        """Show whether what was read is being forgotten."""
        self._read.show_state("clearing…" if clearing else "", not clearing)


def things(chats: int, messages: int) -> str:
    """Return numbers of chats and messages in words, without those that are none."""
    counts = ((chats, "chat"), (messages, "message"))
    return " and ".join(count_text(count, name) for count, name in counts if count)


def deleted_chats(count: int) -> str:
    """Return a number of deleted chats in words."""
    return count_text(count, "deleted chat") if count else "no deleted chats"
