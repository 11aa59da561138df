"""What comes back with the next window, and the window's own keys and parts."""

import base64

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from engine.chats.store import ChatStore
from engine.core.paths import locate
from tests.app.window_driver import give_model, open_window, refuse_writes, remember, set_settings
from tests.models.speaking import FOX, GREETING

CTRL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


# -- what comes back -----------------------------------------------------------------------------------------------------


def test_chat_model_and_size_come_back(qtbot, fox, greeting):
    give_model(fox)
    remember(model=give_model(greeting))
    with open_window(qtbot) as flint:
        flint.wait_ready()
        flint.ask("Hello")
        chat = flint.window.chat.chat_id
        flint.choose_model("fox")
        flint.wait_ready()
        flint.window.resize(900, 707)
    with open_window(qtbot) as again:
        assert again.window.chat.chat_id == chat
        assert again.shown() == ["Hello", GREETING]
        assert again.window.height() == 707  # The screen that is none is too narrow to try the width.
        again.wait_ready()
        assert again.window.models.model.id == "fox"
        assert again.ask("Again").text == FOX


def test_empty_page_comes_back_as_such(flint, qtbot):
    flint.ask("Hello")
    flint.click("newChatButton")
    flint.window.close()
    with open_window(qtbot) as again:
        assert again.window.chat.chat_id is None
        assert again.window.page.mode == "welcome"


def test_drafts_of_every_chat_survive_a_restart(flint, qtbot):
    first = flint.ask("One").chat_id
    flint.type("draft of one")
    flint.click("newChatButton")
    flint.type("draft of none yet")
    flint.window.close()
    with open_window(qtbot) as again:
        assert again.part("composer").text == "draft of none yet"
        again.open_chat(first)
        assert again.part("composer").text == "draft of one"
        again.click("newChatButton")
        assert again.part("composer").text == "draft of none yet"


def test_chat_that_was_deleted_meanwhile_is_not_missed(flint, qtbot):
    chat = flint.ask("Hello").chat_id
    flint.window.close()
    with ChatStore(locate().chats) as store:
        store.delete_chat(chat)
    with open_window(qtbot) as again:
        assert again.window.chat.chat_id is None
        assert again.toasts() == []


@pytest.mark.parametrize("kept", ["", "no base64 at all", "YWJj", base64.b64encode(b"\x01\xd9\xd0\xcb" + b"\0" * 60).decode()])
def test_size_that_makes_no_sense_gives_the_usual_one(qtbot, kept):
    remember(**{"window-geometry": kept})
    with open_window(qtbot) as flint:
        assert flint.window.width() >= 640
        assert flint.window.height() >= 480


def test_reply_that_was_closed_on_is_there_as_far_as_it_came(writing, qtbot):
    flint, pending = writing
    flint.window.close()
    written = "".join(piece.text for piece in flint.deltas(pending.request_id))
    with open_window(qtbot) as again:
        reply = again.stored()[-1]
        assert (reply.state, reply.text) == ("cancelled", written)
        assert again.shown()[-1] == written.strip()


def test_window_closes_also_when_nothing_can_be_stored_any_more(writing):
    flint, pending = writing
    with refuse_writes(flint):
        flint.window.close()
        assert not flint.window.isVisible()
    (end,) = flint.ends(pending.request_id)
    assert end


# -- keys and parts ------------------------------------------------------------------------------------------------------


def test_shortcuts_reach_what_they_name(flint):
    reply = flint.ask("Hello")
    flint.key(Qt.Key.Key_N, CTRL)
    assert flint.window.chat.chat_id is None
    assert flint.part("composer").hasFocus()
    flint.key(Qt.Key.Key_F, CTRL | SHIFT)
    assert flint.part("chatSearch").hasFocus()
    flint.key(Qt.Key.Key_Comma, CTRL)
    assert flint.part("settingsPanel").isVisible()
    flint.key(Qt.Key.Key_Comma, CTRL)
    assert not flint.part("settingsPanel").isVisible()
    flint.key(Qt.Key.Key_S, CTRL | ALT)
    assert not flint.part("sidebar").isVisible()
    flint.key(Qt.Key.Key_S, CTRL | ALT)
    assert flint.part("sidebar").isVisible()
    flint.key(Qt.Key.Key_M, CTRL | SHIFT)
    assert flint.part("modelsDialog").isVisible()
    flint.window.place.dialog.close()
    flint.open_chat(reply.chat_id)
    flint.key(Qt.Key.Key_W, CTRL)
    assert not flint.window.isVisible()


def test_opening_a_chat_leaves_the_keyboard_in_the_composer(flint):
    reply = flint.ask("Hello")
    flint.click("newChatButton")
    flint.open_chat(reply.chat_id)
    assert flint.part("composer").hasFocus()


@pytest.mark.drives("sidebarButton")
def test_sidebar_gives_way_where_there_is_no_room_and_comes_back(flint):
    flint.window.resize(890, 700)
    assert not flint.part("sidebar").isVisible()
    flint.click("sidebarButton")
    assert flint.part("sidebar").isVisible()
    flint.window.resize(1200, 700)
    assert flint.part("sidebar").isVisible()
    flint.click("sidebarButton")
    flint.window.resize(1300, 700)
    assert not flint.part("sidebar").isVisible()


@pytest.mark.drives("settingsButton", "toolbar")
def test_settings_and_chat_both_have_room_at_the_least_size(flint):
    flint.window.resize(640, 480)
    flint.click("settingsButton")
    assert flint.part("settingsPanel").width() == 320
    flint.wait(lambda: flint.window.page.width() >= 320)
    assert flint.window.size().width() == 640


def test_escape_closes_the_newest_message_when_nobody_needs_it(flint):
    flint.window.toaster.show("First", kind="error")
    flint.window.toaster.show("Second", kind="error")
    flint.part("chatList").setFocus()
    flint.key(Qt.Key.Key_Escape, name="chatList")
    flint.wait(lambda: [text for text, _ in flint.toasts()] == ["First"])


def test_raise_brings_a_minimized_window_back_as_it_was(flint):
    flint.window.showMaximized()
    flint.window.showMinimized()
    flint.window.raise_window()
    assert not flint.window.isMinimized()
    assert flint.window.isMaximized()


def test_appearance_of_the_settings_holds_from_the_first_moment(qtbot):
    set_settings(theme="dark")
    with open_window(qtbot) as flint:
        assert flint.window.page.grab().toImage().pixelColor(4, 4).lightness() < 50
        assert "#" in QApplication.instance().styleSheet()


def test_name_with_markup_is_shown_as_it_is_everywhere(qtbot, fox):
    remember(model=give_model(fox, "<b>bold<br>"))
    with open_window(qtbot) as flint:
        flint.wait_ready()
        assert "&lt;b&gt;bold&lt;br&gt; answers" in flint.said()
