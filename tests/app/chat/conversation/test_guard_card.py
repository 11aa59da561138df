"""A refused reply shows its figures and its choices, by mouse and by keyboard."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.chat.conversation.transcript import Transcript
from engine.core.errors import OutOfMemory
from engine.core.facts import GuardChoice
from engine.core.messages import MemoryRefused
from tests.app.chat.stored import message

GB = 1_000_000_000
CHUNK = GuardChoice("Smaller chunks: 512 tokens instead of 2,048", "Slower.", (("prefill_chunk", "512"),), 4 * GB, GB, 6 * GB)
BITS = GuardChoice("A KV cache of 8 bits", "Smaller.", (("kv_bits", "8"),), 4 * GB, GB // 2, 5 * GB)
REFUSED = MemoryRefused("r", 4 * GB, 2 * GB, 3 * GB, 7 * GB, 65_536, (CHUNK, BITS), ("weights: 4 GB",))


def refused(qtbot, theme):
    transcript = Transcript(theme)
    qtbot.addWidget(transcript)
    transcript.resize(800, 900)
    failed = message("b", "assistant", "", state="failed", facts=None, error=OutOfMemory("Too large.").info())
    transcript.set_messages([message("a", "user", "hello"), failed])
    transcript.show()
    transcript.show_refusal("b", REFUSED)
    return transcript


def test_it_says_how_much_is_missing_and_that_nothing_was_read(qtbot, theme):
    card = refused(qtbot, theme).findChild(QWidget, "guardCard")
    assert card.isVisible()
    assert card.title == "This needs 2.0 GB more than is safe"
    assert "65,536 tokens" in card.text
    assert "peaks at 9.0 GB" in card.text
    assert "may take 7.0 GB" in card.text
    assert CHUNK.title in card.accessibleName()


@pytest.mark.drives("guardUse.*")
def test_each_choice_brings_its_settings(qtbot, theme):
    transcript = refused(qtbot, theme)
    for place, choice in ((1, CHUNK), (2, BITS)):
        button = transcript.findChild(QWidget, f"guardUse.{place}")
        assert button.accessibleName() == f"Use: {choice.title}"
        with qtbot.waitSignal(transcript.choice_made) as made:
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        assert made.args == ["b", choice.changes]


@pytest.mark.drives("guardAnyway")
def test_it_can_be_sent_anyway_by_keyboard(qtbot, theme):
    transcript = refused(qtbot, theme)
    button = transcript.findChild(QWidget, "guardAnyway")
    button.setFocus(Qt.FocusReason.TabFocusReason)
    with qtbot.waitSignal(transcript.choice_made) as made:
        QTest.keyClick(button, Qt.Key.Key_Space)
    assert made.args == ["b", None]


def test_it_lies_inside_the_message_and_goes_with_it(qtbot, theme):
    transcript = refused(qtbot, theme)
    view = transcript.view("b")
    card = view.findChild(QWidget, "guardCard")
    assert view.rect().contains(card.geometry())
    for place in (1, 2):
        assert card.rect().contains(card.findChild(QWidget, f"guardUse.{place}").geometry())
    view.show_message(message("c", "assistant", "another"))
    assert view.findChild(QWidget, "guardCard") is None or not card.isVisible()
