"""The sheet of keyboard shortcuts: every action that has keys, and the keys of the parts themselves."""

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.actions import Entry
from app.theme import Theme
from app.widgets.button import Button
from app.widgets.label import Label
from app.widgets.sheet import Sheet

# Keys that belong to a part of the window and not to an action: (group, what it does, the keys).
PART_KEYS = (
    ("Writing", "Send the message", "Return"),
    ("Writing", "Begin a new line", "Shift+Return"),
    ("Writing", "Edit the last message, from an empty field", "Up"),
    ("Writing", "Stop the reply", "Ctrl+."),
    ("Writing", "Stop the reply, close what is open", "Escape"),
    ("Lists", "Open what is chosen", "Return"),
    ("Lists", "Rename a chat", "F2"),
    ("Lists", "Delete a chat", "Delete"),
)


def rows(entries: Iterable[Entry]) -> dict[str, list[tuple[str, str]]]:
    """Return the shortcuts by group, each as what it does and its keys as this system writes them."""
    found: dict[str, list[tuple[str, str]]] = {}
    for entry in entries:
        if not entry.action.shortcut().isEmpty():
            found.setdefault(entry.group, []).append((entry.action.text(), native(entry.action.shortcut())))
    for group, what, keys in PART_KEYS:
        found.setdefault(group, []).append((what, native(QKeySequence(keys))))
    return found


def native(keys: QKeySequence) -> str:
    """Return keys as this system writes them: ⌘N on a Mac, Ctrl+N elsewhere."""
    return keys.toString(QKeySequence.SequenceFormat.NativeText)


class ShortcutsSheet(Sheet):
    """Lists all shortcuts in two columns that scroll."""

    def __init__(self, theme: Theme, entries: Iterable[Entry], parent: QWidget | None = None) -> None:
        super().__init__(theme, "Keyboard Shortcuts", "", parent)
        self.setObjectName("shortcutsSheet")
        groups = rows(entries)
        columns = QHBoxLayout()
        columns.setContentsMargins(0, 0, 12, 0)
        columns.setSpacing(40)
        for half in _halves(groups):
            column = QVBoxLayout()
            column.setSpacing(20)
            for group in half:
                column.addLayout(_table(theme, group, groups[group]))
            column.addStretch(1)
            columns.addLayout(column, 1)
        body = QWidget()
        body.setLayout(columns)
        scroll = QScrollArea(self)
        scroll.setObjectName("shortcutsList")
        scroll.setAccessibleName("Keyboard shortcuts")
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(body)
        body.setAutoFillBackground(False)  # Handing it over sets it.
        scroll.viewport().setAutoFillBackground(False)
        self.body.addWidget(scroll, 1)
        self.add_button(Button(theme, "Close"), "shortcutsClose", self.accept)
        most = parent.window().size() if parent else body.sizeHint()
        self.resize(min(760, most.width() - 40), min(body.sizeHint().height() + 140, most.height() - 40))


def _halves(groups: dict[str, list[tuple[str, str]]]) -> tuple[list[str], list[str]]:
    """Return the groups' names in two columns of about the same length, their order kept."""
    left: list[str] = []
    right: list[str] = []
    half, length = sum(len(rows) + 2 for rows in groups.values()) / 2, 0
    for name, found in groups.items():
        (left if length < half else right).append(name)
        length += len(found) + 2
    return left, right


def _table(theme: Theme, group: str, found: list[tuple[str, str]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(0, 1)
    grid.addWidget(Label(theme, group, style="caption", role="ink-3", weight=600), 0, 0)
    for row, (what, keys) in enumerate(found, 1):
        label = Label(theme, what, style="small", wrap=True)
        shown = Label(theme, keys, style="small", role="ink-2")
        shown.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        grid.addWidget(label, row, 0)
        grid.addWidget(shown, row, 1)
    return grid
