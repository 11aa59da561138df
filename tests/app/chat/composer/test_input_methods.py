"""Input methods in every field of the real window, with the events that Qt makes of them."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QInputMethodEvent, QKeyEvent, QTextCharFormat
from PySide6.QtWidgets import QApplication, QLineEdit

from app.widgets.composing import ComposingGuard

RETURN, ENTER, ESCAPE = Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape


@pytest.fixture
def flint(flint):
    """A window whose model waits for what is sent, which is noted and goes no further."""
    flint.sent = []
    composer = flint.window.page.composer
    composer.submitted.disconnect()
    composer.submitted.connect(flint.sent.append)
    composer.focus_text()
    return flint


def compose(part, preedit="", commit="", start=0, length=0):
    """What an input method sends: the text it composes, underlined, and the text that it commits."""
    look = QTextCharFormat()
    look.setFontUnderline(True)
    kind = QInputMethodEvent.AttributeType
    marks = [
        QInputMethodEvent.Attribute(kind.TextFormat, 0, len(preedit), look),
        QInputMethodEvent.Attribute(kind.Cursor, len(preedit), 1, QColor()),
    ]
    event = QInputMethodEvent(preedit, marks if preedit else [])
    if commit or length:
        event.setCommitString(commit, start, length)
    QApplication.sendEvent(part, event)


def press(part, key, modifiers=Qt.KeyboardModifier.NoModifier):
    for kind in (QKeyEvent.Type.KeyPress, QKeyEvent.Type.KeyRelease):
        QApplication.sendEvent(part, QKeyEvent(kind, key, modifiers, "\r" if key in (RETURN, ENTER) else ""))


# -- the composer ----------------------------------------------------------------------------------------------------------

JAPANESE = (["n", "に", "にh", "にほ", "にほん", "日本"], "日本")
CHINESE = (["n", "ni", "ni h", "ni hao", "你好"], "你好")
DEAD_KEYS = (["´"], "é")
ASTRAL = (["\U00020bb7", "\U00020bb7\U0001f3fa"], "\U00020bb7\U0001f3fa")


@pytest.mark.drives("composer")
@pytest.mark.parametrize(("steps", "commit"), [JAPANESE, CHINESE, DEAD_KEYS, ASTRAL], ids=["ja", "zh", "dead", "astral"])
def test_what_is_composed_is_shown_and_sent_whole_or_not_at_all(flint, steps, commit):
    field = flint.part("composer")
    for preedit in steps:
        compose(field, preedit)
        assert field.composing
        assert field.textCursor().block().layout().preeditAreaText() == preedit
        for key in (RETURN, ENTER):
            press(field, key)
        press(field, RETURN, Qt.KeyboardModifier.ControlModifier)
        flint.window.page.composer.submit()
    assert (flint.sent, field.text) == ([], "")
    compose(field, commit=commit)
    assert (field.composing, field.text) == (False, commit)
    press(field, RETURN)
    assert flint.sent == [commit]


def test_korean_is_committed_syllable_by_syllable(flint):
    field = flint.part("composer")
    for preedit, commit in (("ㅎ", ""), ("하", ""), ("한", ""), ("ㄱ", "한"), ("그", ""), ("글", "")):
        compose(field, preedit, commit)
        press(field, RETURN)
    assert (flint.sent, field.text) == ([], "한")
    compose(field, commit="글")
    press(field, RETURN)
    assert flint.sent == ["한글"]


def test_a_composition_in_the_middle_of_a_text_stands_where_the_caret_is(flint):
    field = flint.part("composer")
    flint.type("ab")
    flint.key(Qt.Key.Key_Left)
    compose(field, "に")
    assert field.text == "ab"
    compose(field, commit="日")
    assert field.text == "a日b"


def test_what_was_committed_can_be_converted_again(flint):
    field = flint.part("composer")
    compose(field, commit="にほん")
    compose(field, commit="日本", start=-3, length=3)
    assert field.text == "日本"


def test_a_composition_that_is_given_up_leaves_the_text_as_it_was(flint):
    field = flint.part("composer")
    flint.type("ab")
    compose(field, "にほ")
    press(field, ESCAPE)
    compose(field)
    assert (field.text, field.composing) == ("ab", False)
    flint.key(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert field.text == ""


def test_the_send_button_sends_nothing_half(flint):
    field = flint.part("composer")
    flint.type("ab")
    compose(field, "にほ")
    flint.click("sendButton")
    assert (flint.sent, field.text) == ([], "ab")
    compose(field, commit="日本")
    flint.click("sendButton")
    assert flint.sent == ["ab日本"]


def test_the_placeholder_gives_way_to_what_is_composed(flint):
    field = flint.part("composer")
    field.clearFocus()
    compose(field, "にほ")
    with_it = field.viewport().grab().toImage()
    field.set_placeholder("")
    assert field.viewport().grab().toImage() == with_it


def test_a_draft_is_what_was_committed(flint):
    field = flint.part("composer")
    compose(field, commit="日本")
    compose(field, "ご")
    flint.window.chat.drafts.save()
    assert flint.window._store.draft(None) == "日本"


# -- the other fields ------------------------------------------------------------------------------------------------------


@pytest.mark.drives("chatSearch")
def test_the_search_of_the_chats_opens_nothing_while_composing(flint):
    store = flint.window._store
    chat = store.create_chat("日本 trip").id
    flint.window.chats.refresh()
    field = flint.part("chatSearch")
    field.setFocus()
    compose(field, "にほ")
    press(field, RETURN)
    press(field, Qt.Key.Key_Down)
    press(field, ESCAPE)
    assert flint.window.chat.chat_id is None
    assert field.hasFocus()
    compose(field, commit="日本")
    assert field.text() == "日本"
    flint.wait(lambda: flint.part("chatList").model().rowCount() > 0)
    assert chat


@pytest.mark.drives("findField")
def test_find_in_chat_goes_on_only_after_the_composition(flint):
    store = flint.window._store
    chat = store.create_chat("Trip").id
    store.add_message(chat, "user", "日本 and 日本")
    flint.window.chats.refresh()
    flint.open_chat(chat)
    flint.window.page.finder.open()
    field = flint.part("findField")
    wanted = []
    field.wanted.connect(wanted.append)
    compose(field, "にほ")
    for key in (RETURN, ENTER, ESCAPE):
        press(field, key)
    assert wanted == []
    assert field.isVisible()
    compose(field, commit="日本")
    press(field, RETURN)
    assert wanted == [1]


@pytest.mark.drives("chatTitle")
def test_a_rename_ends_with_the_return_after_the_composition(flint):
    chat = flint.window._store.create_chat("Trip").id
    flint.window.chats.refresh()
    flint.open_chat(chat)
    flint.window.sidebar.rename_selected()
    editor = flint.part("chatTitle", QLineEdit)
    editor.selectAll()
    compose(editor, "にほ")
    for key in (RETURN, ESCAPE):
        press(editor, key)
        flint.qtbot.wait(20)
    assert flint.window._store.chat(chat).title == "Trip"
    compose(editor, commit="日本")
    press(editor, RETURN)
    flint.wait(lambda: flint.window._store.chat(chat).title == "日本")


def test_every_line_of_text_in_the_window_is_guarded(flint):
    flint.click("settingsButton")
    flint.click("promptButton")
    flint.window.page.finder.open()
    fields = flint.window.findChildren(QLineEdit)
    assert len(fields) > 4
    for field in fields:
        assert field.findChild(ComposingGuard), field.objectName()
