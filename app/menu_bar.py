"""The menu bar, which macOS shows at the top of the screen; made from the declared actions."""

from collections.abc import Iterable

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from app.actions import Entry

# Where macOS expects actions that belong to the application: it moves them into the menu with its name.
_ROLES = {
    "showSettings": QAction.MenuRole.PreferencesRole,
    "quit": QAction.MenuRole.QuitRole,
}


def make_menu_bar(entries: Iterable[Entry], parent: QWidget | None = None) -> QMenuBar:
    """Return a menu bar with a menu for each group, in the order the actions were declared."""
    bar = QMenuBar(parent)
    bar.setObjectName("menuBar")
    menus: dict[str, QMenu] = {}
    for entry in entries:
        if entry.group not in menus:
            menus[entry.group] = bar.addMenu(entry.group)
            menus[entry.group].setObjectName(f"menu.{entry.group}")
        entry.action.setMenuRole(_ROLES.get(entry.action.objectName(), QAction.MenuRole.NoRole))
        menus[entry.group].addAction(entry.action)
    return bar
