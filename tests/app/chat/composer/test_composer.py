"""The composer, driven by keys, mouse and input methods."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QInputMethodEvent, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QAbstractButton, QApplication, QProgressBar, QTextEdit, QVBoxLayout, QWidget

from app.chat.composer.composer import Composer, sendable


@pytest.fixture
def composer(theme, qtbot):
    host = QWidget()
    host.resize(800, 400)
    composer = Composer(theme, host)
    composer.setFixedWidth(752)
    qtbot.addWidget(host)
    host.show()
    qtbot.waitExposed(host)
    host.activateWindow()
    composer.focus_text()
    composer.host = host
    composer.sent = []
    composer.stops = []
    composer.submitted.connect(composer.sent.append)
    composer.stop_requested.connect(lambda: composer.stops.append(1))
    return composer


def field(composer):
    return composer.findChild(QTextEdit, "composer")


def button(composer, name):
    return composer.findChild(QAbstractButton, name)


def compose(composer, preedit="", commit=""):
    event = QInputMethodEvent(preedit, [])
    if commit:
        event.setCommitString(commit)
    QApplication.sendEvent(field(composer), event)


def press(composer, qtbot, key, modifiers=Qt.KeyboardModifier.NoModifier):
    qtbot.keyClick(field(composer), key, modifiers)


# -- sending ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_return_and_the_keypads_enter_send_and_empty_the_field(composer, qtbot, key):
    qtbot.keyClicks(field(composer), "Hello there")
    press(
        composer, qtbot, key, Qt.KeyboardModifier.KeypadModifier if key == Qt.Key.Key_Enter else Qt.KeyboardModifier.NoModifier
    )
    assert composer.sent == ["Hello there"]
    assert composer.text == ""


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_command_return_sends_too(composer, qtbot, key):
    qtbot.keyClicks(field(composer), "Hello")
    press(composer, qtbot, key, Qt.KeyboardModifier.ControlModifier)
    assert composer.sent == ["Hello"]


def test_a_paste_is_undone_and_redone_as_one_step(composer, qtbot):
    qtbot.keyClicks(field(composer), "a ")
    QGuiApplication.clipboard().setText("pasted\nlines")
    press(composer, qtbot, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert composer.text == "a pasted\nlines"
    press(composer, qtbot, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert composer.text == "a "
    press(composer, qtbot, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert composer.text == "a pasted\nlines"


@pytest.mark.parametrize("modifier", [Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier])
def test_shift_return_and_alt_return_break_the_line(composer, qtbot, modifier):
    qtbot.keyClicks(field(composer), "one")
    press(composer, qtbot, Qt.Key.Key_Return, modifier)
    qtbot.keyClicks(field(composer), "two")
    assert composer.sent == []
    assert composer.text == "one\ntwo"
    press(composer, qtbot, Qt.Key.Key_Return)
    assert composer.sent == ["one\ntwo"]


@pytest.mark.parametrize("blank", ["", "   ", "\n\n", "\t \n"])
def test_white_space_is_not_sent_and_offers_no_button(composer, qtbot, blank):
    composer.set_text(blank)
    assert not button(composer, "sendButton").isEnabled()
    press(composer, qtbot, Qt.Key.Key_Return)
    qtbot.mouseClick(button(composer, "sendButton"), Qt.MouseButton.LeftButton)
    assert composer.sent == []
    assert composer.text == blank


@pytest.mark.drives("sendButton")
def test_the_send_button_sends_and_the_caret_is_back_in_the_text(composer, qtbot):
    qtbot.keyClicks(field(composer), "By mouse")
    qtbot.mouseClick(button(composer, "sendButton"), Qt.MouseButton.LeftButton)
    assert composer.sent == ["By mouse"]
    assert field(composer).hasFocus()


def test_a_return_that_is_held_down_sends_nothing_more(composer, qtbot):
    composer.set_text("first")
    press(composer, qtbot, Qt.Key.Key_Return)
    composer.set_text("second")
    held = QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", True)
    QApplication.sendEvent(field(composer), held)
    assert composer.sent == ["first"]
    assert composer.text == "second"


def test_what_is_sent_keeps_the_first_lines_indentation_and_loses_blank_edges():
    assert sendable("\n  \n    def f():\n        pass\n\n  ") == "    def f():\n        pass"


def test_a_blocked_composer_keeps_the_text_and_says_why(composer, qtbot):
    composer.set_blocked("Choose a model first")
    composer.set_text("Hello")
    press(composer, qtbot, Qt.Key.Key_Return)
    assert (composer.sent, composer.text, composer.note) == ([], "Hello", "Choose a model first")
    composer.set_blocked("")
    press(composer, qtbot, Qt.Key.Key_Return)
    assert composer.sent == ["Hello"]


# -- input methods ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "commit"),
    [
        (["n", "に", "にほ", "にほん", "日本"], "日本"),  # Japanese: the Return that picks a candidate
        (["n", "ni", "ni hao"], "你好"),  # Chinese, by its sounds
        (["ㅎ", "하", "한"], "한"),  # Korean
        (["´"], "é"),  # a dead key
    ],
)
def test_nothing_is_sent_while_an_input_method_composes(composer, qtbot, steps, commit):
    qtbot.keyClicks(field(composer), "A ")
    for preedit in steps:
        compose(composer, preedit)
        press(composer, qtbot, Qt.Key.Key_Return)
        press(composer, qtbot, Qt.Key.Key_Enter)
        press(composer, qtbot, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert composer.sent == []
    assert composer.text == "A "
    compose(composer, commit=commit)
    assert composer.sent == []
    press(composer, qtbot, Qt.Key.Key_Return)
    assert composer.sent == ["A " + commit]


def test_escape_while_composing_does_not_stop_the_reply(composer, qtbot):
    composer.set_phase("writing")
    compose(composer, "にほ")
    press(composer, qtbot, Qt.Key.Key_Escape)
    assert composer.stops == []


def test_a_composition_that_is_given_up_leaves_nothing_behind(composer, qtbot):
    compose(composer, "にほ")
    compose(composer, "")
    press(composer, qtbot, Qt.Key.Key_Return)
    assert (composer.sent, composer.text) == ([], "")


# -- while a reply is written ----------------------------------------------------------------------------------------------


def test_send_and_stop_take_turns_in_one_place(composer):
    send, stop = button(composer, "sendButton"), button(composer, "stopButton")
    place = send.geometry()
    assert (send.isVisible(), stop.isVisible()) == (True, False)
    for phase in ("queued", "reading", "writing", "stopping"):
        composer.set_phase(phase, 0.5)
        QApplication.processEvents()
        assert (send.isVisible(), stop.isVisible()) == (False, True)
        assert stop.geometry() == place
        assert stop.isEnabled() == (phase != "stopping")
    composer.set_phase("idle")
    assert (send.isVisible(), stop.isVisible()) == (True, False)


def test_return_during_a_reply_keeps_the_text_and_says_why(composer, qtbot):
    composer.set_note("312 tokens, 288 cached")
    composer.set_phase("writing")
    composer.set_text("Next question")
    press(composer, qtbot, Qt.Key.Key_Return)
    assert composer.sent == []
    assert composer.text == "Next question"
    assert composer.note == "Wait for the reply or stop it first"
    composer.set_note("400 tokens, 312 cached")
    assert composer.note == "Wait for the reply or stop it first"
    composer.set_phase("idle")
    assert composer.note == "400 tokens, 312 cached"
    press(composer, qtbot, Qt.Key.Key_Return)
    assert composer.sent == ["Next question"]


@pytest.mark.parametrize("way", [pytest.param("button", marks=pytest.mark.drives("stopButton")), "escape", "period"])
def test_a_reply_is_stopped_by_button_escape_and_command_period(composer, qtbot, way):
    composer.set_phase("writing")
    if way == "button":
        qtbot.mouseClick(button(composer, "stopButton"), Qt.MouseButton.LeftButton)
    elif way == "escape":
        press(composer, qtbot, Qt.Key.Key_Escape)
    else:
        press(composer, qtbot, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert composer.stops == [1]
    assert composer.text == ""


@pytest.mark.parametrize("phase", ["idle", "stopping"])
def test_stop_asks_for_nothing_when_there_is_nothing_to_stop(composer, qtbot, phase):
    composer.set_phase(phase)
    press(composer, qtbot, Qt.Key.Key_Escape)
    press(composer, qtbot, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert composer.stops == []


def test_focus_on_the_stop_button_returns_to_the_text_when_the_reply_ends(composer):
    composer.set_phase("writing")
    button(composer, "stopButton").setFocus(Qt.FocusReason.TabFocusReason)
    composer.set_phase("idle")
    assert field(composer).hasFocus()


# -- the phase line --------------------------------------------------------------------------------------------------------


def test_the_phase_line_shows_how_far_the_prompt_is_read(composer):
    line = composer.findChild(QProgressBar, "prefillProgress")
    assert not line.isVisible()
    composer.set_phase("reading", 0.57)
    assert line.isVisible()
    assert (line.value(), line.maximum(), line.height()) == (57, 100, 2)
    assert line.geometry().left() == 12
    assert line.geometry().right() == composer.width() - 13
    composer.set_phase("reading", 7.0)
    assert line.value() == 100
    composer.set_phase("idle")
    assert not line.isVisible()


def test_the_line_is_painted_as_far_as_the_prompt_is_read(composer, theme):
    line = composer.findChild(QProgressBar, "prefillProgress")
    composer.set_phase("reading", 0.5)
    image = line.grab().toImage()
    assert image.pixelColor(image.width() // 4, 0) == theme.color("accent")
    assert image.pixelColor(image.width() * 3 // 4, 0) == theme.color("track")
    composer.set_phase("stopping")
    image = line.grab().toImage()
    assert image.pixelColor(image.width() // 2, 0) == theme.color("ink-3")


def test_the_line_moves_only_while_a_reply_is_written_and_seen(composer):
    line = composer.findChild(QProgressBar, "prefillProgress")
    composer.set_phase("reading", 0.5)
    assert not line.moving
    composer.set_phase("writing")
    assert line.moving
    composer.hide()
    assert not line.moving
    composer.show()
    assert line.moving
    composer.set_phase("stopping")
    assert not line.moving


# -- the text --------------------------------------------------------------------------------------------------------------


def test_the_field_grows_line_by_line_to_ten_and_scrolls_then(composer, qtbot):
    heights = []
    for _ in range(12):
        heights.append(composer.height())
        press(composer, qtbot, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert heights == [80 + 24 * min(extra, 9) for extra in range(12)]
    assert field(composer).verticalScrollBar().maximum() > 0
    assert field(composer).cursorRect().bottom() <= field(composer).viewport().height()
    composer.set_text("")
    assert composer.height() == 80
    assert field(composer).verticalScrollBar().maximum() == 0


def test_long_words_wrap_and_count_as_lines(composer):
    composer.set_text("wide " * 40)
    assert composer.height() > 80


def test_pasting_keeps_the_words_and_drops_their_looks(composer, qtbot):
    mime = QMimeData()
    mime.setHtml("<h1 style='color:red'>Big <b>bold</b></h1>")
    mime.setText("Big bold")
    QGuiApplication.clipboard().setMimeData(mime)
    press(composer, qtbot, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert composer.text == "Big bold"
    cursor = QTextCursor(field(composer).document())
    cursor.setPosition(3)
    assert cursor.charFormat().fontWeight() <= 400
    assert field(composer).document().firstBlock().blockFormat().headingLevel() == 0
    assert composer.height() == 80


def test_a_dropped_file_is_not_its_address(composer):
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile("/home/me/private.txt")])
    mime.setText("file:///home/me/private.txt")
    drop = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(field(composer).viewport(), drop)
    assert composer.text == ""


def test_undo_and_redo_walk_through_what_was_typed_and_sent(composer, qtbot):
    qtbot.keyClicks(field(composer), "draft")
    press(composer, qtbot, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert composer.text == ""
    press(composer, qtbot, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert composer.text == "draft"
    press(composer, qtbot, Qt.Key.Key_Return)
    press(composer, qtbot, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert composer.text == "draft"


def test_another_chats_draft_can_not_be_undone_into_this_one(composer, qtbot):
    composer.set_text("of the first chat")
    composer.set_text("of the second")
    press(composer, qtbot, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert composer.text == "of the second"
    composer.set_text("put in its place", undoable=True)
    press(composer, qtbot, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert composer.text == "of the second"


def test_every_change_of_the_text_is_told(composer, qtbot):
    seen = []
    composer.text_changed.connect(seen.append)
    qtbot.keyClicks(field(composer), "ab")
    composer.set_text("c")
    assert seen[0] == "a"
    assert "ab" in seen
    assert seen[-1] == "c"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"], exclude_characters="\u2028\u2029\ufffc"), max_size=80))
def test_no_character_is_lost(composer, text):
    composer.set_text(text)
    assert composer.text == text


def test_tab_leaves_the_field_for_the_buttons(composer, qtbot):
    composer.set_text("ready")
    press(composer, qtbot, Qt.Key.Key_Tab)
    assert button(composer, "attachButton").hasFocus()
    qtbot.keyClick(button(composer, "attachButton"), Qt.Key.Key_Tab)
    assert button(composer, "promptButton").hasFocus()
    qtbot.keyClick(button(composer, "promptButton"), Qt.Key.Key_Tab)
    assert button(composer, "sendButton").hasFocus()
    assert composer.text == "ready"


def test_a_click_on_the_frame_goes_to_the_text(composer, qtbot):
    button(composer, "sendButton").setFocus()
    qtbot.mouseClick(composer, Qt.MouseButton.LeftButton, pos=QPoint(40, composer.height() - 10))
    assert field(composer).hasFocus()


def test_the_placeholder_is_painted_only_while_the_field_is_empty(composer):
    composer.set_placeholder("Message")
    field(composer).clearFocus()
    empty = field(composer).viewport().grab().toImage()
    composer.set_placeholder("")
    assert field(composer).viewport().grab().toImage() != empty
    composer.set_text(" ")
    blank = field(composer).viewport().grab().toImage()
    composer.set_placeholder("Message")
    assert field(composer).viewport().grab().toImage() == blank
    assert field(composer).accessibleDescription() == "Message"


def test_the_frame_is_painted_in_the_mode_in_force(composer, theme):
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        assert composer.grab().toImage().pixelColor(40, composer.height() - 6) == theme.color("raised")


def test_the_composer_fits_a_narrow_area(theme, qtbot):
    host = QWidget()
    column = QVBoxLayout(host)
    composer = Composer(theme)
    column.addWidget(composer)
    qtbot.addWidget(host)
    host.resize(330, 400)
    host.show()
    composer.set_note("Wait for the reply or stop it first")
    assert composer.width() <= 330
