"""What people do with messages in the real window, each by mouse and by keyboard."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.chat.message_actions import NOTHING_CUT
from app.chat.progress_words import WAIT
from engine.chats.attachment import Attachment
from engine.chats.store import ChatStore
from engine.core.errors import GenerationFailed
from engine.core.paths import locate
from tests.app.pointer import move
from tests.app.window_driver import give_model, open_window, refuse_writes, remember, set_settings
from tests.models.speaking import FOX, GREETING, speaking_model

ESCAPE, RETURN = Qt.Key.Key_Escape, Qt.Key.Key_Return
CONTROL, ALT, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def cut(qtbot, fox):
    """An open window whose replies are cut after five tokens."""
    remember(model=give_model(fox))
    set_settings(max_tokens=5)
    with open_window(qtbot) as driver:
        driver.wait_ready()
        yield driver


def body(flint, message):
    return flint.view(message).body


def menu_of(flint, message):
    """The open menu of a message, asked for with a click on its button."""
    flint.press(flint.view(message), "messageMenuButton")
    return open_menu(flint)


def open_menu(flint):
    menus = [menu for menu in flint.window.findChildren(QMenu) if menu.isVisible()]
    assert menus, "no menu is open"
    return menus[-1]


def entry(menu, title):
    return next(action for action in menu.actions() if action.text() == title)


def titles(menu):
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def pick(menu, title):
    """Click an entry of an open menu."""
    action = entry(menu, title)
    assert action.isEnabled(), f"{title} can't be chosen"
    window = menu.parent().window()
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    window.activateWindow()  # What a platform does when a menu closes.


def menu_key(widget):
    """Ask for a widget's menu with the menu key, as the platform does where the focus is."""
    widget.setFocus()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(4, 4), widget.mapToGlobal(QPoint(4, 4)))
    QApplication.sendEvent(widget, event)


def shortcut(flint, key, modifier):
    QTest.keyClick(flint.window, key, modifier)


def settled(flint):
    flint.wait(lambda: flint.idle)


def editor(flint):
    return flint.part("messageEditor")


# -- copy ------------------------------------------------------------------------------------------------------------------


@pytest.mark.drives("copyMessage", "messageMenu", "messageMenuButton")
def test_a_users_message_is_copied_by_button_menu_and_key(flint):
    reply = flint.ask("*Hello*")
    asked = flint.stored()[0]
    clipboard = QGuiApplication.clipboard()
    flint.press(flint.view(asked), "copyMessage")
    assert clipboard.text() == "*Hello*"
    pick(menu_of(flint, reply), "Copy Message")
    assert clipboard.text() == FOX
    body(flint, asked).setFocus()
    shortcut(flint, Qt.Key.Key_C, CONTROL | SHIFT)
    assert clipboard.text() == "*Hello*"


def test_the_actions_come_with_the_pointer_and_the_focus_and_stay_at_the_newest_reply(flint):
    flint.ask("Hello")
    last = flint.ask("And now?")
    asked, first = flint.stored()[:2]
    lines = {message.id: flint.view(message).findChild(QWidget, "statsLine") for message in (asked, first, last)}
    assert [lines[message.id]._fading.shown for message in (asked, first, last)] == [False, False, True]
    move(flint.view(asked), QPoint(5, 5))
    flint.wait(lambda: lines[asked.id]._copy.strength == 1)
    flint.view(first).findChild(QWidget, "regenerate").setFocus(Qt.FocusReason.TabFocusReason)
    flint.wait(lambda: lines[first.id]._again.strength == 1)


# -- edit ------------------------------------------------------------------------------------------------------------------


@pytest.mark.drives("editMessage", "messageEditor", "editSend")
def test_an_edited_message_is_answered_on_a_branch_of_its_own(flint):
    flint.ask("Hello")
    asked = flint.stored()[0]
    flint.press(flint.view(asked), "editMessage")
    assert editor(flint).text == "Hello"
    assert editor(flint).hasFocus()
    QTest.keyClicks(editor(flint), " there")
    flint.press(flint.view(asked), "editSend")
    settled(flint)
    assert flint.shown() == ["Hello there", FOX]
    edited = flint.stored()[0]
    assert (edited.sibling_index, edited.sibling_count) == (1, 2)
    flint.press(flint.view(edited), "previousBranch")
    assert flint.shown() == ["Hello", FOX]
    assert flint.window.findChild(QWidget, "messageEditor") is None


@pytest.mark.drives("messageEditor")
def test_return_sends_an_edit_shift_return_breaks_the_line_and_escape_leaves_all_as_it_was(flint):
    flint.ask("Hello")
    asked = flint.stored()[0]
    shortcut(flint, Qt.Key.Key_E, CONTROL)
    QTest.keyClicks(editor(flint), " you")
    QTest.keyClick(editor(flint), ESCAPE)
    flint.wait(lambda: flint.window.findChild(QWidget, "messageEditor") is None)
    assert flint.shown() == ["Hello", FOX]
    assert flint.stored()[0] == asked
    shortcut(flint, Qt.Key.Key_E, CONTROL)
    QTest.keyClick(editor(flint), RETURN, SHIFT)
    QTest.keyClicks(editor(flint), "two")
    QTest.keyClick(editor(flint), RETURN)
    settled(flint)
    assert flint.stored()[0].text == "Hello\ntwo"


@pytest.mark.drives("editCancel")
def test_cancel_leaves_an_edit(flint):
    flint.ask("Hello")
    asked = flint.stored()[0]
    pick(menu_of(flint, asked), "Edit…")
    flint.press(flint.view(asked), "editCancel")
    assert flint.shown() == ["Hello", FOX]


@pytest.mark.drives("messageEditor")
def test_no_half_composed_word_is_sent_from_an_edit(flint):
    flint.ask("Hello")
    shortcut(flint, Qt.Key.Key_E, CONTROL)
    QApplication.sendEvent(editor(flint), QInputMethodEvent("ni", []))
    QTest.keyClick(editor(flint), RETURN)
    assert flint.idle
    commit = QInputMethodEvent()
    commit.setCommitString("你")
    QApplication.sendEvent(editor(flint), commit)
    QTest.keyClick(editor(flint), RETURN)
    settled(flint)
    assert flint.stored()[0].text == "Hello你"


@pytest.mark.drives("composer")
def test_the_up_arrow_in_an_empty_composer_edits_the_last_message(flint):
    flint.ask("Hello")
    flint.ask("Again")
    flint.type("x")
    flint.key(Qt.Key.Key_Up)
    assert flint.window.findChild(QWidget, "messageEditor") is None
    flint.key(Qt.Key.Key_Backspace)
    flint.key(Qt.Key.Key_Up)
    assert editor(flint).text == "Again"


def test_an_edit_that_changes_nothing_asks_again(flint):
    flint.ask("Hello")
    asked = flint.stored()[0]
    shortcut(flint, Qt.Key.Key_E, CONTROL)
    QTest.keyClick(editor(flint), RETURN)
    settled(flint)
    assert flint.stored()[0] == asked
    assert flint.stored()[1].sibling_count == 2


@pytest.mark.drives("messageEditor")
def test_a_reply_in_other_words_is_marked_and_claims_no_measurements(flint):
    reply = flint.ask("Hello")
    pick(menu_of(flint, reply), "Edit…")
    QTest.keyClick(editor(flint), RETURN)
    QTest.keyClicks(editor(flint), "Indeed.")
    QTest.keyClick(editor(flint), RETURN, CONTROL)
    flint.wait(lambda: len(flint.stored()) == 2 and flint.stored()[1].edited)
    edited = flint.stored()[1]
    assert (edited.text, edited.facts, edited.sibling_count) == (f"{FOX}\nIndeed.", None, 2)
    assert flint.stats(edited) == "Edited"
    assert titles(menu_of(flint, edited)).count("Run Again Exactly…") == 0
    open_menu(flint).close()
    answer = flint.ask("And?")
    assert answer.text == FOX


def test_an_edit_survives_scrolling_and_another_chat(flint):
    reply = flint.ask("Hello")
    shortcut(flint, Qt.Key.Key_E, CONTROL)
    QTest.keyClicks(editor(flint), " precious")
    flint.click("newChatButton")
    flint.open_chat(reply.chat_id)
    assert editor(flint).text == "Hello precious"


def test_an_edit_that_can_not_be_stored_stays_in_its_field(flint):
    flint.ask("Hello")
    shortcut(flint, Qt.Key.Key_E, CONTROL)
    QTest.keyClicks(editor(flint), " precious")
    with refuse_writes(flint):
        QTest.keyClick(editor(flint), RETURN)
        assert "may not write" in flint.toasts()[0][0]
    assert editor(flint).text == "Hello precious"
    QTest.keyClick(editor(flint), RETURN)
    settled(flint)
    assert flint.shown() == ["Hello precious", FOX]


def test_an_edit_stays_in_sight_and_keeps_the_keyboard_while_a_reply_is_written(writing):
    flint, _ = writing
    shortcut(flint, Qt.Key.Key_E, CONTROL)
    field, transcript = editor(flint), flint.window.page.transcript
    room = transcript.verticalScrollBar().maximum() + transcript.viewport().height()
    flint.wait(lambda: transcript.verticalScrollBar().maximum() > room)
    assert field.hasFocus()
    assert field.visibleRegion().boundingRect() == field.rect()
    QTest.keyClick(field, ESCAPE)
    flint.window.page.composer.stop()
    settled(flint)


def test_a_message_that_scrolls_away_takes_the_keyboard_from_nobody(writing):
    flint, _ = writing
    shortcut(flint, Qt.Key.Key_E, CONTROL)
    transcript = flint.window.page.transcript
    view = transcript.view(transcript.messages[0].id)
    shortcut(flint, Qt.Key.Key_K, CONTROL)
    transcript.jump_to_bottom()
    flint.wait(lambda: not view.isVisible())
    assert flint.part("paletteField").hasFocus()
    QTest.keyClick(flint.part("paletteField"), ESCAPE)
    assert transcript.hasFocus()
    flint.part("composer").setFocus()
    transcript.scroll_to(transcript.messages[0].id)
    assert editor(flint).isVisible()
    assert flint.part("composer").hasFocus()


def test_an_edit_asked_for_again_is_brought_into_view_with_the_keyboard(writing):
    flint, _ = writing
    transcript = flint.window.page.transcript
    flint.wait(lambda: transcript.verticalScrollBar().maximum() > transcript.height())
    flint.window.page.composer.stop()
    settled(flint)
    for ask in (lambda: shortcut(flint, Qt.Key.Key_E, CONTROL), lambda: flint.key(Qt.Key.Key_Up)):
        shortcut(flint, Qt.Key.Key_E, CONTROL)
        QTest.keyClicks(editor(flint), "!")
        written = editor(flint).text
        transcript.jump_to_bottom()
        flint.part("composer").setFocus()
        assert not editor(flint).isVisible()
        ask()
        assert editor(flint).hasFocus()
        assert editor(flint).visibleRegion().boundingRect() == editor(flint).rect()
        assert editor(flint).text == written


def test_an_edit_that_is_left_at_the_end_lets_the_end_be_followed_again(flint):
    flint.ask("Hello")
    shortcut(flint, Qt.Key.Key_E, CONTROL)
    assert not flint.window.page.transcript.at_bottom
    QTest.keyClick(editor(flint), ESCAPE)
    assert flint.window.page.transcript.at_bottom


@pytest.mark.drives("messageEditor")
@pytest.mark.parametrize("written", ["", "  "])
def test_an_edit_of_a_message_with_files_can_leave_them_alone_without_text(flint, written):
    flint.window.chat.send("What is this?", (Attachment("a.txt", "file", "Text"),))
    settled(flint)
    shortcut(flint, Qt.Key.Key_E, CONTROL)
    editor(flint).selectAll()
    QTest.keyClick(editor(flint), Qt.Key.Key_Backspace)
    QTest.keyClicks(editor(flint), written)
    assert flint.part("editSend").isEnabled()
    QTest.keyClick(editor(flint), RETURN)
    settled(flint)
    asked, reply = flint.stored()
    assert (asked.text, asked.sibling_count) == ("", 2)
    assert [one.name for one in asked.attachments] == ["a.txt"]
    assert reply.text == FOX


@pytest.mark.drives("messageEditor")
def test_an_edit_without_files_can_not_be_sent_without_text(flint):
    flint.ask("Hello")
    shortcut(flint, Qt.Key.Key_E, CONTROL)
    editor(flint).selectAll()
    QTest.keyClick(editor(flint), Qt.Key.Key_Backspace)
    assert not flint.part("editSend").isEnabled()
    QTest.keyClick(editor(flint), RETURN)
    assert flint.idle
    assert len(flint.stored()) == 2


# -- regenerate ------------------------------------------------------------------------------------------------------------


@pytest.mark.drives("regenerate")
def test_regenerate_by_button_menu_and_key(flint):
    reply = flint.ask("Hello")
    flint.press(flint.view(reply), "regenerate")
    settled(flint)
    pick(menu_of(flint, flint.stored()[-1]), "Regenerate")
    settled(flint)
    shortcut(flint, Qt.Key.Key_R, CONTROL | SHIFT)
    settled(flint)
    assert flint.stored()[-1].sibling_count == 4


@pytest.mark.drives("regenerateMenu", "messageMenu")
def test_regenerate_with_another_model_leaves_the_chosen_one_chosen(flint, greeting):
    give_model(greeting)
    flint.window.models.refresh()
    flint.wait(lambda: flint.window.models.entry("greeting"))
    reply = flint.ask("Hello")
    menu = menu_of(flint, reply)
    inner = entry(menu, "Regenerate With").menu()
    menu.setActiveAction(entry(menu, "Regenerate With"))
    QTest.keyClick(menu, Qt.Key.Key_Right)
    flint.wait(inner.isVisible)
    pick(inner, "greeting")
    settled(flint)
    assert flint.shown() == ["Hello", GREETING]
    assert flint.stored()[-1].model_id == "greeting"
    assert flint.window.models.model_id == reply.model_id
    assert flint.window.models.state.name == "fox"
    with ChatStore(locate().chats) as store:
        assert store.chat(reply.chat_id).model_id == reply.model_id
    assert flint.ask("And now?").text == FOX


@pytest.mark.drives("regenerateMenu")
def test_regenerate_with_other_settings_leaves_the_chats_own_as_they_are(flint):
    reply = flint.ask("Hello")
    menu = menu_of(flint, reply)
    inner = entry(menu, "Regenerate With").menu()
    inner.popup(QPoint(20, 20))
    assert titles(inner)[:4] == [
        "Hotter: Temperature 1",
        "Colder: Temperature 0.4",
        "Likeliest Tokens: Temperature 0",
        "A New Seed",
    ]
    QTest.keyClick(inner, Qt.Key.Key_Down)
    QTest.keyClick(inner, RETURN)
    settled(flint)
    assert (reply.facts.sampling.temperature, flint.stored()[-1].facts.sampling.temperature) == (0.7, 1.0)
    assert flint.window.chat.settings() == {}
    assert flint.ask("More").facts.sampling.temperature == 0.7


def test_a_question_can_be_answered_once_more(flint):
    flint.ask("Hello")
    pick(menu_of(flint, flint.stored()[0]), "Write Another Reply")
    settled(flint)
    assert flint.stored()[1].sibling_count == 2


# -- go on -----------------------------------------------------------------------------------------------------------------


@pytest.mark.drives("continueReply")
def test_a_cut_reply_goes_on_by_button_menu_and_key(cut):
    reply = cut.ask("Hello")
    pieces = [reply.text]
    for go_on in (
        lambda: cut.press(cut.view(reply), "continueReply"),
        lambda: pick(menu_of(cut, reply), "Continue"),
        lambda: shortcut(cut, RETURN, CONTROL | SHIFT),
    ):
        go_on()
        settled(cut)
        pieces.append(cut.stored()[-1].text)
    assert all(FOX.startswith(piece) for piece in pieces)
    assert [len(piece) for piece in pieces] == sorted({len(piece) for piece in pieces})
    done = cut.stored()[-1]
    assert done.id == reply.id
    assert done.facts.resumed == (5, 10, 15)
    assert "continued 3 times" in cut.stats(done)
    assert cut.shown() == ["Hello", done.text]


def test_a_stopped_reply_goes_on_too(writing):
    flint, pending = writing
    flint.key(ESCAPE)
    settled(flint)
    stopped = flint.stored()[-1]
    assert stopped.state == "cancelled"
    flint.press(flint.view(stopped), "continueReply")
    flint.wait(lambda: flint.phase == "writing")
    more = flint.window.replies.of_chat(pending.chat_id)
    flint.wait(lambda: len(more.writer.text) > len(stopped.text) + 40)
    flint.key(ESCAPE)
    settled(flint)
    text = flint.stored()[-1].text
    assert text.startswith(stopped.text)
    assert text.startswith(FOX)
    assert text in f"{FOX} " * 1000


def test_a_reply_a_crash_cut_goes_on_and_is_saved_as_it_streams(qtbot, fox):
    remember(model=give_model(fox))
    with ChatStore(locate().chats) as store:
        chat = store.create_chat("Crashed", "fox")
        asked = store.add_message(chat.id, "user", "Hello")
        reply = store.begin_reply(chat.id, asked.id, "fox")
        store.save_reply(reply.id, "The quick brown")
        with store._database.writing() as connection:
            connection.execute("UPDATE messages SET owner_pid = 999999999 WHERE state = 'streaming'")
    remember(chat=chat.id)
    with open_window(qtbot) as flint:
        flint.wait_ready()
        assert "Interrupted" in flint.stats(flint.stored()[-1])
        flint.press(flint.view(reply), "continueReply")
        settled(flint)
        assert flint.stored()[-1].text == FOX
        assert flint.stored()[-1].state == "complete"


def test_a_reply_cut_within_its_first_character_goes_on(qtbot, tmp_path):
    remember(model=give_model(speaking_model(tmp_path / "coins", "€2 for the fox.")))
    set_settings(max_tokens=2)
    with open_window(qtbot) as flint:
        flint.wait_ready()
        reply = flint.ask("Hello")
        assert (reply.text, len(reply.facts.output_ids)) == ("", 2)
        for texts in ("€2", "€2 for the"):
            flint.press(flint.view(reply), "continueReply")
            settled(flint)
            assert flint.stored()[-1].text
            assert texts.startswith(flint.stored()[-1].text)
        assert not flint.view(reply).findChild(QWidget, "writeAnew").isVisible()


@pytest.mark.drives("writeAnew")
@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_a_reply_a_crash_cut_before_its_first_token_offers_another(qtbot, fox, by):
    remember(model=give_model(fox))
    with ChatStore(locate().chats) as store:
        chat = store.create_chat("Crashed", "fox")
        reply = store.begin_reply(chat.id, store.add_message(chat.id, "user", "Hello").id, "fox")
        with store._database.writing() as connection:
            connection.execute("UPDATE messages SET owner_pid = 999999999 WHERE state = 'streaming'")
    remember(chat=chat.id)
    with open_window(qtbot) as flint:
        flint.wait_ready()
        assert not flint.view(reply).findChild(QWidget, "continueReply").isVisible()
        anew = flint.view(reply).findChild(QWidget, "writeAnew")
        assert anew.isVisible()
        assert anew.text() == "Regenerate"
        if by == "mouse":
            QTest.mouseClick(anew, Qt.MouseButton.LeftButton)
        else:
            anew.setFocus()
            QTest.keyClick(anew, Qt.Key.Key_Space)
        settled(flint)
        assert flint.shown() == ["Hello", FOX]
        assert flint.stored()[-1].sibling_count == 2
        assert not flint.view(flint.stored()[-1]).findChild(QWidget, "writeAnew").isVisible()


def test_a_reply_that_can_not_go_on_stays_what_it_was(cut, monkeypatch):
    reply = cut.ask("Hello")

    def fail(*_):
        raise GenerationFailed("The model failed.")

    monkeypatch.setattr("engine.session.Session._planned", fail)
    cut.press(cut.view(reply), "continueReply")
    settled(cut)
    assert cut.stored()[-1] == reply
    assert cut.toasts()
    assert cut.shown() == ["Hello", reply.text]


def test_only_the_last_reply_can_go_on(cut):
    first = cut.ask("Hello")
    cut.ask("More")
    assert not cut.view(first).findChild(QWidget, "continueReply").isVisible()
    assert not entry(menu_of(cut, first), "Continue").isEnabled()


@pytest.mark.parametrize("focused", [False, True])
def test_the_key_to_go_on_is_for_the_last_reply_alone(cut, focused):
    first = cut.ask("Hello")
    set_limit(cut, 300)
    last = cut.ask("More")
    if focused:
        body(cut, first).setFocus()
    shortcut(cut, RETURN, CONTROL | SHIFT)
    assert cut.idle
    assert cut.toasts() == [(NOTHING_CUT, "")]
    assert cut.stored()[1].text == first.text
    assert cut.stored()[-1].text == last.text


def set_limit(flint, tokens):
    flint.window.chat.set_setting("max_tokens", tokens)


# -- versions --------------------------------------------------------------------------------------------------------------


@pytest.mark.drives("previousBranch", "nextBranch")
def test_versions_by_button_and_by_key_also_of_the_users_messages(flint):
    flint.ask("Hello")
    asked = flint.stored()[0]
    flint.window.message_actions.keep_edit(asked.id, "Other")
    settled(flint)
    other = flint.stored()[0]
    flint.press(flint.view(other), "previousBranch")
    assert flint.shown() == ["Hello", FOX]
    flint.press(flint.view(asked), "nextBranch")
    assert flint.shown() == ["Other", FOX]
    flint.part("composer").setFocus()
    shortcut(flint, Qt.Key.Key_Left, ALT)
    assert flint.shown() == ["Hello", FOX]
    body(flint, asked).setFocus()
    shortcut(flint, Qt.Key.Key_Right, ALT)
    assert flint.shown() == ["Other", FOX]
    assert body(flint, other).hasFocus()
    shortcut(flint, Qt.Key.Key_Right, ALT)
    assert flint.shown() == ["Other", FOX]
    pick(menu_of(flint, other), "Earlier Version")
    assert flint.shown() == ["Hello", FOX]


def test_without_a_message_in_focus_the_last_with_versions_is_switched(flint):
    first = flint.ask("Hello")
    flint.press(flint.view(first), "regenerate")
    settled(flint)
    flint.ask("More")
    shortcut(flint, Qt.Key.Key_Left, ALT)
    assert flint.shown() == ["Hello", FOX]
    assert flint.stored()[-1].id == first.id


# -- delete ----------------------------------------------------------------------------------------------------------------


@pytest.mark.drives("toastAction", "messageMenu")
def test_delete_by_menu_and_undo_by_click(flint):
    flint.ask("Hello")
    flint.ask("More")
    asked = flint.stored()[2]
    pick(menu_of(flint, asked), "Delete")
    assert flint.shown() == ["Hello", FOX]
    assert flint.toasts()[0][0] == "“More” and the message after it were deleted."
    flint.click("toastAction")
    assert flint.shown() == ["Hello", FOX, "More", FOX]


@pytest.mark.drives("toast")
def test_delete_by_key_takes_the_message_with_the_focus_else_the_last(flint):
    flint.ask("Hello")
    flint.ask("More")
    flint.part("composer").setFocus()
    shortcut(flint, Qt.Key.Key_Backspace, CONTROL | SHIFT)
    assert flint.shown() == ["Hello", FOX, "More"]
    body(flint, flint.stored()[0]).setFocus()
    shortcut(flint, Qt.Key.Key_Backspace, CONTROL | SHIFT)
    assert flint.window.page.mode == "welcome"
    flint.press(flint.window.toaster.toasts[0], "toastAction")
    assert flint.shown() == ["Hello", FOX, "More"]


def test_a_deleted_message_is_not_told_to_the_model_and_the_cache_goes_on(flint):
    first = flint.ask("Hello")
    flint.ask("A secret word")
    body(flint, flint.stored()[2]).setFocus()
    shortcut(flint, Qt.Key.Key_Backspace, CONTROL | SHIFT)
    answer = flint.ask("Other")
    assert answer.text == FOX
    assert answer.facts.cached_tokens >= first.facts.prompt_tokens
    assert "secret" not in "".join(message.text for message in flint.stored())


def test_undo_from_another_chat_leads_back_and_ends_with_the_trash(flint):
    reply = flint.ask("Hello")
    pick(menu_of(flint, reply), "Delete")
    flint.click("newChatButton")
    flint.click("toastAction")
    assert flint.window.chat.chat_id == reply.chat_id
    assert flint.shown() == ["Hello", FOX]
    pick(menu_of(flint, reply), "Delete")
    flint.window.storage._empty()
    flint.wait(lambda: not flint.toasts())


def test_what_was_deleted_comes_back_later_too_the_last_first(flint):
    flint.ask("Hello")
    flint.ask("More")
    for message in (flint.stored()[2], flint.stored()[0]):
        body(flint, message).setFocus()
        shortcut(flint, Qt.Key.Key_Backspace, CONTROL | SHIFT)
    assert flint.window.page.mode == "welcome"
    bring_back = flint.window.commands.find("restoreMessages")
    bring_back.trigger()
    assert flint.shown() == ["Hello", FOX]
    bring_back.trigger()
    assert flint.shown() == ["Hello", FOX, "More", FOX]
    bring_back.trigger()
    assert "No message of this chat is in the trash." in [text for text, _ in flint.toasts()]


def delete(flint, message):
    """Delete a message by key; return what is said of it."""
    body(flint, message).setFocus()
    shortcut(flint, Qt.Key.Key_Backspace, CONTROL | SHIFT)
    return [text for text, _ in flint.toasts() if "deleted" in text][-1]


def test_what_is_back_is_not_offered_back(flint):
    flint.ask("Hello")
    flint.ask("More")
    first, more = flint.stored()[0], flint.stored()[2]
    said = {message.id: delete(flint, message) for message in (more, first)}
    assert [text for text, _ in flint.toasts()] == list(said.values())
    bring_back = flint.window.commands.find("restoreMessages")
    bring_back.trigger()
    flint.wait(lambda: [text for text, _ in flint.toasts()] == [said[more.id]])
    bring_back.trigger()
    flint.wait(lambda: not flint.toasts())
    assert flint.shown() == ["Hello", FOX, "More", FOX]


def test_undo_that_brings_back_what_stood_above_too_ends_that_offer(flint):
    flint.ask("Hello")
    flint.ask("More")
    first, more = flint.stored()[0], flint.stored()[2]
    delete(flint, more)
    delete(flint, first)
    toast = next(toast for toast in flint.window.toaster.toasts if "More" in toast.text)
    flint.press(toast, "toastAction")
    flint.wait(lambda: not flint.toasts())
    assert flint.shown() == ["Hello", FOX, "More", FOX]


def test_a_message_that_can_not_be_deleted_stays(flint):
    reply = flint.ask("Hello")
    with refuse_writes(flint):
        pick(menu_of(flint, reply), "Delete")
        assert "may not write" in flint.toasts()[0][0]
    assert flint.shown() == ["Hello", FOX]


# -- fork ------------------------------------------------------------------------------------------------------------------


def test_fork_by_menu_and_key_opens_a_chat_of_its_own(flint):
    first = flint.ask("Hello")
    flint.ask("More")
    pick(menu_of(flint, first), "Fork Chat from Here")
    assert flint.window.chat.chat_id != first.chat_id
    assert flint.shown() == ["Hello", FOX]
    answer = flint.ask("Other")
    assert answer.facts.cached_tokens >= first.facts.prompt_tokens + first.facts.output_tokens - 1
    assert [chat.title for chat in flint.window._store.chats()] == ["Hello (fork)", "Hello"]
    shortcut(flint, Qt.Key.Key_K, CONTROL | SHIFT)
    assert flint.shown() == ["Hello", FOX, "Other", FOX]
    assert len(flint.window._store.chats()) == 3


# -- the menu by key -------------------------------------------------------------------------------------------------------


@pytest.mark.drives("messageMenu", "transcript", "message.*")
def test_the_menu_key_opens_the_menu_of_what_has_the_focus(flint):
    reply = flint.ask("Hello")
    asked = flint.stored()[0]
    menu_key(body(flint, asked))
    assert "Write Another Reply" in titles(open_menu(flint))
    open_menu(flint).close()
    menu_key(flint.part("transcript"))
    menu = open_menu(flint)
    assert "Regenerate" in titles(menu)
    for _ in range(2):
        QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, ESCAPE)
    menu_key(flint.view(reply).findChild(QWidget, "copyMessage"))
    menu = open_menu(flint)
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, RETURN)
    assert QGuiApplication.clipboard().text() == FOX


def test_what_was_measured_opens_from_the_menu_and_from_the_figures(flint):
    reply = flint.ask("Hello")
    pick(menu_of(flint, reply), "What Was Measured")
    popover = flint.part("factsPopover")
    assert popover.isVisible()
    QTest.keyClick(flint.window, ESCAPE)
    popover.hide()
    line = flint.view(reply).findChild(QWidget, "statsLine")
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, pos=QPoint(40, 12))
    assert popover.isVisible()


# -- while a reply is written ----------------------------------------------------------------------------------------------


@pytest.mark.drives("messageEditor", "copyMessage")
def test_while_a_reply_is_written_only_what_can_be_done_is_offered(writing):
    flint, _ = writing
    flint.key(ESCAPE)
    settled(flint)
    first = flint.stored()[-1]
    flint.press(flint.view(first), "regenerate")
    flint.wait(lambda: flint.phase == "writing")
    asked = flint.stored()[0]
    second = flint.window.page.transcript.messages[-1]
    assert not flint.view(second).findChild(QWidget, "previousBranch").isEnabled()
    menu = menu_of(flint, asked)
    enabled = {action.text(): action.isEnabled() for action in menu.actions() if not action.isSeparator()}
    assert enabled == {
        "Copy Message": True,
        "Edit…": True,
        "Write Another Reply": False,
        "Fork Chat from Here": True,
        "Delete": False,
    }
    menu.close()
    shortcut(flint, Qt.Key.Key_Backspace, CONTROL | SHIFT)
    shortcut(flint, Qt.Key.Key_R, CONTROL | SHIFT)
    assert {text for text, _ in flint.toasts()} == {f"{WAIT}."}
    flint.window.toaster.dismiss_newest()
    flint.wait(lambda: not flint.toasts())
    flint.press(flint.view(asked), "editMessage")
    QTest.keyClicks(editor(flint), " then")
    QTest.keyClick(editor(flint), RETURN)
    assert "Wait for the reply or stop it first" in flint.said()
    assert editor(flint).text == f"{asked.text} then"
    flint.window.page.composer.stop()
    settled(flint)
    assert editor(flint).text == f"{asked.text} then"
    QTest.keyClick(editor(flint), RETURN)
    flint.wait(lambda: flint.phase == "writing")
    assert flint.stored()[0].text == f"{asked.text} then"
    flint.window.page.composer.stop()
    settled(flint)
    flint.press(flint.view(flint.stored()[0]), "copyMessage")
    assert QGuiApplication.clipboard().text() == f"{asked.text} then"


@pytest.mark.parametrize(
    "name",
    ["regenerateReply", "continueLastReply", "earlierVersion", "laterVersion", "forkChat", "runAgain", "deleteMessage"],
)
def test_what_has_to_wait_for_a_reply_says_so(writing, name):
    flint, pending = writing
    flint.window.commands.find(name).trigger()
    assert flint.toasts() == [(f"{WAIT}.", "")]
    assert flint.window.chat.chat_id == pending.chat_id
    assert not flint.idle


# -- reached by Tab --------------------------------------------------------------------------------------------------------


def test_every_action_is_reached_by_tab(cut):
    cut.ask("Hello")
    cut.window.message_actions.keep_edit(cut.stored()[0].id, "Other")
    settled(cut)
    cut.part("transcript").setFocus()
    reached = set()
    for _ in range(60):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        reached.add(focused.objectName())
        if focused.objectName() == "copyMessage":
            line = focused.parentWidget()
            cut.wait(lambda line=line: line._copy.strength == 1)
    assert {"copyMessage", "editMessage", "messageMenuButton", "regenerate", "continueReply", "previousBranch"} <= reached
