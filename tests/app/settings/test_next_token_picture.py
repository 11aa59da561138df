"""The picture of the next token: painted, told in words, and following the settings."""

import math
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QToolTip, QWidget

from app.settings.next_token_picture import NextTokenPicture, percent, shown, where_words
from engine.core.messages import NextTokens
from tests.app.pointer import drag_to, move

SHARES = (0.46, 0.17, 0.11, 0.07, 0.05, 0.04, 0.03, 0.01, 0.01)
TEXTS = (" 16", " 4", " late", " mid", " the", " 15", " 5", "\n", " noon")
TOLD = NextTokens("r", "So the last full cup is at", TEXTS, tuple(math.log(share) for share in SHARES), (5,), (math.log(0.01),))
OFF = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}


@pytest.fixture
def picture(theme, qtbot):
    picture = NextTokenPicture(theme)
    qtbot.addWidget(picture)
    picture.resize(288, 120)
    picture.show_values(OFF)
    picture.show()
    qtbot.waitExposed(picture)
    return picture


def label(picture, name):
    return picture.findChild(QLabel, name)


def test_before_any_reply_it_says_so_in_words(picture):
    assert label(picture, "nextTokenNothing").isVisible()
    assert not picture.bars.isVisible()
    assert picture.count == ""
    picture.show_tokens(TOLD)
    assert not label(picture, "nextTokenNothing").isVisible()
    picture.show_tokens(None)
    assert label(picture, "nextTokenNothing").isVisible()
    assert "next reply" in picture.bars.accessibleDescription()


def test_it_tells_what_stays_and_what_is_dropped(picture):
    picture.show_tokens(TOLD)
    assert picture.count == "all tokens kept"
    picture.show_values({**OFF, "top_k": 7})
    assert picture.count == "7 tokens kept"
    assert picture.bars.accessibleDescription() == (
        "16 46%, 4 17%, late 11%, mid 7%, the 5%, 15 4%, 5 3%; dropped: ↵ 1%, noon 1%. 7 tokens kept."
    )
    assert label(picture, "nextTokenWhere").text() == "after “So the last full cup is at”"
    picture.show_values({**OFF, "temperature": 0.0})
    assert picture.count == "1 token kept"


@pytest.mark.parametrize("theme", ["light", "dark"], indirect=True)
def test_kept_bars_are_accented_and_dropped_ones_stone(picture, theme):
    picture.show_tokens(TOLD)
    picture.show_values({**OFF, "top_k": 7})

    def colour(index):
        image = picture.bars.grab().toImage()
        ratio = image.devicePixelRatio()
        return image.pixelColor(int((index * 32 + 16) * ratio), int(47 * ratio)).name()

    assert {colour(index) for index in range(7)} == {theme.color("accent").name()}
    assert colour(8) != theme.color("accent").name()
    picture.show_values(OFF)
    assert colour(8) == theme.color("accent").name()


def test_bars_are_as_high_as_their_shares(picture, theme):
    picture.show_tokens(TOLD)
    image = picture.bars.grab().toImage()
    ratio, accent = image.devicePixelRatio(), theme.color("accent").name()

    def height(index):
        x = int((index * 32 + 16) * ratio)
        return sum(image.pixelColor(x, y).name() == accent for y in range(image.height())) / ratio

    assert height(0) == pytest.approx(36, abs=1)
    assert height(1) == pytest.approx(36 * 17 / 46, abs=1)
    assert height(8) == pytest.approx(2, abs=1)


@pytest.mark.drives("nextToken")
@pytest.mark.drives("nextTokenBars")
def test_a_bar_tells_its_token_under_the_pointer(picture, qtbot):
    picture.show_tokens(TOLD)
    picture.show_values({**OFF, "top_k": 2})
    told = picture.bars.told_at
    assert told(QPoint(48, 30)) == "“4” 17.00%, kept"
    assert told(QPoint(80, 30)) == "“late” 11.00%, dropped"
    move(picture.bars, QPoint(80, 30))
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QHelpEvent

    event = QHelpEvent(QEvent.Type.ToolTip, QPoint(80, 30), picture.bars.mapToGlobal(QPoint(80, 30)))
    QApplication.sendEvent(picture.bars, event)
    qtbot.waitUntil(lambda: QToolTip.text() == "“late” 11.00%, dropped")
    QToolTip.hideText()


def test_bars_of_tokens_that_begin_alike_have_names_of_their_own(picture):
    texts = ("<|im_end|>", "<|im_start|>", "<|endoftext|>", "the", " the", "understanding", "understandable", "under", "I")
    picture.show_tokens(replace(TOLD, texts=texts))
    names = picture.bars.names()
    assert names[3] == names[4] == "the"  # These are the same letters: the tool tip can't tell them apart either.
    assert len(set(names)) == len(names) - 1
    assert names[0].startswith("…e")
    assert names[1].startswith("…s")
    assert names[8] == "I"
    picture.grab()


def test_the_picture_is_of_the_reply_that_is_shown(flint):
    flint.click("settingsButton")
    picture = flint.part("nextToken")
    flint.ask("Hello")
    first = picture._told
    assert first is not None
    asked = flint.stored()[0]
    flint.window.message_actions.keep_edit(asked.id, "Hello you")
    flint.wait(lambda: flint.idle and picture._told not in (None, first))
    second = picture._told
    flint.window.message_actions.switch_branch(flint.stored()[0].id, -1)
    assert picture._told is first
    flint.window.message_actions.switch_branch(flint.stored()[0].id, 1)
    assert picture._told is second
    flint.window.message_actions.keep_edit(flint.stored()[-1].id, "Words of my own")
    assert picture._told is None
    flint.click("newChatButton")
    assert picture._told is None
    flint.open_chat(asked.chat_id)
    flint.window.message_actions.switch_branch(flint.stored()[-1].id, -1)
    assert picture._told is second


def test_fewer_tokens_than_bars_are_shown_too(picture):
    picture.show_tokens(NextTokens("r", "", ("a", "b"), (math.log(0.75), math.log(0.25))))
    picture.bars.grab()
    assert picture.bars.accessibleDescription() == "a 75%, b 25%. all tokens kept."
    assert picture.bars.told_at(QPoint(280, 30)) == ""
    assert label(picture, "nextTokenWhere").text() == "at the start of the reply"


@pytest.mark.parametrize(
    ("text", "expected"), [(" late", "late"), ("\n\n", "↵↵"), (" ", "␣"), ("", "·"), ("\t", "⇥"), ("<|im_end|>", "<|im_end|>")]
)
def test_a_token_can_be_read_alone(text, expected):
    assert shown(text) == expected


def test_small_shares_are_not_called_nothing():
    assert [percent(share) for share in (0.46, 0.006, 0.004, 1e-9, 0.0, 1.0)] == ["46", "1", "<1", "<1", "0", "100"]


def test_what_came_before_is_cut_between_words():
    assert where_words("a  short\nstart") == "after “a short start”"
    assert where_words("x" * 60) == f"after “…{'x' * 40}”"
    assert where_words("one two three four five six seven eight nine ten") == "after “…four five six seven eight nine ten”"


@pytest.mark.drives("slider.temperature")
def test_it_follows_a_slider_while_it_moves(panel, qtbot):
    panel.show_tokens(TOLD)
    count = panel.findChild(QLabel, "nextTokenCount")
    before = panel.findChild(QWidget, "nextTokenBars").accessibleDescription()
    slider = panel.findChild(QWidget, "slider.temperature")
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(100, 10))
    warm = panel.findChild(QWidget, "nextTokenBars").accessibleDescription()
    drag_to(slider, QPoint(8, 10))
    assert before != warm
    qtbot.waitUntil(lambda: count.text() == "1 token kept")
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=QPoint(8, 10))
