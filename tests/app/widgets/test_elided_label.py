"""Text that is cut to the room there is."""

import pytest

from app.widgets.elided_label import ElidedLabel

WORDS = (
    "The hub has no such repository, or hides it from this account. Check the name, or enter a token of one that may see it."
)


@pytest.fixture
def label(theme, window):
    return window.put(ElidedLabel(theme, style="small", lines=2))


def test_two_lines_are_filled_before_anything_is_cut(label):
    label.setFixedWidth(label.fontMetrics().horizontalAdvance(WORDS) * 2 // 3)
    label.show_words(WORDS)
    first, second = label.text().split("\n")
    assert f"{first} {second}" == WORDS
    assert label.toolTip() == ""
    assert label.height() >= 2 * label.fontMetrics().lineSpacing()


def test_what_two_lines_do_not_hold_ends_in_dots_and_is_the_tool_tip(label):
    label.setFixedWidth(label.fontMetrics().horizontalAdvance(WORDS) // 4)
    label.show_words(WORDS)
    assert label.text().count("\n") == 1
    assert label.text().endswith("…")
    assert label.toolTip() == WORDS


def test_one_line_stays_one(label):
    label.setFixedWidth(900)
    label.show_words("Short")
    assert label.text() == "Short"
