"""Finding in the open chat: everything is found, shown, counted and led to, without making a widget for it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTextBrowser, QWidget

from app.chat.conversation.message import MessageView
from app.chat.conversation.needle import as_searched
from app.chat.conversation.unshown import Unshown
from app.chat.page import ChatPage
from tests.app.chat.replies import REPLIES
from tests.app.chat.settling import all_there, built
from tests.app.chat.stored import asked, replied, writing

LONG = "\n\n".join(f"Paragraph {number} of a reply that is long enough to be scrolled." for number in range(60))
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def page(theme, qtbot):
    page = ChatPage(theme)
    qtbot.addWidget(page)
    page.set_mode("chat")
    page.resize(1_000, 700)
    page.show()
    QApplication.processEvents()
    return page


def part(page, name):
    return page.findChild(QWidget, name)


def look(page, qtbot, words):
    """Type words into the bar and wait until all is searched."""
    page.finder.open()
    QTest.keyClick(part(page, "findField"), Qt.Key.Key_A, CTRL)
    QTest.keyClicks(part(page, "findField"), words)
    settle(page, qtbot)


def settle(page, qtbot):
    qtbot.waitUntil(lambda: not page.finder.searching)
    all_there(page.transcript, qtbot)


def count(page):
    return page.finder._bar.count


def marked(text):
    """What is marked in a text: all of it, and what of it is the current match."""
    strong = text.parent()._theme.color("accent-fill")
    marks = [(mark.cursor.selectedText(), mark.format.background().color() == strong) for mark in text.extraSelections()]
    return [words for words, _ in marks], [words for words, is_strong in marks if is_strong]


def current_top(page, message_id):
    """Where the current match stands in the list's view."""
    view = page.transcript.view(message_id)
    texts = [text for text in (view.body, view.thought.text) if text is not None]
    strong = texts[0].parent()._theme.color("accent-fill") if texts else None
    for text in texts:
        for mark in text.extraSelections():
            if mark.format.background().color() == strong:
                cursor = QTextCursor(mark.cursor)
                cursor.setPosition(mark.cursor.selectionStart())
                return text.viewport().mapTo(page.transcript.viewport(), text.cursorRect(cursor).topLeft()).y()
    return None


@pytest.mark.drives("findField", "findBar")
def test_all_matches_are_counted_and_those_in_view_marked(page, qtbot):
    page.transcript.set_messages(
        [asked("q", "The first"), replied("r", "the **th**eme\n\n```\nthe code\n```\n\n|the|x|\n|-|-|\n|y|THE|")]
    )
    look(page, qtbot, "the")
    assert count(page) == "1 of 6"
    assert marked(page.transcript.view("q").body) == (["The"], ["The"])
    assert marked(page.transcript.view("r").body) == (["the", "the", "the", "the", "THE"], [])


@pytest.mark.drives("findCase")
def test_case_counts_when_it_is_asked_to(page, qtbot):
    page.transcript.set_messages([asked("q", "The first"), replied("r", "the theme, Thé")])
    look(page, qtbot, "the")
    assert count(page).endswith("of 4")
    QTest.mouseClick(part(page, "findCase"), Qt.MouseButton.LeftButton)
    settle(page, qtbot)
    assert count(page) == "1 of 2"
    part(page, "findCase").setFocus()
    QTest.keyClick(part(page, "findCase"), Qt.Key.Key_Space)
    settle(page, qtbot)
    assert count(page).endswith("of 4")


@pytest.mark.drives("findNext", "findPrevious", "findField")
def test_next_and_previous_go_around_by_button_and_by_key(page, qtbot):
    page.transcript.set_messages([asked("q", "one fox"), replied("r", "two fox\n\nthree fox")])
    look(page, qtbot, "fox")
    seen = [count(page)]
    for press in (
        lambda: QTest.mouseClick(part(page, "findNext"), Qt.MouseButton.LeftButton),
        lambda: QTest.keyClick(part(page, "findField"), Qt.Key.Key_Return),
        lambda: QTest.keyClick(part(page, "findNext"), Qt.Key.Key_Space),
        lambda: QTest.mouseClick(part(page, "findPrevious"), Qt.MouseButton.LeftButton),
        lambda: QTest.keyClick(part(page, "findField"), Qt.Key.Key_Return, SHIFT),
    ):
        press()
        seen.append(count(page))
    assert seen == [f"{n} of 3" for n in (1, 2, 3, 1, 3, 2)]
    assert marked(page.transcript.view("r").body) == (["fox", "fox"], ["fox"])


def test_what_is_not_there_is_said(page, qtbot):
    page.transcript.set_messages([asked("q", "one fox")])
    look(page, qtbot, "wolf")
    assert count(page) == "No matches"
    assert not part(page, "findNext").isEnabled()
    look(page, qtbot, " ")
    assert count(page) == ""
    assert not part(page, "findPrevious").isEnabled()


def test_a_match_far_away_is_scrolled_to_without_showing_what_is_between(page, qtbot):
    messages = [replied(f"r{n}", LONG if n % 2 else "Short.") for n in range(400)]
    messages[17] = replied("r17", f"{LONG}\n\nHere is the needle.\n\n{LONG}")
    page.transcript.set_messages(messages)
    look(page, qtbot, "needle")
    assert count(page) == "1 of 1"
    assert 0 < current_top(page, "r17") < page.transcript.viewport().height()
    assert not page.transcript.at_bottom
    assert len(page.findChildren(MessageView)) < 60


def test_matches_start_from_what_is_read(page, qtbot):
    page.transcript.set_messages([replied(f"r{n}", f"fox {n}\n\n{LONG}") for n in range(20)])
    page.transcript.scroll_to("r7")
    look(page, qtbot, "fox")
    assert count(page) == "8 of 20"
    page.finder.step(-1)
    assert count(page) == "7 of 20"


def test_typing_on_stays_with_the_match(page, qtbot):
    page.transcript.set_messages([replied(f"r{n}", f"fo fox {n}\n\n{LONG}") for n in range(5)])
    page.transcript.scroll_to("r3")
    look(page, qtbot, "fo")
    assert count(page) == "7 of 10"
    page.finder.step(1)
    QTest.keyClick(part(page, "findField"), Qt.Key.Key_End)
    QTest.keyClicks(part(page, "findField"), "x")
    settle(page, qtbot)
    assert count(page) == "4 of 5"


def test_what_was_thought_is_found_and_opened(page, qtbot):
    page.transcript.set_messages(
        [asked("q"), replied("r", "Answer with fox", reasoning="Some **fox** first"), asked("q2", LONG)]
    )
    look(page, qtbot, "fox")
    assert page.transcript.view("r").thought.opened
    assert marked(page.transcript.view("r").thought.text) == (["fox"], ["fox"])
    assert marked(page.transcript.view("r").body) == (["fox"], [])
    page.finder.step(1)
    assert marked(page.transcript.view("r").body) == (["fox"], ["fox"])


def test_a_reply_that_streams_is_searched_again(page, qtbot):
    page.transcript.set_messages([asked("q", "fox"), writing("w")])
    look(page, qtbot, "fox")
    assert count(page) == "1 of 1"
    page.transcript.add_text("w", "A fox and a f")
    page.transcript.add_text("w", "ox.")
    settle(page, qtbot)
    assert count(page) == "1 of 3"
    assert marked(page.transcript.view("w").body)[0] == ["fox", "fox"]
    page.transcript.finish(replied("w", "A fox and a fox."))
    settle(page, qtbot)
    assert count(page) == "1 of 3"
    page.transcript.append(asked("mine", "fox"))
    settle(page, qtbot)
    assert count(page) == "1 of 4"


def test_what_a_streaming_model_thinks_is_searched_too(page, qtbot):
    page.transcript.set_messages([asked("q"), writing("w")])
    page.transcript.add_text("w", "", "A fox, per")
    look(page, qtbot, "fox")
    assert count(page) == "1 of 1"
    page.transcript.add_text("w", "", "haps a fox")
    settle(page, qtbot)
    assert count(page) == "1 of 2"
    assert marked(page.transcript.view("w").thought.text)[0] == ["fox", "fox"]


@pytest.mark.drives("findClose", "findField")
def test_closing_takes_marks_and_room_away_and_gives_the_focus_back(page, qtbot):
    page.activateWindow()
    page.transcript.set_messages([asked("q", "one fox"), replied("r", LONG)])
    page.composer.focus_text()
    before = page.window().focusWidget()
    for leave in (
        lambda: QTest.keyClick(part(page, "findField"), Qt.Key.Key_Escape),
        lambda: QTest.mouseClick(part(page, "findClose"), Qt.MouseButton.LeftButton),
        lambda: QTest.keyClick(part(page, "findClose"), Qt.Key.Key_Escape),
    ):
        look(page, qtbot, "fox")
        assert page.window().focusWidget() is part(page, "findField")
        leave()
        assert not part(page, "findBar").isVisible()
        assert page.window().focusWidget() is before
        assert all(not browser.extraSelections() for browser in page.findChildren(QTextBrowser))


def test_the_first_message_is_not_hidden_by_the_bar_and_nothing_else_moves(page, qtbot):
    page.transcript.set_messages([asked("q", "one fox"), replied("r", LONG)])
    page.transcript.scroll_to("q")
    page.transcript.verticalScrollBar().setValue(300)
    before = page.transcript.view("r").y()
    page.finder.open()
    assert page.transcript.view("r").y() == before
    look(page, qtbot, "fox")
    bar = part(page, "findBar")
    assert current_top(page, "q") > bar.geometry().bottom()
    page.finder.close()
    assert page.transcript.view("q").y() == 24


def test_another_chat_closes_the_bar(page, qtbot):
    page.transcript.set_messages([asked("q", "one fox")])
    look(page, qtbot, "fox")
    page.transcript.set_messages([asked("other", "another fox", chat_id="2")])
    assert not part(page, "findBar").isVisible()
    assert not page.transcript.view("other").body.extraSelections()


def test_another_branch_is_searched_anew(page, qtbot):
    page.transcript.set_messages([asked("q", "one fox"), replied("r", "fox")])
    look(page, qtbot, "fox")
    page.transcript.set_messages([asked("q", "one fox"), replied("r2", "fox fox fox")])
    settle(page, qtbot)
    assert count(page) == "1 of 4"


def test_a_view_that_is_used_again_has_no_marks_of_before(page, qtbot):
    page.transcript.set_messages([replied(f"r{n}", "fox" if n < 3 else "nothing here") for n in range(200)])
    page.transcript.scroll_to("r0")
    look(page, qtbot, "fox")
    for place in range(0, 200, 7):
        page.transcript.scroll_to(f"r{place}")
        for index in page.transcript.visible():
            view = page.transcript.view(f"r{index}")
            assert marked(view.body)[0] == (["fox"] if index < 3 else [])


def test_thousands_of_matches_mark_only_what_is_in_view(page, qtbot):
    page.transcript.set_messages([replied("r", "```\n" + "e = e + e\n" * 2_000 + "```")])
    look(page, qtbot, "e")
    assert count(page).endswith("of 6,000")
    assert 30 < len(page.transcript.view("r").body.extraSelections()) < 200
    page.transcript.verticalScrollBar().setValue(0)
    marks = page.transcript.view("r").body.extraSelections()
    assert min(mark.cursor.selectionStart() for mark in marks) == 0


def test_unshown_messages_have_the_text_that_is_shown(page, theme, qtbot):
    unshown = Unshown(theme, page)
    for name, text in REPLIES.items():
        if not text or len(text) > 20_000:
            continue
        message = replied(name, text, chat_id=name, reasoning=text)
        page.transcript.set_messages([message])
        view = page.transcript.view(name)
        view.thought.open()
        all_there(page.transcript, qtbot)
        raw = as_searched(built(unshown.answer(message)).document.toRawText())
        assert raw == as_searched(view.body.document().toRawText()), name
        raw = as_searched(built(unshown.thought(message)).document.toRawText())
        assert raw == as_searched(view.thought.text.document().toRawText()), name


def test_a_match_far_to_the_right_in_code_is_scrolled_to_sideways(page, qtbot):
    page.transcript.set_messages([asked("q"), replied("r", f"```\n{'x' * 300} needle\n```\n\n{LONG}")])
    (bar,) = [bar for bar in page.transcript.view("r").findChildren(QWidget, "sideScroll") if not bar.isHidden()]
    assert bar.value() == 0
    look(page, qtbot, "needle")
    assert count(page) == "1 of 1"
    assert bar.value() > bar.maximum() // 2


def test_what_is_selected_is_looked_for(page, qtbot):
    page.transcript.set_messages([asked("q", "one fox"), replied("r", "two foxes\n\nand a wolf")])
    body = page.transcript.view("r").body
    for selected in ("fox", "wolf"):
        body.setTextCursor(body.document().find(selected))
        page.transcript.selection.note(body)
        page.finder.open()
        settle(page, qtbot)
        assert page.finder._bar.words == selected
    assert count(page) == "1 of 1"
    page.transcript.selection.select_all()
    page.finder.open()
    assert page.finder._bar.words == "wolf"


def test_nothing_is_searched_where_there_is_no_chat(page):
    page.finder.open()
    assert part(page, "findBar") is None
    page.transcript.set_messages([asked("q")])
    page.set_mode("welcome")
    page.finder.open()
    assert part(page, "findBar") is None


def test_the_shortcuts_find_in_the_chat(flint):
    flint.ask("Hello")
    flint.key(Qt.Key.Key_F, CTRL)
    assert flint.part("findField").hasFocus()
    flint.type("fox", "findField")
    flint.wait(lambda: flint.window.page.finder._bar.count == "1 of 1")
    flint.key(Qt.Key.Key_A, CTRL, "findField")
    flint.type("the", "findField")
    flint.wait(lambda: flint.window.page.finder._bar.count.endswith("of 3"))
    before = flint.window.page.finder._bar.count
    flint.key(Qt.Key.Key_G, CTRL, "findField")
    after = flint.window.page.finder._bar.count
    assert after != before
    flint.key(Qt.Key.Key_G, CTRL | SHIFT, "findField")
    assert flint.window.page.finder._bar.count == before
    flint.key(Qt.Key.Key_Escape, name="findField")
    assert flint.part("composer").hasFocus()
    flint.key(Qt.Key.Key_F, CTRL | SHIFT)
    assert flint.part("chatSearch").hasFocus()
