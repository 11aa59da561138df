"""Driving the inspector in the real window."""

from PySide6.QtCore import QPoint, Qt

from app.chat.inspector.token_popover import TokenPopover
from tests.app.pointer import move

LEFT = Qt.MouseButton.LeftButton


def open_inspector(flint, tab="prompt"):
    """Open the inspector with its button, choose a tab with a click, and return the panel once it shows something."""
    if not flint.part("inspectorButton").isChecked():
        flint.click("inspectorButton")
    panel = flint.part("inspectorPanel")
    flint.press(flint.part("inspectorTabs"), f"segment.{tab}")
    flint.wait(lambda: panel.page != "prompt" or panel.tokens.sheet is not None)
    return panel


def texts(view):
    """The text of every token in a view, in order."""
    return [view.sheet.faces[index].text for index in view.sheet.ids]


def point_at(view, index):
    """Move the pointer over a token."""
    move(view.viewport(), QPoint(1, 1))
    move(view.viewport(), view.chip_rect(index).center())


def card(flint, kind=TokenPopover):
    """The card about a token, if it is shown."""
    found = flint.window.findChild(kind)
    return found if found is not None and found.isVisible() else None
