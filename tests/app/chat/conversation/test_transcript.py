"""The list of messages: what is in view, where it stays, what follows the end and what does not."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTextBrowser, QWidget

from app.chat.conversation.jump_button import JumpButton
from app.chat.conversation.message import MessageView
from app.chat.conversation.spacing import BLEED
from app.chat.text.formulas import formulas
from tests.app.chat.replies import REPLIES
from tests.app.chat.settling import all_there
from tests.app.chat.stored import asked, facts, replied, writing

LINES = "\n\n".join(f"Paragraph {number} of a reply that is long enough to be scrolled." for number in range(60))


def conversation(turns, text=LINES):
    return [asked(f"q{n}", f"Question {n}?") if n % 2 == 0 else replied(f"r{n}", text) for n in range(turns)]


def shown(transcript):
    """The messages whose widgets are in view, from the top."""
    views = [view for view in transcript.findChildren(MessageView) if view.isVisible()]
    return [view.message_id for view in sorted(views, key=lambda view: view.y())]


def top_of(transcript, message_id):
    return transcript.view(message_id).y()


def jump(transcript):
    return transcript.findChild(JumpButton)


def bar(transcript):
    return transcript.verticalScrollBar()


def wheel(transcript, notches):
    """Turn the wheel as a person does, over the middle of the list: the window decides which widget gets it."""
    place = transcript.viewport().mapTo(transcript.window(), transcript.viewport().rect().center())
    QTest.wheelEvent(transcript.window().windowHandle(), QPointF(place), QPoint(0, 120 * notches))
    QApplication.processEvents()


def drag_bar(transcript, pixels, *, release=True, held=False):
    """Drag the scroll bar's handle; `held` already, it is dragged on."""
    QApplication.processEvents()
    handle = bar(transcript)
    start = QPoint(handle.width() // 2, handle.height() - 4)
    if not held:
        QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=start)
    move = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(start + QPoint(0, pixels)),
        QPointF(handle.mapToGlobal(start + QPoint(0, pixels))),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(handle, move)
    if release:
        QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=start + QPoint(0, pixels))


def test_an_empty_chat_shows_nothing(transcript):
    transcript.set_messages([])
    assert shown(transcript) == []
    assert bar(transcript).maximum() == 0
    assert transcript.at_bottom


def test_a_chat_opens_at_its_end(transcript):
    transcript.set_messages(conversation(20))
    assert shown(transcript)[-1] == "r19"
    last = transcript.view("r19")
    assert last.geometry().bottom() + 1 == transcript.viewport().height() - 24
    assert transcript.at_bottom


def test_only_what_is_in_view_has_a_widget(transcript):
    transcript.set_messages(conversation(1_000, "Short answer."))
    assert 3 <= len(shown(transcript)) <= 12
    for _ in range(40):
        QTest.keyClick(transcript, Qt.Key.Key_PageUp)
    assert len(transcript.findChildren(MessageView)) < 60
    assert len(transcript.findChildren(QTextBrowser)) < 60


def test_every_message_can_be_reached_and_is_itself(transcript):
    messages = conversation(60, "Short answer.")
    transcript.set_messages(messages)
    QTest.keyClick(transcript, Qt.Key.Key_Home)
    seen = {}
    for _ in range(200):
        for message_id in shown(transcript):
            seen[message_id] = transcript.view(message_id).findChild(QTextBrowser).toPlainText()
        if transcript.at_bottom:
            break
        QTest.keyClick(transcript, Qt.Key.Key_PageDown)
    assert seen == {message.id: message.text for message in messages}


def test_messages_stand_in_the_reading_column(transcript):
    transcript.set_messages(conversation(2, "Short."))
    view = transcript.view("r1")
    assert view.body.width() == 720
    assert view.x() + BLEED == (transcript.width() - 720) // 2
    assert view.y() - transcript.view("q0").geometry().bottom() - 1 == 20
    transcript.resize(500, 600)
    assert view.body.width() == transcript.width() - 48


def test_turns_are_24_apart(transcript):
    transcript.set_messages(conversation(3, "Short."))
    assert transcript.view("q2").y() - transcript.view("r1").geometry().bottom() - 1 == 24


# -- following and staying -----------------------------------------------------------------------------------------------


def test_a_reply_is_followed_while_the_end_is_in_view(transcript):
    transcript.set_messages([*conversation(4), asked("q"), writing("w")])
    for _ in range(50):
        transcript.add_text("w", "Some words.\n\n")
        assert bar(transcript).value() == bar(transcript).maximum()
    assert not jump(transcript).isVisible()
    assert transcript.view("w").geometry().bottom() + 1 == transcript.viewport().height() - 24


def test_a_reader_who_scrolled_up_stays_put(transcript):
    transcript.set_messages([*conversation(4), asked("q"), writing("w", LINES)])
    wheel(transcript, 5)
    assert not transcript.at_bottom
    before = top_of(transcript, "w")
    for _ in range(30):
        transcript.add_text("w", "Some words.\n\n")
        assert top_of(transcript, "w") == before
    transcript.finish(replied("w", transcript.messages[-1].text))
    assert top_of(transcript, "w") == before
    assert not transcript.at_bottom


def test_coming_back_to_the_end_follows_again(transcript):
    transcript.set_messages([asked("q"), writing("w", LINES)])
    wheel(transcript, 3)
    wheel(transcript, -30)
    assert transcript.at_bottom
    transcript.add_text("w", "\n\nMore.\n\nAnd more.")
    assert bar(transcript).value() == bar(transcript).maximum()


@pytest.mark.parametrize("way", ["wheel", "trackpad", "key up", "page up", "key in a message", "bar"])
@pytest.mark.drives("transcript")
def test_whoever_scrolls_up_stops_following_at_once(transcript, way):
    transcript.set_messages([asked("q"), writing("w", LINES)])
    body = transcript.view("w").body
    place = QPointF(transcript.viewport().mapTo(transcript.window(), transcript.viewport().rect().center()))
    {
        "wheel": lambda: wheel(transcript, 1),
        "trackpad": lambda: QTest.wheelEvent(transcript.window().windowHandle(), place, QPoint(0, 1), QPoint(0, 1)),
        "key up": lambda: QTest.keyClick(transcript, Qt.Key.Key_Up),
        "page up": lambda: QTest.keyClick(transcript, Qt.Key.Key_PageUp),
        "key in a message": lambda: QTest.keyClick(body, Qt.Key.Key_Up),
        "bar": lambda: drag_bar(transcript, -20),
    }[way]()
    QApplication.processEvents()
    assert bar(transcript).value() < bar(transcript).maximum()
    assert not transcript.at_bottom
    before = top_of(transcript, "w")
    for _ in range(20):
        transcript.add_text("w", "\n\nMore words.")
        assert top_of(transcript, "w") == before


def test_a_trackpad_scrolls_by_the_pixels_it_says(transcript):
    transcript.set_messages(conversation(4))
    place = QPointF(transcript.viewport().mapTo(transcript.window(), transcript.viewport().rect().center()))
    before = bar(transcript).value()
    for pixels in (3, 1, 40, -2):
        QTest.wheelEvent(transcript.window().windowHandle(), place, QPoint(0, pixels), QPoint(0, pixels))
    QApplication.processEvents()
    assert bar(transcript).value() == before - 42


def test_a_bar_that_is_held_is_not_torn_away_while_a_reply_is_written(transcript):
    transcript.set_messages([asked("q"), writing("w", LINES)])
    drag_bar(transcript, -60, release=False)
    before, value = top_of(transcript, "w"), bar(transcript).value()
    for _ in range(20):
        transcript.add_text("w", "\n\nMore words.")
        assert (top_of(transcript, "w"), bar(transcript).value()) == (before, value)
    assert bar(transcript).isSliderDown()
    drag_bar(transcript, 60, held=True)
    assert transcript.at_bottom
    transcript.add_text("w", "\n\nEven more.")
    assert bar(transcript).value() == bar(transcript).maximum()


def test_the_wheel_at_the_end_follows_again_where_there_is_nothing_left_to_scroll(transcript):
    transcript.set_messages([asked("q"), replied("r", "Short.", reasoning=LINES), writing("w")])
    transcript.view("r").thought.open()
    QTest.keyClick(transcript, Qt.Key.Key_Up)
    transcript.view("r").findChild(QWidget, "disclosure").setChecked(False)
    assert bar(transcript).value() == bar(transcript).maximum()
    wheel(transcript, -1)
    transcript.add_text("w", LINES)
    assert transcript.at_bottom
    assert bar(transcript).value() == bar(transcript).maximum()


@pytest.mark.drives("jumpButton")
def test_the_jump_button_works_by_keyboard(transcript):
    transcript.set_messages([asked("q"), writing("w", LINES)])
    wheel(transcript, 5)
    transcript.add_text("w", "\n\n" + "line\n" * 12)
    assert jump(transcript).text() == "12 new lines"
    assert jump(transcript).accessibleName() == "12 new lines, jump to the end"
    jump(transcript).setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(jump(transcript), Qt.Key.Key_Space)
    assert transcript.at_bottom


def test_the_wheel_over_a_message_scrolls_the_list(transcript):
    transcript.set_messages(conversation(4))
    middle = transcript.childAt(transcript.rect().center())
    assert middle is transcript.view("r3").body.viewport()
    before = bar(transcript).value()
    wheel(transcript, 2)
    assert bar(transcript).value() < before


def test_the_jump_button_counts_new_lines_and_leads_back(transcript):
    transcript.set_messages([asked("q"), writing("w", LINES)])
    wheel(transcript, 5)
    assert jump(transcript).isVisible()
    assert jump(transcript).objectName() == "jumpButton"
    assert jump(transcript).text() == "Jump to the end"
    transcript.add_text("w", "\n\n" + "line\n" * 10)
    assert jump(transcript).text() == "10 new lines"
    QTest.mouseClick(jump(transcript), Qt.MouseButton.LeftButton)
    assert transcript.at_bottom
    assert not jump(transcript).isVisible()
    wheel(transcript, 5)
    assert jump(transcript).text() == "Jump to the end"


def test_ones_own_message_is_gone_to_and_a_reply_is_not(transcript):
    transcript.set_messages(conversation(6))
    QTest.keyClick(transcript, Qt.Key.Key_Home)
    transcript.append(writing("w"))
    assert not transcript.at_bottom
    assert bar(transcript).value() == 0
    transcript.append(asked("mine"))
    assert transcript.at_bottom
    assert shown(transcript)[-1] == "mine"


def test_what_is_read_stays_while_what_is_above_is_measured(transcript):
    messages = [replied(f"r{n}", "# Heading\n\n" + "a\n\n" * (n % 7)) for n in range(300)]
    transcript.set_messages(messages)
    for value in range(bar(transcript).maximum(), 0, -701):
        bar(transcript).setValue(value)
        ids = shown(transcript)
        middle = ids[len(ids) // 2]
        before = top_of(transcript, middle)
        QTest.keyClick(transcript, Qt.Key.Key_Up)
        assert top_of(transcript, middle) == before + 48 or bar(transcript).value() == 0


def test_a_narrower_window_keeps_what_is_read(transcript):
    transcript.set_messages(conversation(8))
    transcript.scroll_to("r3")
    bar(transcript).setValue(bar(transcript).value() + 900)
    view = transcript.view("r3")
    position, before = view.position_at(-view.y()), view.y()
    distance = before + view.top_of(position)
    for width in (520, 800, 400, 1_000):
        transcript.resize(width, 600)
        assert view.y() + view.top_of(position) == distance, width
    assert view.y() == before


LOOKS = {
    "text size": [lambda transcript, theme, size=size: theme.set_text_size(size) for size in (110, 150, 80, 100)],
    "theme": [lambda transcript, theme, mode=mode: theme.set_mode(mode) for mode in ("dark", "light")],
    "lines of code": [lambda transcript, theme, wrap=wrap: theme.set_code_wrap(wrap) for wrap in (True, False)],
    "window": [lambda transcript, theme, width=width: transcript.resize(width, 600) for width in (520, 800, 400, 1_000)],
}
WIDE_AND_DRAWN = "\n\n".join(
    f"Part {n} has $\\frac{{{n}}}{{7}}$ and {'many words ' * 40}\n\n$$\\sum_{{k=1}}^{{{n}}} k$$\n\n```\n{'wide ' * 60}\n```"
    for n in range(12)
)


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("look", LOOKS)
def test_another_look_keeps_what_is_read_in_its_place(transcript, theme, qtbot, look, at_once):
    transcript.set_messages([asked("q"), replied("r", WIDE_AND_DRAWN), asked("q2"), replied("r2", LINES)])
    transcript.scroll_to("r")
    all_there(transcript, qtbot)
    formulas().wait()
    QApplication.processEvents()
    bar(transcript).setValue(bar(transcript).value() + transcript.view("r").height() // 2)
    view = transcript.view("r")
    position, before = view.position_at(-view.y()), view.y()
    distance = before + view.top_of(position)
    for change in LOOKS[look]:
        change(transcript, theme)
        if not at_once:
            QApplication.processEvents()
            assert view.height() == view.height_at(transcript.column_width())
            assert view.y() + view.top_of(position) == distance
    QApplication.processEvents()
    assert view.y() == before


def test_what_a_reader_opens_moves_what_is_read_and_it_stays_there(transcript):
    transcript.set_messages([asked("q"), replied("r", LINES, reasoning="Well.\n\n" * 9), asked("q2"), replied("r2", LINES)])
    transcript.scroll_to("r")
    view = transcript.view("r")
    bar(transcript).setValue(bar(transcript).value() + view.y())
    transcript.resize(900, 600)
    view.thought.open()
    top = view.y()
    for width in (600, 900):
        transcript.resize(width, 600)
    assert view.y() == top


def test_a_narrower_window_still_follows(transcript):
    transcript.set_messages(conversation(8))
    transcript.resize(500, 400)
    assert transcript.at_bottom
    assert transcript.view("r7").geometry().bottom() + 1 == transcript.viewport().height() - 24


def test_opening_thoughts_pushes_down_what_follows(transcript):
    transcript.set_messages([asked("q"), replied("r", "Answer", reasoning="Thought.\n\n" * 5), asked("q2")])
    transcript.scroll_to("q")
    before = top_of(transcript, "q2")
    transcript.view("r").findChild(QWidget, "disclosure").setChecked(True)
    assert top_of(transcript, "q2") > before + 100
    assert top_of(transcript, "q") == 24


# -- what changes --------------------------------------------------------------------------------------------------------


def test_a_reply_grows_out_of_sight_and_is_whole_when_seen(transcript):
    transcript.set_messages([*conversation(6), asked("q"), writing("w")])
    QTest.keyClick(transcript, Qt.Key.Key_Home)
    for piece in ("It ", "is ", "**Pa", "ris**."):
        transcript.add_text("w", piece)
    transcript.jump_to_bottom()
    assert transcript.view("w").findChild(QTextBrowser).toPlainText() == "It is Paris."
    assert transcript.messages[-1].text == "It is **Paris**."


def test_a_whole_reply_streams_and_ends_as_it_was_stored(transcript):
    transcript.set_messages([asked("q"), writing("w")])
    transcript.set_status("w", "Reading 10 of 20 new tokens")
    text = REPLIES["everything"]
    for start in range(0, len(text), 9):
        transcript.add_text("w", text[start : start + 9])
    transcript.finish(replied("w", text))
    shown_text = transcript.view("w").findChild(QTextBrowser).toPlainText()
    transcript.set_messages([])
    transcript.set_messages([asked("q", chat_id="other"), replied("w", text, chat_id="other")])
    again = transcript.view("w").findChild(QTextBrowser).toPlainText()
    assert again == shown_text
    assert transcript.at_bottom


def test_replies_name_their_model_once_there_are_several(transcript):
    def line(message_id):
        return transcript.view(message_id).findChild(QWidget, "statsLine").text

    transcript.set_messages([asked("q"), replied("r"), asked("q2"), writing("w")])
    assert line("r").startswith("386 tokens")
    transcript.finish(replied("w", facts=facts(model="Another")))
    assert line("r").startswith("m  386 tokens")
    assert line("w").startswith("Another  386 tokens")
    transcript.set_messages([asked("q"), replied("r")])
    assert line("r").startswith("386 tokens")


def test_text_for_a_message_that_is_not_here_is_let_pass(transcript):
    transcript.set_messages(conversation(2))
    transcript.add_text("elsewhere", "x")
    transcript.set_status("elsewhere", "x")
    transcript.finish(replied("elsewhere", "x"))
    transcript.scroll_to("elsewhere")
    assert len(transcript.messages) == 2


def test_another_branch_keeps_the_place(transcript):
    transcript.set_messages(conversation(10))
    transcript.scroll_to("r5")
    bar(transcript).setValue(bar(transcript).value() + 200)
    before = top_of(transcript, "r5")
    changed = [*conversation(8), replied("other", "Another try.", sibling_index=1, sibling_count=2)]
    transcript.set_messages(changed)
    assert top_of(transcript, "r5") == before
    assert not transcript.at_bottom


def test_another_chat_opens_at_its_end(transcript):
    transcript.set_messages(conversation(10))
    QTest.keyClick(transcript, Qt.Key.Key_Home)
    transcript.set_messages([asked("a", chat_id="other"), replied("b", LINES, chat_id="other")])
    assert transcript.at_bottom
    assert shown(transcript) == ["b"]


def test_a_shorter_chat_leaves_nothing_of_the_longer_one(transcript):
    transcript.set_messages(conversation(10, "Short."))
    transcript.set_messages([asked("q0", "Question 0?")])
    assert shown(transcript) == ["q0"]
    assert bar(transcript).maximum() == 0


def test_scrolling_to_a_message_puts_it_at_the_top(transcript):
    transcript.set_messages(conversation(40))
    transcript.scroll_to("r21")
    assert top_of(transcript, "r21") == 24
    assert not transcript.at_bottom
    transcript.scroll_to("r39")
    assert "r39" in shown(transcript)


def test_keys_scroll_by_lines_pages_and_to_both_ends(transcript):
    transcript.set_messages([replied("r", LINES)])
    page = transcript.viewport().height() - 48
    for key, change in ((Qt.Key.Key_PageUp, page), (Qt.Key.Key_Up, 48), (Qt.Key.Key_Down, -48), (Qt.Key.Key_PageDown, -page)):
        before = top_of(transcript, "r")
        QTest.keyClick(transcript, key)
        assert top_of(transcript, "r") == before + change
    QTest.keyClick(transcript, Qt.Key.Key_Home)
    assert bar(transcript).value() == 0
    QTest.keyClick(transcript, Qt.Key.Key_End)
    assert transcript.at_bottom


def test_keys_scroll_from_inside_a_message_too(transcript):
    transcript.set_messages(conversation(4))
    body = transcript.view("r3").body
    body.setFocus()
    before = bar(transcript).value()
    QTest.keyClick(body, Qt.Key.Key_PageUp)
    assert bar(transcript).value() < before


def test_a_scroll_bar_is_there_only_when_needed_and_moves_nothing(transcript):
    transcript.set_messages([asked("q"), writing("w")])
    assert not bar(transcript).isVisible()
    before = transcript.view("w").geometry()
    transcript.add_text("w", LINES)
    QApplication.processEvents()
    assert bar(transcript).isVisible()
    assert bar(transcript).value() == bar(transcript).maximum()
    assert (transcript.view("w").x(), transcript.view("w").width()) == (before.x(), before.width())


def test_selecting_over_the_edge_scrolls_along(transcript):
    transcript.set_messages([replied("r", LINES)])
    body = transcript.view("r").body
    QTest.keyClick(transcript, Qt.Key.Key_Home)
    QTest.mousePress(body.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(0, 5))
    under = body.viewport().mapFromGlobal(transcript.viewport().mapToGlobal(QPoint(50, 640)))
    move = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(under),
        QPointF(body.viewport().mapToGlobal(under)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(body.viewport(), move)
    assert transcript.selection.scrolling
    for _ in range(20):
        transcript.selection._scroll.tick()
    assert bar(transcript).value() == 800
    assert body.textCursor().selectedText().count("Paragraph") > 30
    QTest.mouseRelease(body.viewport(), Qt.MouseButton.LeftButton, pos=under)
    assert not transcript.selection.scrolling


def test_the_focus_stays_in_the_list_when_its_message_leaves_the_view(transcript):
    transcript.activateWindow()
    transcript.set_messages(conversation(20))
    body = transcript.view("r19").body
    body.setFocus()
    assert transcript.focusWidget() is body
    QTest.keyClick(body, Qt.Key.Key_Home)
    assert "r19" not in shown(transcript)
    assert transcript.window().focusWidget() is transcript


def test_signals_of_messages_reach_the_list(transcript, qtbot):
    transcript.set_messages([asked("q"), replied("r", "[x](https://a.example)", sibling_index=1, sibling_count=2)])
    view = transcript.view("r")
    for name, signal, wanted in (
        ("copyMessage", transcript.copy_requested, ["r"]),
        ("regenerate", transcript.regenerate_requested, ["r"]),
        ("previousBranch", transcript.branch_requested, ["r", -1]),
    ):
        with qtbot.waitSignal(signal) as caught:
            QTest.mouseClick(view.findChild(QWidget, name), Qt.MouseButton.LeftButton)
        assert caught.args == wanted
    with qtbot.waitSignal(transcript.link_activated) as caught:
        QTest.mouseClick(view.body.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(4, 14))
    assert caught.args == ["https://a.example"]


def test_another_theme_repaints_what_is_shown_and_what_is_kept(transcript, theme):
    transcript.set_messages(conversation(6, "Text with `code`."))
    light = transcript.grab().toImage()
    theme.set_mode("dark")
    assert transcript.grab().toImage() != light
    theme.set_mode("light")
    assert transcript.grab().toImage() == light


def test_long_documents_are_measured_to_the_pixel(transcript, qtbot):
    for name in ("a long line", "one token without spaces", "long table", "everything"):
        transcript.set_messages([replied(name, REPLIES[name], chat_id=name)])
        all_there(transcript, qtbot)
        view = transcript.view(name)
        assert view.body.height() == view.body.height_at(720)
        assert view.body.verticalScrollBar().maximum() == 0


def test_text_of_another_size_is_measured_again_and_nothing_is_cut(transcript, theme, qtbot):
    transcript.set_messages(
        [piece for index in range(30) for piece in (asked(f"q{index}"), replied(f"r{index}", "word " * 200))]
    )
    transcript.jump_to_bottom()
    for size in (150, 80, 100):
        theme.set_text_size(size)
        qtbot.wait(1)
        views = [view for view in transcript.findChildren(MessageView) if view.isVisible()]
        assert views
        for view in views:
            assert view.height() == view.height_at(transcript.column_width())
            assert view.body.height() >= view.body.document().size().height()
        assert transcript.at_bottom


def count(transcript):
    return jump(transcript).text()


@pytest.mark.parametrize(
    "back",
    [
        lambda transcript: transcript.bring_in(3),
        lambda transcript: transcript.scroll_to("w"),
        lambda transcript: wheel(transcript, -20),
        lambda transcript: transcript.jump_to_bottom(),
    ],
)
def test_who_comes_back_to_the_end_has_seen_the_new_lines(transcript, back):
    transcript.set_messages([asked("q"), replied("r", LINES), asked("q2"), writing("w", "Short.")])
    wheel(transcript, 5)
    transcript.add_text("w", "\n\n" + "line\n" * 5)
    assert count(transcript) == "5 new lines"
    back(transcript)
    assert transcript.at_bottom
    wheel(transcript, 5)
    assert count(transcript) == "Jump to the end"


def test_a_status_that_changes_moves_nothing(transcript, qtbot):
    transcript.set_messages([asked("q"), writing("w", "")])
    with qtbot.assertNotEmitted(transcript.placed):
        transcript.set_status("w", "Reading 1 of 2 new tokens")
        transcript.set_status("w", "")


def test_a_status_for_a_reply_out_of_sight_is_there_when_it_comes_into_view(transcript):
    transcript.set_messages([asked("q"), replied("r", LINES)])
    wheel(transcript, 5)
    transcript.append(writing("w", ""))
    transcript.set_status("w", "Reading 1 of 2 new tokens")
    transcript.jump_to_bottom()
    assert transcript.view("w").isVisible()
    assert transcript.view("w").findChild(QWidget, "statsLine").text == "Reading 1 of 2 new tokens"
    assert transcript.view("w").height() == transcript.view("w").height_at(transcript.column_width())


def test_only_what_is_written_counts_as_new_lines(transcript, qtbot, theme):
    formula = "\n\n$$\\sum_{i=0}^{n} \\frac{\\frac{a}{b}}{\\frac{c}{d}}$$\n\n"
    transcript.set_messages([asked("q"), replied("r", LINES + formula * 3, reasoning=LINES), asked("q2"), writing("w", LINES)])
    wheel(transcript, 5)
    assert count(transcript) == "Jump to the end"
    view = transcript.measured(0)
    view.begin_edit("line\n" * 12)
    assert count(transcript) == "Jump to the end"
    view.end_edit()
    assert count(transcript) == "Jump to the end"
    transcript.measured(1).thought.open()
    assert count(transcript) == "Jump to the end"
    formulas().wait()
    QApplication.processEvents()
    assert count(transcript) == "Jump to the end"
    transcript.add_text("w", "\n\n" + "line\n" * 10)
    assert count(transcript) == "10 new lines"
    formulas().wait()
    transcript.measured(1).thought.fold()
    assert count(transcript) == "10 new lines"


def test_formulas_that_are_drawn_in_the_text_that_was_written_count_once(transcript):
    transcript.set_messages([asked("q"), writing("w", LINES)])
    wheel(transcript, 5)
    transcript.add_text("w", "\n\n$$\\sum_{j=0}^{n} \\frac{\\frac{a}{b}}{\\frac{c}{d}}$$\n\nmore\n" * 4)
    before = count(transcript)
    height = transcript.view("w").height()
    formulas().wait()
    QApplication.processEvents()
    assert transcript.measured(1).height() != height
    assert count(transcript) == before != "Jump to the end"


@pytest.mark.parametrize("size", [80, 200])
def test_new_lines_are_counted_in_text_of_any_size(transcript, theme, qtbot, size):
    theme.set_text_size(size)
    qtbot.wait(1)
    transcript.set_messages([asked("q"), writing("w", LINES)])
    wheel(transcript, 5)
    transcript.add_text("w", "\n\n" + "line\n" * 20)
    found = count(transcript)
    theme.set_text_size(100)
    assert found == "20 new lines"


def test_a_view_that_was_made_beforehand_shows_the_first_message_and_nothing_until_then(transcript):
    transcript.prepare()
    (made,) = transcript.findChildren(MessageView)
    assert shown(transcript) == []
    transcript.set_messages(conversation(1))
    transcript.prepare()  # There is one in use: nothing is made for nothing.
    assert transcript.findChildren(MessageView) == [made]
    assert shown(transcript) == ["q0"]
