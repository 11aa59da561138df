"""Toasts: where they are, how they go, what they offer."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QLabel

from app.widgets.toast import SHOWN_MS, Toaster


@pytest.fixture(autouse=True)
def _still(theme, monkeypatch):
    monkeypatch.setattr(type(theme), "still", property(lambda self: True))


@pytest.fixture
def toaster(theme, window):
    window.resize(900, 600)
    return Toaster(theme, window)


def test_it_stands_at_the_upper_right_and_follows_the_window(toaster, window, qtbot):
    toast = toaster.show("Chat deleted")
    assert (toast.width(), toast.y(), window.width() - toast.geometry().right() - 1) == (344, 64, 16)
    window.resize(1200, 700)
    qtbot.waitUntil(lambda: window.width() - toast.geometry().right() - 1 == 16)


def test_information_goes_after_six_seconds_and_errors_stay(toaster):
    info, error = toaster.show("Chat deleted"), toaster.show("It broke", "Try again.", "error")
    assert info.timer.isActive()
    assert info.timer.interval() == SHOWN_MS == 6000
    assert not error.timer.isActive()
    info.timer.timeout.emit()
    assert toaster.toasts == (error,)


def test_a_refusal_looks_like_an_error_and_goes_like_information(toaster):
    kinds = ("error", "refusal", "info")
    toasts = [toaster.show(f"It is {kind}", "", kind) for kind in kinds]
    error, refusal, info = (toast.findChild(QLabel).pixmap().toImage() for toast in toasts)
    assert refusal == error != info
    assert [toast.timer.isActive() for toast in toasts] == [False, True, True]


def test_the_action_runs_once_and_closes_it(toaster, qtbot):
    undone = []
    toast = toaster.show("Chat deleted", action=("Undo", lambda: undone.append(1)))
    qtbot.mouseClick(toast.findChild(QAbstractButton, "toastAction"), Qt.MouseButton.LeftButton)
    assert undone == [1]
    assert toaster.toasts == ()


@pytest.mark.drives("toastClose")
def test_the_close_button_and_escape_close_it(toaster, qtbot):
    toast = toaster.show("It broke", "Try again.", "error")
    qtbot.mouseClick(toast.findChild(QAbstractButton, "toastClose"), Qt.MouseButton.LeftButton)
    assert toaster.toasts == ()
    toast = toaster.show("It broke again", "Try again.", "error")
    qtbot.keyClick(toast.findChild(QAbstractButton, "toastClose"), Qt.Key.Key_Escape)
    assert toaster.toasts == ()
    assert not toaster.dismiss_newest()


def test_several_stack_newest_first_without_overlap(toaster):
    old, new = toaster.show("One", "with a hint"), toaster.show("Two", "with a much longer hint " * 8)
    assert toaster.toasts == (new, old)
    assert old.y() == new.geometry().bottom() + 1 + 8


def test_the_rest_moves_up_when_one_goes(toaster):
    old, new = toaster.show("One"), toaster.show("Two")
    new.close_toast()
    assert old.y() == 64


def test_the_same_message_is_not_shown_twice(toaster):
    toaster.show("It broke", "Try again.", "error")
    toaster.show("It broke", "Try again.", "error")
    assert len(toaster.toasts) == 1


def test_a_flood_keeps_the_newest(toaster):
    for number in range(9):
        toaster.show(f"Problem {number}", kind="error")
    assert [toast.text for toast in toaster.toasts] == ["Problem 8", "Problem 7", "Problem 6", "Problem 5"]


def test_a_long_hint_is_shown_whole(toaster):
    hint = "The folder of the model lacks a file it needs. " * 6
    toast = toaster.show("The model could not be loaded", hint, "error")
    label = toast._hint
    assert label.height() >= label.heightForWidth(label.width())


def test_markup_in_a_message_is_shown_as_it_is(toaster):
    assert toaster.show("<b>x</b>", kind="error")._title.textFormat() == Qt.TextFormat.PlainText


def test_assistive_tools_are_told(toaster, monkeypatch):
    told = []
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: told.append(event))
    toaster.show("It broke", "Try again.", "error")
    assert told[0].message() == "It broke Try again."
    assert told[0].politeness() == QAccessible.AnnouncementPoliteness.Assertive


def test_it_takes_no_focus_away(toaster, window, qtbot):
    from PySide6.QtWidgets import QLineEdit

    edit = window.put(QLineEdit())
    edit.setFocus()
    toaster.show("It broke", "Try again.", "error")
    assert edit.hasFocus()
