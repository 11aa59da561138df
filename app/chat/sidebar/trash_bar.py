"""The line over the deleted chats: how long they stay, and the ways out."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.chat.words import Words
from app.theme import Theme
from app.widgets.icon_button import IconButton
from app.widgets.link import Link
from engine.chats.trash import KEPT_DAYS

_HEIGHT = 32


class TrashBar(QWidget):
    """32 px high. `left` asks for the chats again, `empty_requested` for the end of all deleted ones."""

    left = Signal()
    empty_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trashBar")
        self.setAccessibleName("Trash")
        self.setFixedHeight(_HEIGHT)
        self._back = IconButton(theme, "left", "Back to the chats", size=24, icon_size=14, parent=self)
        self._back.setObjectName("trashBack")
        self._words = Words(theme, "caption", "ink-3", parent=self)
        self.show_emptying(0, 0)
        self._empty = Link(theme, "Empty…", style="small", parent=self)
        self._empty.setObjectName("trashEmpty")
        self._empty.setAccessibleName("Empty the trash")
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 4, 8, 4)
        row.setSpacing(4)
        row.addWidget(self._back)
        row.addWidget(self._words, 1)
        row.addWidget(self._empty)
        self._back.clicked.connect(self.left)
        self._empty.clicked.connect(self.empty_requested)

    def show_emptying(self, done: int, total: int) -> None:
        """Say how many chats of a trash that is being emptied are removed; without any, how long deleted ones stay."""
        self._words.say(f"Emptying… {done:,} of {total:,}" if total else f"Kept for {KEPT_DAYS} days")

    def set_count(self, count: int) -> None:
        """There is nothing to empty without deleted chats."""
        self._empty.setEnabled(count > 0)
