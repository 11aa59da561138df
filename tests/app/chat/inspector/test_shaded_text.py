"""A reply's text on shades: where each token stands, whatever letters it is made of, and a long reply at once."""

from math import log

import pytest

from app.chat.inspector.shaded_text import ShadedText
from engine.core.odds import TokenOdds
from tests.app.pointer import hover

PIECES = ("The", " quick", " 😀", "", " brown\n", "\n", "fox", " سلام", "\r\n", "end")


def odds_of(pieces, probability=0.05):
    ids = tuple(range(len(pieces)))
    likely = (log(probability),) * len(ids)
    return TokenOdds(1, ids, tuple(pieces), likely, ids, likely, ids, tuple(pieces))


@pytest.fixture
def text(qtbot, theme):
    text = ShadedText(theme)
    qtbot.addWidget(text)
    text.show_odds(odds_of(PIECES))
    text.resize(400, text.height_at(400))
    text.show()
    return text


def test_every_token_that_can_be_seen_is_found_where_it_stands(text):
    for index, piece in enumerate(PIECES):
        rects = text.token_rects(index)
        assert bool(rects) == bool(piece)
        if piece.strip() and not piece.isspace():
            assert text.viewport().rect().contains(rects[0])
            assert text.token_at(rects[0].center()) == index


def test_shades_lie_under_the_words_and_not_under_the_space_before(text):
    ranges = text.document().begin().layout().formats()
    assert ranges[0].start == 0
    covered = {place for each in ranges for place in range(each.start, each.start + each.length)}
    shown = text.document().begin().text()
    assert all(place in covered for place, letter in enumerate(shown) if letter.strip())


def test_a_likely_reply_is_not_shaded(text):
    text.show_odds(odds_of(PIECES, 0.9))
    text.height_at(400)
    assert not text.document().begin().layout().formats()


def test_wrapped_token_has_a_place_on_each_line(text):
    text.show_odds(odds_of(("word " * 40,)))
    text.height_at(400)
    rects = text.token_rects(0)
    assert len(rects) > 2
    assert len({rect.top() for rect in rects}) == len(rects)


def test_theme_and_text_size_change_what_is_painted(text, theme):
    before = text.place_of(6)
    theme.set_text_size(150)
    text.height_at(400)
    assert text.place_of(6).height() == before.height() * 3 // 2
    theme.set_text_size(100)


def test_pointer_outside_of_the_text_points_at_nothing(text, qtbot):
    outside = text.viewport().rect().bottomRight()
    for place, index in ((text.place_of(6).center(), 6), (outside, -1)):
        with qtbot.waitSignal(text.pointed) as pointed:
            hover(text.viewport(), place)
        assert pointed.args == [index]


LONG = tuple(f"{word} " if word % 9 else "line\n" for word in range(3000))


def in_slices(text, width):
    """Lay a text out by the smallest slices there are, and return how many it took."""
    count = 1
    while not text.lay(width, 0):
        count += 1
    return count


def laid(text):
    blocks, block = [], text.document().begin()
    while block.isValid():
        formats = [(each.start, each.length, each.format.background().color().name()) for each in block.layout().formats()]
        blocks.append((block.text(), block.layout().lineCount(), formats))
        block = block.next()
    return blocks


@pytest.mark.parametrize("shown", [False, True])
def test_long_text_is_laid_out_in_slices_as_it_is_at_once(text, theme, qtbot, shown):
    whole = ShadedText(theme)
    qtbot.addWidget(whole)
    whole.show_odds(odds_of(LONG))
    height = whole.height_at(300)
    text.setVisible(shown)
    text.show_odds(odds_of(LONG))
    assert in_slices(text, 300) > 10
    assert text.height_at(300) == height
    assert laid(text) == laid(whole)
    text.resize(300, height)
    text.show()
    assert text.verticalScrollBar().maximum() == 0
    assert text.document().size().height() == pytest.approx(height, abs=1)


def test_another_width_or_another_look_while_it_is_laid_out_is_taken_over(text, theme, qtbot):
    text.show_odds(odds_of(LONG))
    for _ in range(20):
        text.lay(300, 0)
    theme.set_text_size(150)
    theme.set_mode("dark")
    text.lay(300, 0)
    in_slices(text, 500)
    fresh = ShadedText(theme)
    qtbot.addWidget(fresh)
    fresh.show_odds(odds_of(LONG))
    assert text.height_at(500) == fresh.height_at(500)
    assert laid(text) == laid(fresh)
    theme.set_text_size(100)
