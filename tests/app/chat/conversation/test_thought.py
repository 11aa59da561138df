"""What a model thought: how long it says that took, when it opens and closes, and that it streams."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.chat.conversation import thought as module
from app.chat.conversation.thought import Thought, duration, thought_words
from app.chat.text.formulas import formulas
from tests.app.chat.stored import asked, facts, replied, writing

LINES = "\n\n".join(f"Paragraph {number} of a text that is long enough to be scrolled." for number in range(60))


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until it is moved."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def line(transcript, message_id):
    return transcript.view(message_id).findChild(QWidget, "disclosure")


def text(transcript, message_id):
    found = transcript.view(message_id).findChild(QWidget, "thought")
    return found.toPlainText() if found is not None and found.isVisible() else None


def test_a_text_of_another_height_is_told_of_once(theme, qtbot):
    owner = QWidget()
    qtbot.addWidget(owner)
    thought, told = Thought(theme, owner), []
    thought.show_thought("Hm.", 0.0, thinking=False, opened=True)
    thought.height_changed.connect(lambda: told.append(1))
    thought.text.height_changed.emit()
    assert told == [1]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.3, "under 1 s"), (1.0, "1 s"), (4.9, "4 s"), (59.9, "59 s"), (72, "1 min 12 s"), (7_380, "2 h 3 min")],
)
def test_a_duration_is_said_in_the_units_that_fit(seconds, words):
    assert duration(seconds) == words


def test_a_duration_that_is_not_known_is_left_out():
    assert thought_words(0.0) == "Thought"
    assert thought_words(0.0, thinking=True) == "Thinking…"


def test_a_stored_reply_tells_how_long_was_thought(transcript):
    transcript.set_messages(
        [asked("q"), replied("r", reasoning="Hm.", facts=facts(reasoning_s=4.2)), replied("old", reasoning="Hm.")]
    )
    assert line(transcript, "r").text() == "Thought for 4 s"
    assert line(transcript, "old").text() == "Thought"


def test_the_line_counts_while_the_model_thinks(transcript, clock):
    transcript.set_messages([asked("q"), writing("w")])
    transcript.add_text("w", "", "Let me see", 0.0)
    assert line(transcript, "w").text() == "Thinking…"
    clock[0] += 3
    transcript.view("w").thought._timer.timeout.emit()
    assert line(transcript, "w").text() == "Thinking… 3 s"
    transcript.add_text("w", "", ", yes.", 5.0)
    assert line(transcript, "w").text() == "Thinking… 5 s"
    transcript.add_text("w", "It is", "", 6.0)
    assert line(transcript, "w").text() == "Thought for 6 s"
    clock[0] += 60
    transcript.view("w").thought._timer.timeout.emit()
    assert line(transcript, "w").text() == "Thought for 6 s"
    assert not transcript.view("w").thought._timer.isActive()


def test_the_line_goes_on_counting_when_the_chat_is_opened_again(transcript, clock):
    transcript.set_messages([asked("q"), writing("w", reasoning="So far")])
    assert line(transcript, "w").text() == "Thinking…"
    transcript.add_text("w", "", " and on", 75.0)
    assert line(transcript, "w").text() == "Thinking… 1 min 15 s"
    assert text(transcript, "w") == "So far and on"


def test_thinking_opens_by_itself_is_followed_and_closes_with_the_answer(transcript):
    transcript.set_messages([asked("q"), writing("w")])
    for number in range(40):
        transcript.add_text("w", "", f"Thought {number}.\n\n", 1.0)
        assert transcript.at_bottom
    assert text(transcript, "w").startswith("Thought 0.")
    assert not transcript.view("w").body.isVisible()
    transcript.add_text("w", "The answer", "", 2.0)
    assert text(transcript, "w") is None
    assert transcript.view("w").body.isVisible()


def test_what_a_reader_is_in_the_middle_of_stays_open(transcript):
    transcript.set_messages([asked("q"), writing("w")])
    transcript.add_text("w", "", LINES, 1.0)
    transcript.verticalScrollBar().setValue(300)
    before = transcript.view("w").y()
    transcript.add_text("w", "The answer", "", 2.0)
    assert text(transcript, "w") is not None
    assert transcript.view("w").y() == before


@pytest.mark.drives("disclosure")
@pytest.mark.parametrize("way", ["mouse", "space"])
def test_a_person_opens_and_closes_it_and_then_it_stays(transcript, way):
    def press():
        if way == "mouse":
            QTest.mouseClick(line(transcript, "w"), Qt.MouseButton.LeftButton)
        else:
            line(transcript, "w").setFocus(Qt.FocusReason.TabFocusReason)
            QTest.keyClick(line(transcript, "w"), Qt.Key.Key_Space)

    transcript.set_messages([asked("q"), writing("w")])
    transcript.add_text("w", "", "Let me", 1.0)
    press()
    assert text(transcript, "w") is None
    transcript.add_text("w", "", " think", 1.0)
    assert text(transcript, "w") is None
    press()
    assert text(transcript, "w") == "Let me think"
    transcript.add_text("w", "It is", ".", 2.0)
    assert text(transcript, "w") == "Let me think."


def test_what_was_opened_is_open_again_when_it_comes_back_into_view(transcript):
    transcript.set_messages([replied(f"r{n}", "Answer", reasoning=f"Thought {n}") for n in range(120)])
    transcript.scroll_to("r3")
    QTest.mouseClick(line(transcript, "r3"), Qt.MouseButton.LeftButton)
    for place in range(10, 120, 5):
        transcript.scroll_to(f"r{place}")
    assert transcript.view("r3") is None
    assert all(text(transcript, view) is None for view in ("r115",))
    transcript.scroll_to("r3")
    assert text(transcript, "r3") == "Thought 3"
    assert text(transcript, "r4") is None


def test_a_streamed_thought_ends_as_the_stored_one_looks(transcript):
    source = "First **this**:\n\n- a\n- b\n\n```py\nx = 1\n```\n\nthen that."
    transcript.set_messages([asked("q"), writing("w")])
    for start in range(0, len(source), 5):
        transcript.add_text("w", "", source[start : start + 5], 1.0)
    QTest.mouseClick(line(transcript, "w"), Qt.MouseButton.LeftButton)
    QTest.mouseClick(line(transcript, "w"), Qt.MouseButton.LeftButton)
    transcript.add_text("w", "Answer", "", 2.0)
    transcript.finish(replied("w", "Answer", reasoning=source, facts=facts(reasoning_s=2.0)))
    streamed = transcript.view("w").thought.text
    transcript.set_messages([asked("other", chat_id="2"), replied("s", "Answer", chat_id="2", reasoning=source)])
    transcript.view("s").thought.open()
    static = transcript.view("s").thought.text
    assert streamed.toPlainText() == static.toPlainText() != ""
    assert list(static.blocks) == list(streamed.blocks)


def test_a_thought_takes_the_height_of_its_formulas(qtbot, theme):
    parent = QWidget()
    qtbot.addWidget(parent)
    thought = Thought(theme, parent)
    parent.show()
    thought.show_thought(r"So $$\frac{906}{\frac{a}{b}}$$ it is", 1.0, thinking=False, opened=True)
    heights = []
    thought.height_changed.connect(lambda: heights.append(thought.height_at(600)))
    before = thought.height_at(600)
    formulas().wait()
    thought.text._take_formulas()
    assert heights[-1] > before
