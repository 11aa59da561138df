"""The line at the foot of the sidebar while chats are imported or exported: what, how far, and a way to stop it."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.chat.welcome_cards import Bar
from app.chat.words import Words
from app.theme import Theme
from app.widgets.icon_button import IconButton

_HEIGHT = 40


class TransferRow(QWidget):
    """40 px high, hidden while nothing is on its way; `stopped` says that somebody wants it stopped."""

    stopped = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transferRow")
        self.setAccessibleName("Chats on their way")
        self.setFixedHeight(_HEIGHT)
        self._words = Words(theme, "small", "ink-2", parent=self)
        self._bar = Bar(theme, self)
        self._bar.setObjectName("transferProgress")
        self._stop = IconButton(theme, "x", "Stop", size=24, icon_size=14, parent=self)
        self._stop.setObjectName("transferStop")
        self._stop.clicked.connect(self._ask)
        grid = QGridLayout(self)
        grid.setContentsMargins(8, 4, 0, 4)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        grid.addWidget(self._words, 0, 0)
        grid.addWidget(self._bar, 1, 0)
        grid.addWidget(self._stop, 0, 1, 2, 1)
        self._what = ""
        self.hide()

    def begin(self, what: str) -> None:
        """Show that something began: "Importing chats"."""
        self._what = what
        self._stop.setEnabled(True)
        self._words.say(what)
        self._bar.setAccessibleName(what)
        self._bar.setValue(0)
        self.show()

    def show_progress(self, done: int, total: int) -> None:
        """Show how much is done."""
        percent = round(100 * min(done, total) / total) if total else 0
        self._bar.setValue(percent)
        if self._stop.isEnabled():
            self._words.say(f"{self._what}, {percent}%")

    def _ask(self) -> None:
        self._stop.setEnabled(False)
        self._words.say("Stopping")
        self.stopped.emit()
