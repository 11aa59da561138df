"""What left the context is marked in the conversation, where it ends."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.chat.conversation.transcript import Transcript
from tests.app.chat.stored import message


def shown(qtbot, theme, count=6):
    transcript = Transcript(theme)
    qtbot.addWidget(transcript)
    transcript.resize(800, 700)
    transcript.set_messages([message(f"m{i}", "user" if i % 2 == 0 else "assistant", f"words {i}") for i in range(count)])
    transcript.show()
    return transcript, transcript.findChild(QWidget, "contextMarker")


def test_the_mark_stands_between_what_is_gone_and_what_is_seen(qtbot, theme):
    transcript, marker = shown(qtbot, theme)
    assert not marker.isVisible()
    transcript.set_left_out(2)
    assert marker.isVisible()
    assert marker.text == "Left the context: 2 messages"
    assert transcript.view("m1").geometry().bottom() < marker.geometry().top()
    assert marker.geometry().bottom() < transcript.view("m2").geometry().top()


def test_the_mark_moves_on_and_goes_without_moving_the_rest_for_good(qtbot, theme):
    transcript, marker = shown(qtbot, theme)
    before = transcript.view("m5").y()
    transcript.set_left_out(2)
    transcript.set_left_out(4)
    assert transcript.view("m3").geometry().bottom() < marker.geometry().top()
    transcript.set_left_out(0)
    assert not marker.isVisible()
    assert transcript.view("m5").y() == before


def test_a_mark_for_one_message_or_for_all_of_them(qtbot, theme):
    transcript, marker = shown(qtbot, theme)
    transcript.set_left_out(1)
    assert marker.text == "Left the context: 1 message"
    transcript.set_left_out(6)
    assert not marker.isVisible()


@pytest.mark.drives("showSummary")
def test_a_summary_can_be_asked_for_by_its_link(qtbot, theme):
    transcript, marker = shown(qtbot, theme)
    transcript.set_left_out(2, summarised=True)
    assert marker.text == "Left the context: 2 messages, summarised"
    link = transcript.findChild(QWidget, "showSummary")
    assert link.isVisible()
    with qtbot.waitSignal(transcript.summary_requested):
        QTest.mouseClick(link, Qt.MouseButton.LeftButton)


def test_another_chat_has_no_mark(qtbot, theme):
    transcript, marker = shown(qtbot, theme)
    transcript.set_left_out(2)
    transcript.set_messages([message("x", "user", "hello", chat_id="other"), message("y", "assistant", "hi", chat_id="other")])
    assert not marker.isVisible()
