"""The card that says whether a model fits: what is typed into it while more becomes known of the model."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.models.fit_card import FitCard
from tests.app.hub_window import MACHINE, QWEN

CONFIG, LONGER = (json.dumps({**QWEN, "max_position_embeddings": length}) for length in (40_960, 131_072))


@pytest.fixture
def card(qtbot, theme):
    card = FitCard(theme)
    qtbot.addWidget(card)
    card.resize(560, 240)
    card.show_model("org/model", CONFIG, 4_000_000_000, 40_960, MACHINE)
    card.show()
    qtbot.waitActive(card)
    qtbot.waitUntil(lambda: card.figures is not None)
    yield card
    card.close_work()


def type_over(card, text):
    card.field.setFocus()
    card.field.selectAll()
    QTest.keyClicks(card.field, text)


def more_is_known(card, qtbot, size=5_000_000_000, trained=131_072):
    card.figures = None
    card.show_model("org/model", LONGER, size, trained, MACHINE)
    qtbot.waitUntil(lambda: card.figures is not None)


@pytest.mark.drives("fitContextField")
def test_what_is_being_typed_stays_while_all_else_is_told_anew(card, qtbot):
    before = card.context
    type_over(card, "100")
    needs = card._needs.text()
    card.show_model("org/model", LONGER, 5_000_000_000, 131_072, MACHINE)
    assert (card.field.text(), card.context, card.field.waiting) == ("100", before, True)
    qtbot.waitUntil(lambda: card._needs.text() != needs)
    QTest.keyClicks(card.field, "000")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    assert (card.field.text(), card.context) == ("100,000", 100_000)


@pytest.mark.drives("fitContextField")
def test_escape_goes_back_to_what_is_known_by_now(card, qtbot):
    QTest.keyClick(card.slider, Qt.Key.Key_End)
    type_over(card, "7")
    card.show_model("org/model", CONFIG, 4_100_000_000, 8192, MACHINE)
    QTest.keyClick(card.field, Qt.Key.Key_Escape)
    assert (card.field.text(), card.context) == ("8,192", 8192)


@pytest.mark.drives("fitContextField")
def test_what_was_refused_is_judged_anew(card, qtbot):
    type_over(card, "100,000")
    card.field.flush()
    assert card.field.refused
    more_is_known(card, qtbot, trained=65_536)
    assert (card.field.text(), card.field.refused) == ("100,000", True)
    assert "65,536" in card._refusal.text()
    more_is_known(card, qtbot, size=5_100_000_000)
    assert (card.context, card.field.refused, card._refusal.text()) == (100_000, False, "")


def test_a_field_that_nobody_changed_shows_what_is_known_by_now(card, qtbot):
    card.field.setFocus()
    QTest.keyClick(card.slider, Qt.Key.Key_End)
    card.show_model("org/model", CONFIG, 4_100_000_000, 8192, MACHINE)
    assert card.field.text() == "8,192"
