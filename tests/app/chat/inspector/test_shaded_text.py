"""A reply's text on shades: where each token stands, whatever letters it is made of, and a long reply at once."""

from math import log

import pytest
from PySide6.QtTest import QTest

from app.chat.inspector.shaded_text import ShadedText
from engine.core.odds import TokenOdds

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
    QTest.mouseMove(text.viewport(), text.place_of(6).center())
    with qtbot.waitSignal(text.pointed) as pointed:
        QTest.mouseMove(text.viewport(), text.viewport().rect().bottomRight())
    assert pointed.args == [-1]
