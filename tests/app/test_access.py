"""What assistive technology is told: every part that can have the focus has a name and a role, and Tab reaches all of them."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from tests.app.window_driver import open_window

NAMELESS = {QAccessible.Role.NoRole, QAccessible.Role.Client, QAccessible.Role.Pane}


@pytest.fixture
def full(flint):
    """The window with a chat, and the settings open."""
    flint.ask("Hello")
    flint.click("settingsButton")
    return flint


def focusable(window):
    """The parts on screen that can have the focus."""
    return [
        widget
        for widget in window.findChildren(QWidget)
        if widget.isVisible()
        and widget.isEnabled()
        and widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        and not widget.focusProxy()
    ]


def told(widget):
    """What is said of a widget."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name), interface.role()


def complaints(window):
    """The parts that can have the focus without saying what they are."""
    found = []
    for widget in focusable(window):
        name, role = told(widget)
        if not name.strip() or (role in NAMELESS and not widget.accessibleDescription()):
            found.append((type(widget).__name__, widget.objectName(), name, role))
    return found


def test_every_part_that_takes_the_focus_has_a_name(full):
    assert len(focusable(full.window)) > 20
    assert not [found for found in complaints(full.window) if not found[2].strip()]


def test_every_part_with_a_handle_that_takes_the_focus_has_a_name_on_the_welcome_page(qtbot):
    with open_window(qtbot) as driver:
        assert not [found for found in complaints(driver.window) if not found[2].strip()]


def test_tab_goes_through_every_part_and_comes_back(full):
    wanted = {widget for widget in focusable(full.window) if widget.focusPolicy() & Qt.FocusPolicy.TabFocus}
    full.part("composer").setFocus()
    reached = set()
    for _ in range(3 * len(wanted)):
        focus = QApplication.focusWidget()
        reached.add(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        if QApplication.focusWidget() is full.part("composer"):
            break
    missed = [(type(widget).__name__, widget.objectName()) for widget in wanted - reached if widget.isVisible()]
    # One segment of a row is reached; the arrows go through the others.
    assert not [name for name in missed if name[0] != "_Segment"]
