"""The dialog that all dialogs with a heading are."""

from collections.abc import Callable

from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.button import Button
from app.widgets.label import Label


class Sheet(QDialog):
    """A heading, words on what it is for, what the subclass lays into `body`, and buttons at the bottom right.

    Show it by `open`: it is modal for the window it belongs to.
    """

    def __init__(self, theme: Theme, heading: str, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName(heading)
        self.setWindowTitle(heading)
        self.heading = Label(theme, heading, style="section", parent=self)
        self.about = Label(theme, words, style="small", role="ink-2", wrap=True, parent=self)
        self.about.setVisible(bool(words))
        self.body = QVBoxLayout()
        self.body.setSpacing(12)
        self._left, self._right = QHBoxLayout(), QHBoxLayout()
        buttons = QHBoxLayout()
        buttons.addLayout(self._left)
        buttons.addStretch(1)
        buttons.addLayout(self._right)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(12)
        column.addWidget(self.heading)
        column.addWidget(self.about)
        column.addLayout(self.body, 1)
        column.addLayout(buttons)

    def add_button(self, button: Button, name: str, work: Callable[[], object], *, left: bool = False) -> None:
        """Put a button at the right of those there are, or `left` of them all, apart."""
        button.setObjectName(name)
        button.clicked.connect(work)
        (self._left if left else self._right).addWidget(button)
