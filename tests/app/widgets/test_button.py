"""Buttons, icon buttons and links, driven by mouse and keyboard."""

import pytest
from PySide6.QtCore import QPoint, Qt

from app.widgets.button import Button, PrimaryButton
from app.widgets.icon_button import GoButton, IconButton
from app.widgets.link import Link


def make(kind, theme):
    if kind in (IconButton, GoButton):
        return kind(theme, "eye", "Look")
    return kind(theme, "Look")


KINDS = pytest.mark.parametrize("kind", [Button, PrimaryButton, IconButton, GoButton, Link])


@KINDS
def test_a_click_and_the_space_bar_press_it(kind, theme, window, qtbot):
    button = window.put(make(kind, theme))
    with qtbot.waitSignal(button.clicked):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    with qtbot.waitSignal(button.clicked):
        qtbot.keyClick(button, Qt.Key.Key_Space)


@KINDS
def test_a_disabled_one_cannot_be_pressed(kind, theme, window, qtbot):
    button = window.put(make(kind, theme))
    button.setEnabled(False)
    with qtbot.assertNotEmitted(button.clicked):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


@KINDS
def test_it_has_a_name_for_people_and_for_tools(kind, theme):
    button = make(kind, theme)
    assert button.accessibleName() == "Look"
    assert button.objectName()


@KINDS
def test_the_ring_shows_for_the_keyboard_only(kind, theme, window):
    button = window.put(make(kind, theme))
    button.setFocus(Qt.FocusReason.MouseFocusReason)
    assert not button._ring.visible
    button.clearFocus()
    button.setFocus(Qt.FocusReason.TabFocusReason)
    assert button._ring.visible
    button.clearFocus()
    assert not button._ring.visible


@KINDS
def test_the_ring_is_painted_around_the_control(kind, theme, window):
    button = window.put(make(kind, theme))
    before = window.grab().toImage()
    button.setFocus(Qt.FocusReason.TabFocusReason)
    after = window.grab().toImage()
    corner = button.mapTo(window, QPoint(0, 0))
    middle = QPoint(corner.x() + button.width() // 2, corner.y() - 3)
    assert after.pixelColor(middle) == theme.color("accent")
    assert before.pixelColor(middle) != theme.color("accent")


def test_each_state_of_a_primary_button_has_its_own_fill(theme, window):
    button = window.put(PrimaryButton(theme, "Go"))

    def fill():
        return button.grab().toImage().pixelColor(5, button.height() // 2).name()

    assert fill() == theme.color("accent-fill").name()
    button.setDown(True)
    assert fill() == theme.color("accent-fill-pressed").name()
    button.setDown(False)
    button.setEnabled(False)
    assert fill() not in (theme.color("accent-fill").name(), theme.color("accent-fill-pressed").name())


@pytest.mark.drives("button.*")
def test_a_checked_icon_button_shows_the_accent(theme, window, qtbot):
    button = window.put(IconButton(theme, "stop", "Filled"))
    button.setCheckable(True)
    middle = button.rect().center()
    assert button.grab().toImage().pixelColor(middle).name() == theme.color("ink-2").name()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert button.grab().toImage().pixelColor(middle).name() == theme.color("accent-ink").name()


def test_a_change_of_mode_repaints(theme, window):
    button = window.put(PrimaryButton(theme, "Go"))
    theme.set_mode("dark")
    assert button.grab().toImage().pixelColor(5, 14).name() == theme.color("accent-fill").name() == "#ff8a3d"


def test_a_button_is_wide_enough_for_its_text_and_icon(theme):
    assert Button(theme, "Export the chat").sizeHint().width() > Button(theme, "Export").sizeHint().width()
    assert Button(theme, "Export", icon="copy").sizeHint().width() > Button(theme, "Export").sizeHint().width()
    assert (Button(theme, "x").sizeHint().height(), Button(theme, "x", small=True).sizeHint().height()) == (28, 24)
