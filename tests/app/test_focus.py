"""Where the keyboard is when the part that has it goes: where it was before, never at the window's first field."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from shiboken6 import isValid

from tests.app.window_driver import open_window

LEFT = Qt.MouseButton.LeftButton
WITHDRAWALS = ("hide", "disable")


def toast(flint, **given):
    shown = flint.window.toaster.show("Deleted", action=("Undo", lambda: None), **given)
    return shown, shown.findChild(QAbstractButton, "toastAction")


@pytest.mark.parametrize("name", ["toastAction", "toastClose"])
@pytest.mark.parametrize("still", [True, False])
def test_a_click_in_a_message_leaves_the_keyboard_in_the_composer(flint, qtbot, monkeypatch, still, name):
    monkeypatch.setattr(type(flint.window._theme), "still", property(lambda _: still))
    composer = flint.part("composer")
    composer.setFocus()
    shown, _ = toast(flint)
    qtbot.mouseClick(shown.findChild(QAbstractButton, name), LEFT)
    assert composer.hasFocus()
    flint.wait(lambda: not isValid(shown))
    assert composer.hasFocus()


@pytest.mark.parametrize("end", ["its time", "its button", "escape", "the same again"])
def test_a_message_that_goes_gives_the_keyboard_back(flint, qtbot, end):
    composer = flint.part("composer")
    composer.setFocus()
    shown, action = toast(flint)
    action.setFocus(Qt.FocusReason.TabFocusReason)
    if end == "its time":
        shown.timer.timeout.emit()
    elif end == "its button":
        qtbot.keyClick(action, Qt.Key.Key_Space)
    elif end == "escape":
        qtbot.keyClick(action, Qt.Key.Key_Escape)
    else:
        toast(flint)
    assert composer.hasFocus()
    flint.wait(lambda: shown not in flint.window.toaster.toasts)
    assert composer.hasFocus()


def test_the_action_of_a_message_that_is_going_is_not_done_again(flint, qtbot):
    done = []
    shown = flint.window.toaster.show("Deleted", action=("Undo", lambda: done.append(1)))
    for _ in range(2):
        qtbot.mouseClick(shown.findChild(QAbstractButton, "toastAction"), LEFT)
    assert done == [1]


@pytest.mark.parametrize("withdrawal", WITHDRAWALS)
def test_whatever_goes_while_it_has_the_keyboard_gives_it_back(flint, withdrawal):
    """Every part of the window that can have it, with both side panels and the find bar open."""
    window, composer = flint.window, flint.part("composer")
    flint.ask("Hello there")
    window.toolbar.settings_button.setChecked(True)
    window.page.finder.open()
    parts = [part for part in window.findChildren(QWidget) if _takes_the_keyboard(part, window)]
    assert len(parts) > 20
    for part in parts:
        never = part is window.page.transcript and withdrawal == "disable"
        if part is composer or never or not _takes_the_keyboard(part, window):
            continue
        composer.setFocus()
        part.setFocus()
        if QApplication.focusWidget() is not part:
            continue
        part.hide() if withdrawal == "hide" else part.setEnabled(False)
        assert composer.hasFocus(), (part.objectName(), type(part).__name__, QApplication.focusWidget())
        part.show() if withdrawal == "hide" else part.setEnabled(True)


@pytest.mark.parametrize("panel", ["sidebar", "settings", "find bar"])
def test_a_panel_that_is_closed_gives_the_keyboard_back(flint, panel):
    window, composer = flint.window, flint.part("composer")
    composer.setFocus()
    if panel == "settings":
        window.toolbar.settings_button.setChecked(True)
        flint.part("setting.temperature").setFocus()
        window.toolbar.settings_button.setChecked(False)
    elif panel == "sidebar":
        flint.part("chatSearch").setFocus()
        window.toggle_sidebar()
    else:
        window.page.finder.open()
        window.page.finder.close()
    assert composer.hasFocus()


def test_a_window_without_a_chat_keeps_the_keyboard_as_well(qtbot):
    with open_window(qtbot) as flint:
        flint.wait(flint.part("composer").hasFocus)
        shown, action = toast(flint)
        action.setFocus(Qt.FocusReason.TabFocusReason)
        shown.close_toast()
        assert flint.part("composer").hasFocus()


def _takes_the_keyboard(part, window):
    return part.window() is window and part.isVisible() and part.isEnabled() and part.focusPolicy() != Qt.FocusPolicy.NoFocus
