"""One message: what it shows in each state, what its buttons do, what can and cannot leave it."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QTextCursor, QTextDocument, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStackedWidget, QTextBrowser, QWidget

from app.chat.conversation.message import MessageView
from app.chat.conversation.spacing import BLEED
from app.chat.conversation.stats_line import StatsLine, stats
from app.chat.conversation.transcript import Transcript
from app.chat.text.copy_button import CopyButton
from app.chat.text.formats import CODE_HEADER
from app.widgets.label import Label
from engine.chats.attachment import Attachment
from engine.core.errors import ErrorInfo
from tests.app.chat.replies import REPLIES
from tests.app.chat.stored import asked, facts, message, replied, writing
from tests.app.pointer import drag_to

WIDTH = 720


@pytest.fixture
def make(theme, qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(WIDTH + 2 * BLEED, 800)
    window.show()

    def show(message):
        view = MessageView(theme, window)
        view.resize(WIDTH + 2 * BLEED, 10)
        view.show_message(message)
        view.resize(WIDTH + 2 * BLEED, view.height_at(WIDTH))
        view.show()
        return view

    return show


def child(view, name):
    return view.findChild(QWidget, name)


def line(view):
    return view.findChild(StatsLine).text


def shown_text(view):
    return view.findChild(QTextBrowser).toPlainText()


def test_a_reply_is_text_in_a_browser_with_its_name(make):
    view = make(replied("7", "It is **Paris**."))
    assert shown_text(view) == "It is Paris."
    assert view.objectName() == "message.7"
    assert view.accessibleName() == "Reply"
    assert view.accessibleDescription() == "It is **Paris**."


def test_a_users_text_is_shown_as_it_was_typed(make):
    text = "*not* markdown\n\n  # nor `this`\n<b>x</b>"
    view = make(asked("1", text))
    assert shown_text(view) == text
    assert view.accessibleName() == "You said"


def test_the_bubble_is_as_wide_as_its_text_up_to_560(make):
    short, long = make(asked("1", "Hi")), make(asked("2", "word " * 200))
    assert short._bubble.width() < 80
    assert long._bubble.width() == 560
    assert short._bubble.right() == long._bubble.right() == BLEED + WIDTH - 1
    assert short._bubble.height() == 24 + 16


def test_a_short_text_in_the_bubble_is_not_wrapped(make):
    for text in ("I want at most 25 mg left at 23:00.", "iiiiiiii", "WWWWWWWW", "a\tb", "😀 ok"):
        assert make(asked("1", text))._bubble.height() == 40, text


@pytest.mark.parametrize("width", [272, 432, 592, 640, 712])
@pytest.mark.parametrize("text", ["Hi", "word " * 200, "x" * 300, ""])
def test_no_row_under_a_question_is_kept_empty_however_narrow_the_column(make, width, text):
    attached = (Attachment("notes-of-a-very-long-week.csv", "file", "1,2", 288),)
    for question in (asked("1", text), asked("2", text, attachments=attached)):
        view = make(question)
        height = view.height_at(width)
        assert height == view._bubble.height(), "the actions stand beside it"
        bar = view.findChild(StatsLine).geometry()
        assert bar.left() >= 0
        assert bar.right() < view._bubble.left()
        assert bar.bottom() < height


def test_branches_that_have_no_room_beside_a_question_are_seen_under_it(make):
    view = make(asked("1", "word " * 200, sibling_index=1, sibling_count=2))
    assert view.height_at(432) > view._bubble.height()
    assert view._bubble.width() == 432
    assert child(view, "previousBranch").mapTo(view, QPoint()).y() > view._bubble.bottom()


def test_the_line_under_a_reply_says_what_was_measured(make):
    assert line(make(replied("1"))) == "386 tokens  62.3 tok/s  first token 0.41 s  16.6k of 16.9k prompt tokens cached"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"state": "cancelled"}, ["Stopped", "1 token"]),
        ({"state": "interrupted", "facts": None}, ["Interrupted: Flint was closed while this was being written"]),
        (
            {"facts": facts(finish_reason="length", output_tokens=1, cached_tokens=0, prompt_tokens=1_842)},
            ["1 token", "cut at the token limit"],
        ),
        ({"facts": None}, []),
    ],
)
def test_the_line_says_how_a_reply_ended(changes, says):
    if changes.get("state") == "cancelled":
        changes = {**changes, "facts": facts(output_tokens=1)}
    assert stats(replied("1", **changes))[: len(says)] == says


def test_the_line_names_the_model_where_it_is_asked_to(make):
    view = make(replied("1"))
    view.name_model(True)
    assert line(view).startswith("m  386 tokens")
    view.name_model(False)
    assert line(view).startswith("386 tokens")


def test_figures_keep_their_thousands_apart():
    assert stats(replied("1", facts=facts(output_tokens=4_096, cached_tokens=0, prompt_tokens=9_999)))[::3] == [
        "4,096 tokens",
        "9,999 prompt tokens",
    ]


def test_a_failed_reply_says_why_and_what_to_do(make):
    error = ErrorInfo("context-full", "The context is full.", "Start a new chat.", 15, 413)
    view = make(replied("1", "", state="failed", facts=None, error=error))
    note = child(view, "failureNote")
    assert note.isVisible()
    assert note.accessibleName() == "Failed: The context is full. Start a new chat."
    assert not view.body.isVisible()
    assert not child(view, "copyMessage").isVisible()
    assert child(view, "regenerate").isVisible()
    half = make(replied("2", "Half of", state="failed", facts=None, error=error))
    assert half.body.isVisible()
    assert child(half, "failureNote").y() >= half.body.geometry().bottom()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "The model ended its turn without a word."),
        ({"reasoning": "Hm."}, "The model ended its turn without an answer."),
        ({"facts": facts(finish_reason="length")}, "The reply was cut before its first word."),
        ({"facts": facts(finish_reason="context", output_tokens=0)}, "The reply was cut before its first word."),
        ({"text": "A word."}, None),
        ({"state": "cancelled"}, None),
    ],
)
def test_a_reply_without_a_word_says_so_in_its_place(make, theme, changes, says):
    view = make(writing("1", reasoning=changes.get("reasoning", "")))
    view.finish(replied("1", **{"text": "", **changes}))
    view.height_at(WIDTH)
    label = view.findChild(Label)
    assert (label.text() if label.isVisible() else None) == says
    assert view.body.isVisible() == (says is None)
    if says:
        assert view.accessibleDescription() == says
        assert label.height() >= theme.line("read") - 8
        assert label.geometry().bottom() < view.findChild(StatsLine).y()
    view.show_message(replied("2", "Another."))
    view.height_at(WIDTH)
    assert (label.isVisible(), view.body.isVisible()) == (False, True)


def test_a_reply_that_waits_says_for_what(make):
    view = make(writing("1"))
    view.set_status("Reading 1,842 of 3,210 new tokens")
    assert line(view) == "Reading 1,842 of 3,210 new tokens"
    view.add_text("It")
    assert line(view) == ""


def test_a_streamed_reply_ends_as_the_stored_one_looks(make):
    text = REPLIES["everything"]
    view = make(writing("1"))
    heights = set()
    for start in range(0, len(text), 5):
        view.add_text(text[start : start + 5])
        heights.add(view.height_at(WIDTH))
    view.finish(replied("1", text))
    other = make(replied("1", text))
    assert view.height_at(WIDTH) == other.height_at(WIDTH)
    assert shown_text(view) == shown_text(other)
    assert len(heights) > 5
    assert line(view) == line(other) != ""


def test_finishing_does_not_rebuild_what_stands(make):
    view = make(writing("1"))
    view.add_text("# Title\n\nSome text.")
    changes = []
    view.body.document().contentsChange.connect(lambda *change: changes.append(change))
    view.finish(replied("1", "# Title\n\nSome text."))
    assert changes == []


def test_a_stored_text_that_differs_is_shown_instead(make):
    view = make(writing("1"))
    view.add_text("It is Par")
    view.finish(replied("1", "It is Paris."))
    assert shown_text(view) == "It is Paris."


def test_only_a_reply_being_written_has_a_caret(make):
    view = make(writing("1", "Text"))
    assert view.body._streaming
    view.finish(replied("1", "Text"))
    assert not view.body._streaming


def test_a_caret_stands_behind_the_last_character(make, theme):
    view = make(writing("1", "Some words"))
    image = view.body.grab().toImage()
    accent = theme.color("accent").rgb()
    columns = {x for x in range(image.width()) for y in range(image.height()) if image.pixel(x, y) == accent}
    cursor = view.body.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.End)
    end = view.body.cursorRect(cursor).left()
    assert columns
    assert end < min(columns) <= end + 4


# -- what the model thought ----------------------------------------------------------------------------------------------


def test_thoughts_are_folded_until_they_are_opened(make):
    view = make(replied("1", "Answer", reasoning="First **this**."))
    fold = child(view, "disclosure")
    folded = view.height_at(WIDTH)
    assert fold.isVisible()
    assert fold.text() == "Thought"
    assert len(view.findChildren(QTextBrowser)) == 1
    QTest.mouseClick(fold, Qt.MouseButton.LeftButton)
    assert child(view, "thought").toPlainText() == "First this."
    assert view.height_at(WIDTH) > folded
    QTest.mouseClick(fold, Qt.MouseButton.LeftButton)
    assert view.height_at(WIDTH) == folded


def test_thoughts_stream_into_an_open_fold(make):
    view = make(writing("1"))
    assert not child(view, "disclosure").isVisible()
    view.add_text("", "Let me ")
    assert child(view, "disclosure").text() == "Thinking…"
    child(view, "disclosure").setChecked(True)
    view.add_text("", "think.")
    assert child(view, "thought").toPlainText() == "Let me think."
    view.add_text("So: 4")
    assert child(view, "disclosure").text() == "Thought"
    view.finish(replied("1", "So: 4", reasoning="Let me think."))
    assert child(view, "thought").toPlainText() == "Let me think."


def test_another_message_in_the_same_view_starts_folded(make):
    view = make(replied("1", "A", reasoning="r"))
    child(view, "disclosure").setChecked(True)
    view.show_message(replied("2", "B"))
    assert not child(view, "disclosure").isVisible()
    assert not child(view, "thought").isVisible()
    assert shown_text(view) == "B"
    assert view.objectName() == "message.2"


# -- what can be done ----------------------------------------------------------------------------------------------------


@pytest.mark.drives("statsLine")
def test_buttons_ask_for_what_they_say(make, qtbot):
    view = make(replied("5", sibling_index=1, sibling_count=3))
    for name, signal, wanted in (
        ("copyMessage", view.copy_requested, ["5"]),
        ("regenerate", view.regenerate_requested, ["5"]),
        ("previousBranch", view.branch_requested, ["5", -1]),
        ("nextBranch", view.branch_requested, ["5", 1]),
    ):
        with qtbot.waitSignal(signal) as caught:
            QTest.mouseClick(child(view, name), Qt.MouseButton.LeftButton)
        assert caught.args == wanted


def test_branches_are_offered_where_there_are_some(make):
    assert not child(make(replied("1")), "nextBranch").isVisible()
    first = make(replied("2", sibling_index=0, sibling_count=2))
    assert not child(first, "previousBranch").isEnabled()
    assert child(first, "nextBranch").isEnabled()
    assert child(make(asked("3", sibling_index=1, sibling_count=2)), "previousBranch").isVisible()


def test_nothing_is_offered_while_a_reply_is_written(make):
    view = make(writing("1", "Text"))
    assert not child(view, "copyMessage").isVisible()
    assert not child(view, "regenerate").isVisible()


@pytest.mark.drives("copyCode")
def test_the_copy_button_copies_exactly_the_code(make):
    code = "def f():\n\treturn '\u2066x'  \n\n\nf()"
    view = make(replied("1", f"Text\n\n```python\n{code}\n```\n\nand\n\n```\nsecond\n```"))
    first, second = view.findChildren(CopyButton)
    QTest.mouseClick(first, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == code
    assert first.text() == "Copied"
    second.setFocus()
    QTest.keyClick(second, Qt.Key.Key_Space)
    assert QGuiApplication.clipboard().text() == "second"


def test_the_copy_button_follows_code_that_grows(make):
    view = make(writing("1", "```py\nx = 1\n"))
    view.add_text("y = 2\n")
    (button,) = view.findChildren(CopyButton)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "x = 1\ny = 2"
    view.show_message(replied("2", "no code"))
    assert not [button for button in view.findChildren(CopyButton) if button.isVisible()]


def test_a_selection_is_copied_with_its_signs(make):
    view = make(replied("1", "Intro:\n\n1. one\n2. two\n   - sub\n\n| a | b |\n|---|---|\n| c | d |\n\nEnd 🎉."))
    view.body.selectAll()
    QTest.keyClick(view.body, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Intro:\n\n1. one\n2. two\n  • sub\n\na\tb\nc\td\n\nEnd 🎉."


def test_a_part_of_a_line_is_copied_as_it_is(make):
    view = make(replied("1", "🎉 one **two** three"))
    cursor = view.body.textCursor()
    cursor.setPosition(3)
    cursor.setPosition(10, QTextCursor.MoveMode.KeepAnchor)
    view.body.setTextCursor(cursor)
    view.body.copy()
    assert QGuiApplication.clipboard().text() == "one two"


def test_the_mouse_selects_within_a_message(make):
    view = make(replied("1", "Some words to select"))
    viewport = view.body.viewport()
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=QPoint(1, 12))
    drag_to(viewport, QPoint(200, 12))
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=QPoint(200, 12))
    assert view.body.textCursor().selectedText().startswith("Some words")


def test_the_context_menu_copies(make):
    view = make(replied("1", "text"))
    menu = view.body.make_menu("https://a.example")
    copy, address, _, everything = menu.actions()
    assert not copy.isEnabled()
    everything.trigger()
    address.trigger()
    assert QGuiApplication.clipboard().text() == "https://a.example"
    copy = view.body.make_menu().actions()[0]
    assert copy.isEnabled()
    copy.trigger()
    assert QGuiApplication.clipboard().text() == "text"


def test_a_link_is_reported_and_not_followed(make, qtbot):
    view = make(replied("1", "[docs](https://docs.example/a?b=c#d)"))
    with qtbot.waitSignal(view.link_activated) as caught:
        QTest.mouseClick(view.body.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(12, 14))
    assert caught.args == ["https://docs.example/a?b=c#d"]
    assert shown_text(view) == "docs"
    assert view.body.source() == QUrl()


def test_nothing_is_ever_loaded(make):
    view = make(replied("1", "![x](file:///etc/hostname) <img src='https://a.example/x.png'>"))
    image = QTextDocument.ResourceType.ImageResource.value
    for address in ("file:///etc/hostname", "/etc/hostname", "https://a.example/x.png", "data:text/plain,x", "x.png"):
        assert bytes(view.body.loadResource(image, QUrl(address))) == b""
        assert bytes(view.body.document().resource(image, QUrl(address)) or b"") == b""


# -- measures ------------------------------------------------------------------------------------------------------------


def test_the_text_is_as_wide_as_the_column_and_as_high_as_it_needs(make):
    view = make(replied("1", REPLIES["everything"]))
    assert view.body.document().textWidth() == WIDTH
    assert view.body.verticalScrollBar().maximum() == 0
    assert view.height_at(WIDTH) > 400


def test_a_narrower_column_makes_it_higher(make):
    view = make(replied("1", "word " * 100))
    high = view.height_at(WIDTH)
    assert view.height_at(300) > high
    assert view.body.document().textWidth() == 300
    assert view.height_at(WIDTH) == high


def test_long_lines_of_code_wrap_and_nothing_is_cut(make):
    view = make(replied("1", "```\n" + "x" * 400 + "\n```"))
    view.body.shown.wrap(0, True)
    assert view.body.document().idealWidth() <= WIDTH
    assert view.body.document().firstBlock().layout().lineCount() > 3


def test_every_reply_can_be_painted_in_both_themes(make, theme):
    view = make(replied("1", ""))
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        for number, text in enumerate(text for text in REPLIES.values() if len(text) < 2_000):
            view.show_message(replied(str(number), text))
            view.resize(WIDTH + 2 * BLEED, view.height_at(WIDTH))
            image = view.grab().toImage()
            assert image.height() == view.height_at(WIDTH)
    theme.set_mode("light")


def test_another_theme_paints_the_same_text_in_other_colours(make, theme):
    view = make(replied("1", "```python\ndef f(): pass\n```"))
    light = view.grab().toImage()
    theme.set_mode("dark")
    dark = view.grab().toImage()
    theme.set_mode("light")
    assert light.size() == dark.size()
    assert light != dark
    assert view.grab().toImage() == light


def test_the_wheel_and_the_scrolling_keys_are_the_lists(make):
    view = make(replied("1", "text"))
    place = QPointF(5, 5)
    wheel = QWheelEvent(
        place,
        place,
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    view.body.wheelEvent(wheel)
    assert not wheel.isAccepted()


def test_a_reply_that_begins_with_code_has_room_for_its_header(qtbot, theme):
    transcript = Transcript(theme)
    qtbot.addWidget(transcript)
    transcript.resize(800, 600)
    transcript.set_messages([message("a", "user", "hello"), message("b", "assistant", "```python\nprint(1)\n```\n\nDone.")])
    transcript.show()
    body = transcript.view("b").body
    top = body.document().documentLayout().blockBoundingRect(body.document().firstBlock()).top()
    assert top >= CODE_HEADER
    button = body.findChild(QWidget, "copyCode")
    assert button.isVisible()
    assert body.rect().contains(button.geometry())


def test_a_question_measured_out_of_sight_is_as_high_as_its_lines(qtbot, theme):
    stack = QStackedWidget()
    qtbot.addWidget(stack)
    stack.addWidget(QWidget())
    transcript = Transcript(theme)
    stack.addWidget(transcript)
    stack.resize(1020, 700)
    stack.show()
    question = "Write a short Python function that checks whether a number is prime, then explain it in a list."
    transcript.set_messages([])
    stack.setCurrentWidget(transcript)
    stack.setCurrentIndex(0)
    transcript.append(message("a", "user", question))
    stack.setCurrentWidget(transcript)
    QApplication.processEvents()
    view = transcript.view("a")
    assert view.body.height() >= view.body.document().size().height() > 24
