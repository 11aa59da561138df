"""The keyboard goes from message to message and from control to control in the order in which they stand."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTextBrowser, QWidget

from app.chat.page import ChatPage
from app.widgets.halo import _Line
from engine.core.errors import ContextFull
from tests.app.chat.conversation.clipboard import clipboard
from tests.app.chat.stored import asked, replied, writing

ALT, CTRL, SHIFT = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LONG = "\n\n".join(f"Paragraph {number} of a reply that is long enough to be scrolled." for number in range(40))


@pytest.fixture
def page(theme, qtbot):
    page = ChatPage(theme)
    qtbot.addWidget(page)
    page.set_mode("chat")
    page.resize(1_000, 700)
    page.show()
    page.activateWindow()
    qtbot.waitActive(page)
    return page


@pytest.fixture
def told(monkeypatch):
    """What assistive tools were told to say."""
    said = []
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: said.append(event.message()))
    return said


def focus(page):
    return page.window().focusWidget()


def name(widget):
    return widget.objectName() or type(widget).__name__


def test_messages_are_stepped_through_and_the_last_leads_to_the_composer(page):
    page.transcript.set_messages([asked(f"m{n}", f"Question {n}") if n % 2 == 0 else replied(f"m{n}", LONG) for n in range(8)])
    page.composer.focus_text()
    page.transcript.focus.step(-1)
    assert focus(page).objectName() == "message.m7"
    seen = []
    for _ in range(9):
        seen.append(page.transcript.focus.message_id)
        page.transcript.focus.step(-1)
    assert seen == ["m7", "m6", "m5", "m4", "m3", "m2", "m1", "m0", "m0"]
    for _ in range(7):
        page.transcript.focus.step(1)
    assert page.transcript.focus.message_id == "m7"
    page.transcript.focus.step(1)
    assert page.composer.isAncestorOf(focus(page))
    assert page.transcript.focus.message_id == ""


def test_the_message_with_the_focus_is_in_view_and_has_a_ring(page):
    messages = [asked(f"m{n}", f"Question {n}") if n % 2 == 0 else replied(f"m{n}", LONG) for n in range(8)]
    page.transcript.set_messages(messages)
    page.transcript.jump_to_bottom()
    for _ in range(8):
        page.transcript.focus.step(-1)
        view = focus(page)
        assert view.y() >= 0
        assert view.geometry().bottom() < page.transcript.viewport().height() or view.y() == 24
        (ring,) = [line for line in page.findChildren(_Line) if line.isVisible()]
        assert ring.geometry().contains(view.geometry())
    page.composer.focus_text()
    assert not [line for line in page.findChildren(_Line) if line.isVisible() and line.parent() is page.transcript.viewport()]


def test_the_place_is_kept_when_the_message_is_scrolled_away(page):
    page.transcript.set_messages([replied(f"m{n}", LONG) for n in range(20)])
    page.transcript.scroll_to("m5")
    page.transcript.focus.step(1)
    assert page.transcript.focus.message_id == "m5"
    page.transcript.jump_to_bottom()
    assert focus(page) is page.transcript
    page.transcript.focus.step(1)
    assert page.transcript.focus.message_id == "m6"


def test_tab_goes_through_the_controls_as_they_stand(page):
    messages = [asked("q", "Q"), replied("r", "A\n\n```\ncode\n```", reasoning="Hm"), asked("q2", "Q"), replied("r2", "B")]
    page.transcript.set_messages(
        [asked("x", chat_id="0"), replied("y", chat_id="0", text="```\na\n```"), asked("z", chat_id="0")]
    )
    page.transcript.set_messages(messages)
    page.transcript.setFocus()
    seen = []
    for _ in range(40):
        QTest.keyClick(focus(page), Qt.Key.Key_Tab)
        if not page.transcript.isAncestorOf(focus(page)):
            break
        seen.append((page.transcript.focus.message_id, name(focus(page))))
    order = [message_id for message_id, _ in seen]
    assert order == sorted(order, key=["q", "r", "q2", "r2"].index)
    assert set(order) == {"q", "r", "q2", "r2"}
    controls = [control for message_id, control in seen if message_id == "r"]
    assert controls[:2] == ["disclosure", "messageText"]
    assert controls.index("copyCode") < controls.index("copyMessage") < controls.index("regenerate")
    assert page.composer.isAncestorOf(focus(page))
    back = []
    for _ in range(len(seen)):
        QTest.keyClick(focus(page), Qt.Key.Key_Tab, SHIFT)
        back.append((page.transcript.focus.message_id, name(focus(page))))
    assert back == seen[::-1]
    QTest.keyClick(focus(page), Qt.Key.Key_Tab, SHIFT)
    assert focus(page) is page.transcript
    QTest.keyClick(focus(page), Qt.Key.Key_Tab, SHIFT)
    assert not page.transcript.isAncestorOf(focus(page))


def test_tab_from_a_message_reaches_what_can_be_done_with_it(page):
    page.transcript.set_messages([replied(f"m{n}", "Short") for n in range(5)])
    page.transcript.focus.step(-1)
    page.transcript.focus.step(-1)
    assert page.transcript.focus.message_id == "m3"
    names = []
    for _ in range(4):
        QTest.keyClick(focus(page), Qt.Key.Key_Tab)
        assert page.transcript.focus.message_id == "m3"
        names.append(name(focus(page)))
    assert names[0] == "messageText"
    assert "copyMessage" in names
    QTest.keyClick(focus(page), Qt.Key.Key_Tab, SHIFT)
    assert name(focus(page)) == names[-2]


def test_a_control_under_the_edge_is_brought_into_view(page):
    page.transcript.set_messages([asked("q"), replied("r", LONG), replied("r2", LONG)])
    page.transcript.scroll_to("r")
    page.transcript.view("r").body.setFocus()
    QTest.keyClick(focus(page), Qt.Key.Key_Tab)
    assert page.transcript.focus.message_id == "r"
    button = focus(page)
    assert isinstance(button, QWidget)
    assert not isinstance(button, QTextBrowser)
    place = button.mapTo(page.transcript.viewport(), button.rect().center()).y()
    assert 0 < place < page.transcript.viewport().height()


@pytest.mark.drives("message.*")
def test_copying_a_message_that_has_the_focus_copies_it_whole(page, qtbot):
    page.transcript.set_messages([asked("q", "First"), replied("r", "Some **bold**")])
    page.transcript.focus.step(-1)
    with qtbot.waitSignal(page.transcript.copy_requested) as caught:
        QTest.keyClick(focus(page), Qt.Key.Key_C, CTRL)
    assert caught.args == ["r"]
    QTest.keyClick(focus(page), Qt.Key.Key_A, CTRL)
    QTest.keyClick(focus(page), Qt.Key.Key_C, CTRL)
    assert clipboard(page.transcript).text() == "First\n\nSome bold"


def test_nothing_happens_where_there_is_no_message(page):
    page.composer.focus_text()
    before = focus(page)
    page.transcript.focus.step(-1)
    page.transcript.focus.step(1)
    assert focus(page) is before


# -- said aloud ----------------------------------------------------------------------------------------------------------


def test_a_finished_reply_is_said(page, told):
    page.transcript.set_messages([asked("q"), writing("w")])
    page.transcript.add_text("w", "It is **Par")
    assert told == []
    page.transcript.finish(replied("w", "It is **Paris**."))
    assert told == ["Reply: It is Paris."]


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (replied("w", "Half", state="cancelled"), "Reply stopped: Half"),
        (replied("w", "", state="cancelled"), "Reply stopped."),
        (
            replied("w", "", facts=None, state="failed", error=ContextFull("It is full.").info()),
            "The reply failed: It is full.",
        ),
        (replied("w", ""), "The reply is empty."),
    ],
)
def test_how_a_reply_ended_is_said(page, told, ending, said):
    page.transcript.set_messages([asked("q"), writing("w")])
    page.transcript.finish(ending)
    assert told == [said]


def test_a_long_reply_is_said_by_its_beginning(page, told):
    page.transcript.set_messages([asked("q"), writing("w")])
    page.transcript.finish(replied("w", "word " * 500))
    assert told[0].startswith("Reply: word word")
    assert told[0].endswith("word…")
    assert len(told[0]) < 320


def test_the_count_of_matches_is_said(page, told, qtbot):
    page.transcript.set_messages([asked("q", "one fox, two foxes")])
    page.finder.open()
    QTest.keyClicks(page.findChild(QWidget, "findField"), "fox")
    qtbot.waitUntil(lambda: told == ["1 of 2"])
    QTest.keyClick(page.findChild(QWidget, "findField"), Qt.Key.Key_Return)
    assert told == ["1 of 2", "2 of 2"]


@pytest.mark.drives("message.*", "transcript")
def test_the_shortcuts_step_through_the_messages_and_lead_to_the_end(flint):
    flint.ask("Hello")
    flint.key(Qt.Key.Key_Up, ALT)
    assert flint.window.page.transcript.focus.message_id == flint.stored()[-1].id
    flint.key(Qt.Key.Key_Up, ALT, name=f"message.{flint.stored()[-1].id}")
    assert flint.window.page.transcript.focus.message_id == flint.stored()[0].id
    for message in flint.stored():
        flint.key(Qt.Key.Key_Down, ALT, name=f"message.{message.id}")
    assert flint.part("composer").hasFocus()
    transcript = flint.window.page.transcript
    flint.window.resize(900, 600)
    for _ in range(5):
        flint.ask("Hello there, " * 20)
    transcript.setFocus()
    flint.key(Qt.Key.Key_Home, name="transcript")
    assert not transcript.at_bottom
    flint.key(Qt.Key.Key_End, CTRL, name="transcript")
    assert transcript.at_bottom
    QApplication.processEvents()


def test_tab_goes_around_the_whole_window_and_through_the_messages_once(flint):
    flint.ask("Hello")
    flint.ask("And again")
    for modifiers in (Qt.KeyboardModifier.NoModifier, SHIFT):
        flint.part("composer").setFocus()
        seen = []
        for _ in range(80):
            QTest.keyClick(flint.window.focusWidget(), Qt.Key.Key_Tab, modifiers)
            focus = flint.window.focusWidget()
            seen.append(flint.window.page.transcript.focus.message_id or name(focus))
            if seen[-1] == "composer":
                break
        assert {"transcript", "modelPicker", "newChatButton", "chatList"} <= set(seen)
        ids = [message.id for message in flint.stored()]
        order = [each for each, before in zip(seen, ["", *seen], strict=False) if each in ids and each != before]
        assert order == (ids if modifiers == Qt.KeyboardModifier.NoModifier else ids[::-1])
