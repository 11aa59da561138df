"""The window that says why Flint can't start."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app.startup_failure import StartupFailure
from app.theme import Theme
from engine.core.errors import StoreTooNew

ERROR = StoreTooNew("The chats were written by a newer Flint <b>(schema 99)</b>.").info()


@pytest.fixture
def theme(qapp):
    """A theme and no style sheet of the app's: when this window comes, nothing else was made."""
    theme = Theme()
    theme.set_mode("dark")
    return theme


@pytest.fixture
def failure(qtbot, theme):
    failure = StartupFailure(theme, ERROR)
    qtbot.addWidget(failure)
    failure.show()
    qtbot.waitExposed(failure)
    return failure


def button(failure, name):
    return failure.findChild(QWidget, name)


def test_it_says_what_happened_and_what_to_do(failure):
    assert failure.isVisible()
    said = {name: failure.findChild(QLabel, name) for name in ("failureTitle", "failureText", "failureHint")}
    assert said["failureTitle"].text() == "Flint can't start"
    assert said["failureText"].text() == ERROR.text
    assert said["failureHint"].text() == ERROR.hint
    assert all(label.isVisible() for label in said.values())


def test_text_is_shown_as_it_is_never_as_markup(failure):
    for name in ("failureText", "failureHint"):
        assert failure.findChild(QLabel, name).textFormat() == Qt.TextFormat.PlainText


@pytest.mark.drives("quitButton", "startupFailure")
def test_quit_closes_and_asks_for_nothing(failure, qtbot):
    qtbot.mouseClick(button(failure, "quitButton"), Qt.MouseButton.LeftButton)
    assert not failure.isVisible()
    assert not failure.wants_retry


def test_try_again_closes_and_says_so(failure, qtbot):
    qtbot.mouseClick(button(failure, "retryButton"), Qt.MouseButton.LeftButton)
    assert not failure.isVisible()
    assert failure.wants_retry


def test_return_tries_again_and_escape_quits(failure, qtbot):
    failure.activateWindow()
    qtbot.waitActive(failure)
    qtbot.keyClick(failure, Qt.Key.Key_Escape)
    assert not failure.isVisible()
    assert not failure.wants_retry
    failure.show()
    qtbot.keyClick(failure, Qt.Key.Key_Return)
    assert failure.wants_retry


def test_text_fits_into_the_window_however_long_it_is(qtbot, theme):
    long = StoreTooNew("The folder " + "/a/very/long/path" * 20 + " can't be written.").info()
    failure = StartupFailure(theme, long)
    qtbot.addWidget(failure)
    failure.show()
    label = failure.findChild(QLabel, "failureText")
    assert failure.width() <= 700
    assert label.width() <= failure.width()
    assert label.height() >= label.heightForWidth(label.width())


def test_it_is_drawn_in_the_themes_colours(failure, theme):
    assert failure.grab().toImage().pixelColor(4, 4) == theme.color("content")
