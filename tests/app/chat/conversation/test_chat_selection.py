"""Selecting over several messages with the mouse and the keyboard, and what copying gives, whatever is on screen."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.chat.conversation.message import MessageView
from tests.app.chat.conversation.clipboard import clipboard
from tests.app.chat.replies import REPLIES
from tests.app.chat.stored import asked, replied, writing

LONG = "\n\n".join(f"Paragraph {number} of a reply that is long enough to be scrolled." for number in range(40))
CTRL, SHIFT, NONE = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.NoModifier
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def transcript(transcript):
    transcript.resize(1_000, 700)
    transcript.activateWindow()
    QApplication.processEvents()
    QGuiApplication.clipboard().setText("what was there before")
    return transcript


def place(transcript, message_id, needle, *, after=False):
    """Where a word stands on the screen: its left edge, or with `after` its right one."""
    view = transcript.view(message_id)
    text = view.thought.text if needle not in view.body.toPlainText() else view.body
    cursor = text.document().find(needle)
    assert not cursor.isNull(), needle
    cursor.setPosition(cursor.selectionEnd() if after else cursor.selectionStart())
    return text.viewport().mapToGlobal(text.cursorRect(cursor).center())


def mouse(transcript, kind, point, *, grabber=None, modifiers=NONE):
    """Send a mouse event at a point of the screen to whatever is there, or to what has the mouse already."""
    target = grabber or transcript.childAt(transcript.mapFromGlobal(point)) or transcript.viewport()
    button = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else LEFT
    held = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseButtonRelease else LEFT
    event = QMouseEvent(kind, QPointF(target.mapFromGlobal(point)), QPointF(point), button, held, modifiers)
    QApplication.sendEvent(target, event)
    return target


def press(transcript, point, **how):
    return mouse(transcript, QEvent.Type.MouseButtonPress, point, **how)


def drag(transcript, start, *stops):
    """Press at `start`, move over `stops` and let go at the last; return what had the mouse."""
    target = press(transcript, start)
    for stop in stops:
        mouse(transcript, QEvent.Type.MouseMove, stop, grabber=target)
    mouse(transcript, QEvent.Type.MouseButtonRelease, stops[-1], grabber=target)
    return target


def click(transcript, point, **how):
    target = press(transcript, point, **how)
    mouse(transcript, QEvent.Type.MouseButtonRelease, point, grabber=target)


def chosen(transcript):
    """What each message in view shows as selected, top to bottom."""
    views = sorted((view for view in transcript.findChildren(MessageView) if view.isVisible()), key=lambda view: view.y())
    texts = [text for view in views for text in (view.thought.text, view.body) if text is not None and not text.isHidden()]
    return [text.textCursor().selectedText().replace("\u2029", "\n") for text in texts]


def copied(transcript):
    QTest.keyClick(transcript, Qt.Key.Key_C, CTRL)
    return clipboard(transcript).text()


def markdown():
    return bytes(QGuiApplication.clipboard().mimeData().data("text/markdown")).decode()


@pytest.fixture
def three(transcript):
    transcript.set_messages(
        [asked("q", "First question"), replied("r", "Some **bold** words\n\nand more"), asked("q2", "Second question")]
    )
    return transcript


@pytest.mark.drives("messageText", "transcript")
def test_dragging_down_selects_over_messages(three):
    drag(three, place(three, "q", "question"), place(three, "r", "and"), place(three, "q2", "question"))
    assert chosen(three) == ["question", "Some bold words\nand more", "Second "]
    assert copied(three) == "question\n\nSome bold words\n\nand more\n\nSecond "
    assert markdown() == "question\n\nSome **bold** words\n\nand more\n\nSecond "


def test_dragging_up_selects_the_same(three):
    drag(three, place(three, "q2", "question"), place(three, "r", "and"), place(three, "q", "question"))
    assert chosen(three) == ["question", "Some bold words\nand more", "Second "]


def test_dragging_back_takes_away_what_is_left(three):
    start = place(three, "q", "question")
    target = press(three, start)
    for stop, selected in (
        (place(three, "q2", "question"), ["question", "Some bold words\nand more", "Second "]),
        (place(three, "r", "bold"), ["question", "Some ", ""]),
        (place(three, "q", "question", after=True), ["question", "", ""]),
        (place(three, "r", "and"), ["question", "Some bold words\n", ""]),
    ):
        mouse(three, QEvent.Type.MouseMove, stop, grabber=target)
        assert chosen(three) == selected


def test_a_click_selects_nothing_any_more(three):
    drag(three, place(three, "q", "question"), place(three, "q2", "question"))
    click(three, place(three, "r", "bold"))
    assert chosen(three) == ["", "", ""]
    drag(three, place(three, "q", "question"), place(three, "q2", "question"))
    click(three, three.viewport().mapToGlobal(QPoint(20, 400)))
    assert chosen(three) == ["", "", ""]
    assert copied(three) == "what was there before"


def test_a_press_on_what_is_selected_does_not_drag_it_away(three):
    drag(three, place(three, "r", "Some"), place(three, "r", "words", after=True))
    assert chosen(three)[1] == "Some bold words"
    drag(three, place(three, "r", "bold"), place(three, "r", "more"))
    assert chosen(three)[1] == "bold words\nand "


def test_shift_and_a_click_extend_in_both_directions(three):
    click(three, place(three, "r", "bold"))
    click(three, place(three, "q2", "question"), modifiers=SHIFT)
    assert chosen(three) == ["", "bold words\nand more", "Second "]
    click(three, place(three, "q", "question"), modifiers=SHIFT)
    assert chosen(three) == ["question", "Some ", ""]


def test_selecting_can_start_and_end_beside_the_texts(three):
    margin = three.viewport().mapToGlobal(QPoint(30, 0)).x()
    start = QPoint(margin, place(three, "r", "and").y())
    drag(three, start, QPoint(margin, place(three, "q2", "question").y() + 100))
    assert chosen(three) == ["", "and more", "Second question"]
    drag(three, QPoint(margin, place(three, "q", "First").y() - 200), start)
    assert chosen(three) == ["First question", "Some bold words\n", ""]


def test_a_double_click_selects_a_word_and_dragging_on_keeps_it(three):
    view = three.view("r").body
    local = view.viewport().mapFromGlobal(place(three, "r", "bold") + QPoint(4, 0))
    QTest.mouseDClick(view.viewport(), LEFT, pos=local)
    assert chosen(three)[1] == "bold"
    assert copied(three) == "bold"


@pytest.mark.drives("transcript")
def test_everything_is_selected_by_key_from_the_list_and_from_a_message(three):
    for name in ("list", "message"):
        three.selection.clear()
        target = three if name == "list" else three.view("r").body
        target.setFocus()
        QTest.keyClick(target, Qt.Key.Key_A, CTRL)
        assert chosen(three) == ["First question", "Some bold words\nand more", "Second question"]
        QTest.keyClick(target, Qt.Key.Key_C, CTRL)
        assert clipboard(three).text() == "First question\n\nSome bold words\n\nand more\n\nSecond question"
        assert markdown() == "First question\n\nSome **bold** words\n\nand more\n\nSecond question"


def test_shift_and_arrows_select_within_a_message(three):
    body = three.view("r").body
    click(three, place(three, "r", "bold"))
    body.setFocus()
    for _ in range(4):
        QTest.keyClick(body, Qt.Key.Key_Right, SHIFT)
    assert chosen(three)[1] == "bold"
    QTest.keyClick(body, Qt.Key.Key_End, SHIFT)
    assert copied(three) == "bold words"
    click(three, place(three, "q2", "question"), modifiers=SHIFT)
    assert chosen(three) == ["", "bold words\nand more", "Second "]


def test_messages_out_of_view_are_selected_too_and_show_it_when_they_come_back(transcript):
    messages = [
        asked(f"m{n}", f"Question {n}") if n % 2 == 0 else replied(f"m{n}", f"**Answer** {n}\n\n- a\n- b") for n in range(300)
    ]
    transcript.set_messages(messages)
    transcript.scroll_to("m10")
    click(transcript, place(transcript, "m10", "10"))
    transcript.scroll_to("m289")
    assert transcript.view("m150") is None
    click(transcript, place(transcript, "m289", "289"), modifiers=SHIFT)
    for index in (150, 201, 12):
        transcript.scroll_to(f"m{index}")
        view = transcript.view(f"m{index}")
        assert view.body.textCursor().selectedText().replace("\u2029", "\n") == view.body.toPlainText() != ""
    transcript.scroll_to("m8")
    assert not transcript.view("m8").body.textCursor().hasSelection()
    assert transcript.view("m10").body.textCursor().selectedText() == "10"
    QTest.keyClick(transcript, Qt.Key.Key_C, CTRL)
    plain = clipboard(transcript).text()
    assert plain.startswith("10\n\nAnswer 11")
    assert plain.endswith("Question 288\n\nAnswer ")
    assert "\n\nQuestion 150\n\nAnswer 151\n\n• a\n• b\n\n" in plain
    assert markdown().startswith("10\n\n**Answer** 11\n\n- a\n- b\n\nQuestion 12")


@pytest.mark.drives("thought")
def test_what_is_opened_of_the_thoughts_is_selected_and_what_is_not_is_not(transcript):
    transcript.set_messages([asked("q", "Why"), replied("r", "So", reasoning="Let *me* see"), asked("q2", "Ah")])
    QTest.keyClick(transcript, Qt.Key.Key_A, CTRL)
    assert copied(transcript) == "Why\n\nSo\n\nAh"
    QTest.mouseClick(transcript.view("r").findChild(QWidget, "disclosure"), LEFT)
    assert chosen(transcript) == ["Why", "Let me see", "So", "Ah"]
    assert copied(transcript) == "Why\n\nLet me see\n\nSo\n\nAh"
    drag(transcript, place(transcript, "r", "me"), place(transcript, "q2", "Ah", after=True))
    assert chosen(transcript) == ["", "me see", "So", "Ah"]


def test_a_selection_grows_with_a_reply_that_is_inside_it_and_stays_when_one_comes_after_it(transcript):
    transcript.set_messages([asked("q", "Why"), writing("w", "Beca")])
    QTest.keyClick(transcript, Qt.Key.Key_A, CTRL)
    transcript.add_text("w", "use it *is*.")
    assert chosen(transcript) == ["Why", "Because it is."]
    transcript.finish(replied("w", "Because it *is*."))
    transcript.append(asked("more", "And more"))
    assert chosen(transcript) == ["Why", "Because it is.", ""]
    assert copied(transcript) == "Why\n\nBecause it is."


def test_another_chat_or_branch_has_nothing_selected(three):
    QTest.keyClick(three, Qt.Key.Key_A, CTRL)
    three.set_messages([asked("q", "First question"), replied("r", "Some **bold** words\n\nand more")])
    assert chosen(three) == ["", ""]


def test_selecting_over_the_edge_scrolls_into_the_next_messages(transcript):
    transcript.set_messages([replied(f"r{n}", f"{LONG}\n\nEnd of {n}.") for n in range(4)])
    transcript.scroll_to("r1")
    start = place(transcript, "r1", "Paragraph 3")
    target = press(transcript, start)
    below = transcript.viewport().mapToGlobal(QPoint(200, transcript.viewport().height() + 55))
    mouse(transcript, QEvent.Type.MouseMove, below, grabber=target)
    assert transcript.selection.scrolling
    for _ in range(40):
        transcript.selection._scroll.tick()
    assert transcript.view("r2").body.textCursor().selectedText().startswith("Paragraph 0")
    assert transcript.view("r1").body.textCursor().selectedText().endswith("End of 1.")
    mouse(transcript, QEvent.Type.MouseButtonRelease, below, grabber=target)
    assert not transcript.selection.scrolling


@pytest.mark.drives("messageText")
def test_the_menu_copies_in_each_form_and_selects(three):
    body = three.view("r").body
    point = place(three, "r", "bold")

    def menu(widget):
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, widget.mapFromGlobal(point), point)
        QApplication.sendEvent(widget, event)
        found = [each for each in three.findChildren(QMenu) if each.isVisible()]
        return {action.objectName(): action for action in found[-1].actions() if not action.isSeparator()}, found[-1]

    actions, shown = menu(body.viewport())
    assert list(actions) == ["copySelection", "copyAsMarkdown", "copyAsPlainText", "selectMessage", "selectAll"]
    assert not actions["copyAsMarkdown"].isEnabled()
    actions["selectMessage"].trigger()
    shown.close()
    assert chosen(three) == ["", "Some bold words\nand more", ""]
    for name, plain, has_markdown in (
        ("copySelection", "Some bold words\n\nand more", True),
        ("copyAsMarkdown", "Some **bold** words\n\nand more", True),
        ("copyAsPlainText", "Some bold words\n\nand more", False),
    ):
        actions, shown = menu(body.viewport())
        actions[name].trigger()
        shown.close()
        assert clipboard(three).text() == plain, name
        assert QGuiApplication.clipboard().mimeData().hasFormat("text/markdown") == has_markdown
    actions, shown = menu(three.viewport())
    assert "selectMessage" not in actions
    actions["selectAll"].trigger()
    shown.close()
    assert chosen(three)[2] == "Second question"


def test_every_whole_message_is_copied_as_it_was_written(transcript):
    for name, text in REPLIES.items():
        if not text.strip() or len(text) > 20_000:
            continue
        transcript.set_messages([replied(name, text, chat_id=name)])
        QTest.keyClick(transcript, Qt.Key.Key_A, CTRL)
        QTest.keyClick(transcript, Qt.Key.Key_C, CTRL)
        clipboard(transcript)
        if transcript.view(name).body.toPlainText():
            assert markdown() == text.strip("\n").encode("utf-8", "replace").decode(), name


def test_a_link_is_still_followed_by_a_click_and_not_by_a_drag(transcript, qtbot):
    transcript.set_messages([replied("r", "[first link](https://a.example) and text"), asked("q", "More")])
    with qtbot.waitSignal(transcript.link_activated) as caught:
        click(transcript, place(transcript, "r", "link"))
    assert caught.args == ["https://a.example"]
    with qtbot.assertNotEmitted(transcript.link_activated):
        drag(transcript, place(transcript, "r", "link"), place(transcript, "q", "More"))
    assert chosen(transcript)[0] == "link and text"
