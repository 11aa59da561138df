"""The segmented control."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton

from app.widgets.segmented import Segmented

CHOICES = (("stop", "Stop"), ("roll", "Roll"), ("compact", "Compact"))


@pytest.fixture
def segmented(theme, window):
    return window.put(Segmented(theme, CHOICES, "When full"))


def segment(segmented, value):
    return segmented.findChild(QAbstractButton, f"segment.{value}")


def test_a_click_chooses_and_says_so_once(segmented, qtbot):
    chosen = []
    segmented.chosen.connect(chosen.append)
    for _ in range(2):
        qtbot.mouseClick(segment(segmented, "roll"), Qt.MouseButton.LeftButton)
    assert chosen == ["roll"]
    assert segmented.value == "roll"
    assert segmented.accessibleDescription() == "Roll"


def test_arrows_choose_too(segmented, qtbot):
    first = segment(segmented, "stop")
    first.setFocus(Qt.FocusReason.TabFocusReason)
    with qtbot.waitSignal(segmented.chosen) as chosen:
        qtbot.keyClick(first, Qt.Key.Key_Right)
    assert chosen.args == ["roll"]


def test_setting_a_value_says_nothing_and_refuses_what_is_no_choice(segmented, qtbot):
    with qtbot.assertNotEmitted(segmented.chosen):
        segmented.set_value("compact")
    assert segmented.value == "compact"
    with pytest.raises(KeyError):
        segmented.set_value("explode")


def test_a_disabled_choice_cannot_be_taken(segmented, qtbot):
    segmented.set_choice_enabled("compact", False)
    with qtbot.assertNotEmitted(segmented.chosen):
        qtbot.mouseClick(segment(segmented, "compact"), Qt.MouseButton.LeftButton)
    assert segmented.value == "stop"


def test_a_choice_that_cannot_be_taken_says_why(segmented, qtbot):
    segmented.set_choice_enabled("roll", False, "There is nothing to roll")
    assert segment(segmented, "roll").toolTip() == "There is nothing to roll"
    qtbot.mouseClick(segment(segmented, "roll"), Qt.MouseButton.LeftButton)
    assert segmented.value == "stop"
    segmented.set_choice_enabled("roll", True, "There is nothing to roll")
    assert segment(segmented, "roll").toolTip() == ""


def test_every_segment_has_room_for_its_own_words(theme, window):
    uneven = window.put(Segmented(theme, (("a", "Up"), ("b", "A good deal longer")), "Shown"))
    uneven.setFixedWidth(uneven.sizeHint().width())
    assert all(segment(uneven, value).width() >= segment(uneven, value).sizeHint().width() for value in "ab")
