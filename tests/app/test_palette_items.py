"""What typed words find in the command palette."""

import pytest

from app.palette_items import Item, matching

TITLES = ("New Chat", "Rename Chat", "Chat about Paris", "Café in Paris", "Models", "Larger Text")


def items(*titles):
    return [Item(title, "", "", lambda: None) for title in titles]


def found(query, titles=TITLES):
    return [item.title for item in matching(items(*titles), query)]


def test_without_words_everything_is_offered_in_its_order():
    assert found("") == list(TITLES)
    assert found("   ") == list(TITLES)


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("chat", ["Chat about Paris", "New Chat", "Rename Chat"]),
        ("CAFE", ["Café in Paris"]),
        ("café", ["Café in Paris"]),
        ("par", ["Chat about Paris", "Café in Paris"]),
        ("paris cafe", ["Café in Paris"]),
        ("ode", ["Models"]),
        ("zebra", []),
        ("chat zebra", []),
    ],
)
def test_every_word_must_be_there_and_beginnings_come_first(query, titles):
    assert found(query) == titles


def test_a_beginning_of_the_title_comes_before_a_word_and_a_word_before_the_middle():
    assert found("ex", ("Complex", "Big example", "Export")) == ["Export", "Big example", "Complex"]


def test_no_more_are_offered_than_asked_for():
    assert len(matching(items(*["same"] * 5000), "same", most=100)) == 100
    assert len(matching(items(*["same"] * 5000), "", most=7)) == 7
