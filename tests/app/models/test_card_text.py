"""A model card comes from anywhere: it is text, and nothing in it loads, runs or leads away unasked."""

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QTextDocument

from app.models.card_text import MOST_LETTERS, CardText, card_html


def test_what_text_needs_is_kept():
    text = card_html("# Title\n\nA **bold** `word`.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx < y\n```")
    for piece in ("<b>Title</b>", "<b>bold</b>", "<code>word</code>", "<li>one</li>", "<td>1</td>", "x &lt; y"):
        assert piece in text


@pytest.mark.parametrize(
    "card",
    [
        "<script>alert(1)</script>",
        "<img src='https://example.org/a.png'>",
        "![picture](https://example.org/a.png)",
        "<iframe src='https://example.org'></iframe>",
        "text <b onclick='x'>inside</b>",
        "[local](file:///etc/passwd)",
        "[script](javascript:alert(1))",
        "[mail](mailto:a@example.org)",
        "`<style>*{}</style>`",
    ],
)
def test_nothing_else_comes_through(card):
    text = card_html(card)
    for tag in ("<script", "<img", "<iframe", "onclick", "href", "<style"):
        assert tag not in text


def test_an_address_can_not_leave_its_quotes():
    assert '" onclick' not in card_html('[x](<https://example.org/"onclick="y>)')


def test_a_long_card_is_cut():
    assert len(card_html("a " * MOST_LETTERS)) < 2 * MOST_LETTERS


@pytest.mark.drives("modelCard")
def test_it_is_as_high_as_its_text_loads_nothing_and_tells_of_links(qtbot, theme):
    view = CardText(theme)
    qtbot.addWidget(view)
    view.resize(400, 100)
    view.show()
    view.show_html(card_html("[page](https://example.org/fox)\n\n" + "words and more words\n\n" * 30))
    qtbot.waitUntil(lambda: view.height() > 400)
    image = QTextDocument.ResourceType.ImageResource.value
    assert view.loadResource(image, QUrl("https://example.org/a.png")) is None
    told = []
    view.link_activated.connect(told.append)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(8, 8))
    assert told == ["https://example.org/fox"]
