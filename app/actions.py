"""What can be done in the window, declared once: menus, the command palette and the sheet of shortcuts derive from it."""

from collections.abc import Callable

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from engine.core.record import Record


class Entry(Record):
    """One thing that can be done: the menu it stands in and its action, whose text, keys and state all others show."""

    group: str
    action: QAction


class Actions:
    """The window's actions in the order they were added. Keys work wherever the window has the focus."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self._entries: list[Entry] = []

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All of them."""
        return tuple(self._entries)

    def add(self, group: str, name: str, title: str, keys: str, work: Callable[[], object]) -> QAction:
        """Add an action and return it: `name` is its objectName, `keys` as QKeySequence reads them or ""."""
        action = QAction(title, self._window)
        action.setObjectName(name)
        if keys:
            action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda: work())
        self._window.addAction(action)
        self._entries.append(Entry(group, action))
        return action

    def find(self, name: str) -> QAction:
        """Return the action with this objectName. Raises `KeyError`."""
        for entry in self._entries:
            if entry.action.objectName() == name:
                return entry.action
        raise KeyError(name)
