"""The line under the composer's text: where everything stands, in wide and narrow windows, with large text, light and dark."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QAbstractButton

from app.chat.composer.composer import Composer
from app.chat.page import ChatPage
from engine.chats.attachment import Attachment

SHORT = Attachment("week-29.csv", "file", "day,cups\n" * 40, 288)
LONG = Attachment("a-very-long-name-of-a-report-about-caffeine-and-sleep-2024-final.pdf", "pdf", "x" * 9000, 3186)


@pytest.fixture
def page(theme, qtbot):
    made = ChatPage(theme)
    qtbot.addWidget(made)
    made.resize(800, 700)
    made.show()
    qtbot.waitExposed(made)
    return made


def inside(part, composer):
    return QRect(part.mapTo(composer, part.rect().topLeft()), part.size())


def parts(composer):
    foot = composer.foot
    shown = [foot.attach, foot.prompt, *foot.chips.chips, foot.send if foot.send.isVisible() else foot.stop]
    return {part.objectName(): inside(part, composer) for part in shown}, inside(foot.note, composer)


@pytest.mark.parametrize("size", [100, 150])
@pytest.mark.parametrize("width", [372, 440, 800])
@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("note", ["", "312 tokens, 288 cached", "40.1k tokens, the context holds 32.8k"])
def test_nothing_overlaps_and_nothing_is_cut_off(page, theme, width, size, count, note):
    theme.set_text_size(size)
    page.resize(width, 700)
    composer = page.composer
    composer.attachments.show([SHORT, LONG, *[SHORT] * 3][:count])
    composer.set_note(note)
    composer.set_text("A question")
    places, words = parts(composer)
    everything = [*places.values(), *([words] if note else [])]
    for number, place in enumerate(everything):
        assert composer.rect().contains(place), places
        assert all(not place.intersects(other) for other in everything[number + 1 :]), places
    assert all(place.height() % 4 == 0 for place in places.values())
    assert len(places) == 3 + count
    text = inside(composer.findChild(type(composer._field), "composer"), composer)
    assert all(not text.intersects(place) for place in everything)


def test_chips_stand_in_the_foot_where_there_is_room_and_above_it_where_not(page):
    composer = page.composer
    composer.attachments.show([SHORT])
    assert composer.height() == 80
    page.resize(400, 700)
    assert composer.height() == 80 + 24 + 8


@pytest.mark.parametrize(("height", "lines"), [(1000, 10), (820, 9), (600, 6), (300, 1)])
def test_it_grows_to_a_third_of_the_window_at_most_ten_lines_then_scrolls(page, theme, height, lines):
    page.resize(800, height)
    composer = page.composer
    composer.set_text("\n".join("line" for _ in range(30)))
    line = theme.line("read")
    assert composer.height() == 12 + lines * line + 8 + 28 + 8
    assert composer.height() <= max(80, height // 3)
    field = composer.findChild(type(composer._field), "composer")
    assert field.verticalScrollBar().maximum() > 0
    composer.set_text("one")
    assert composer.height() == 80


def test_disabled_send_placeholder_chips_and_warning_are_painted_in_both_themes(page, theme):
    composer = page.composer
    seen = []
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        composer.attachments.show([])
        composer.set_text("")
        assert not composer.findChild(QAbstractButton, "sendButton").isEnabled()
        composer.set_note("too long", warned=True)
        shown = composer.foot.note.grab().toImage()
        colors = {shown.pixelColor(x, y).name() for x in range(shown.width()) for y in range(shown.height())}
        assert theme.color("critical").name() in colors
        composer.attachments.show([SHORT])
        chip = composer.foot.chips.chips[0].grab().toImage()
        assert chip.pixelColor(chip.width() // 2, 3) == theme.color("inset")
        seen.append(composer.grab().toImage())
    assert seen[0] != seen[1]


def test_a_hint_is_never_a_warning(page, theme):
    composer: Composer = page.composer
    composer.set_note("too long", warned=True)
    composer.say("Wait until a.txt is read")
    assert composer.foot.note._role == "ink-3"
    composer._end_hint()
    assert (composer.note, composer.foot.note._role) == ("too long", "critical")


@pytest.mark.drives("attachment.*", "removeAttachment.*", "attachButton", "promptButton")
def test_tab_goes_through_the_foot_from_left_to_right(page, qtbot):
    composer = page.composer
    composer.attachments.show([SHORT])
    composer.set_text("x")
    composer.focus_text()
    names = []
    for _ in range(6):
        focus = page.window().focusWidget()
        names.append(focus.objectName())
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    assert names == ["composer", "attachButton", "promptButton", "attachment.0", "removeAttachment.0", "sendButton"]
