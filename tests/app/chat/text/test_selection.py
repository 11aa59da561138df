"""What a selection is as markdown: the same blocks when it is read again, and less where less is selected."""

import pytest
from PySide6.QtGui import QTextCursor, QTextDocument

from app.chat.text.document import Document
from app.chat.text.formats import Formats
from app.chat.text.markdown import read
from app.chat.text.markdown_writer import write_markdown
from app.chat.text.selection import selected_markdown, selected_text
from app.theme import Theme
from tests.app.chat.replies import REPLIES

# Headings over several lines become one line, lists of other signs one list, and U+2028 is no line break in markdown.
NOT_THE_SAME = {"headings", "not quite blocks", "changing markers", "control characters", "images"}


@pytest.fixture(scope="module")
def theme(qapp):
    return Theme()


def shown(theme, text):
    document = Document(QTextDocument(), Formats(theme))
    document.show(read(text))
    return document


def select(document, start, end):
    cursor = QTextCursor(document.document)
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    return cursor


def part(theme, text, words):
    """The markdown of what shows `words` in a reply."""
    document = shown(theme, text)
    plain = document.document.toRawText()
    start = plain.encode("utf-16-le").index(words.encode("utf-16-le")) // 2
    return selected_markdown(select(document, start, start + len(words.encode("utf-16-le")) // 2), document)


@pytest.mark.parametrize("name", sorted(set(REPLIES) - NOT_THE_SAME))
def test_all_of_a_reply_reads_as_the_reply(theme, name):
    document = shown(theme, REPLIES[name])
    everything = select(document, 0, document.document.characterCount() - 1)
    assert read(selected_markdown(everything, document)) == read(REPLIES[name])


@pytest.mark.parametrize(
    "text",
    [
        "# Head\n\ntext with **bold**, *italic*, ***both***, ~~struck~~ and `code`",
        "[a link](https://a.example) and https://bare.example",
        "- a\n  - b\n\n    c\n- [x] d",
        "3. three\n4. four\n   more",
        "> quoted\n>\n> - item\n> - item",
        "- item\n\n  > quoted in it\n\n  ```py\n  code\n  ```",
        "| a | b |\n| --- | --: |\n| 1 \\| 2 | **3** |",
        "Let $x^2$ be\n\n$$\n\\frac{a}{b}\n$$\n\nand \\(y\\).",
        "See[^1].\n\n[^1]: A note\n\n    with more",
        "---",
        "2\\. not a list, \\# no heading, \\*no emphasis\\*, snake_case, \\_a\\_",
        "It costs $5 and $10",
        "`` a`b ``",
        "![alt](<https://example.org/a.png>)",
    ],
)
def test_what_is_written_is_what_people_would_write(text):
    assert read(write_markdown(read(text))) == read(text)


def test_a_part_of_a_line_has_its_own_marks_only(theme):
    text = "# Head\n\nSome **bold words** and [a link](https://a.example) here"
    assert part(theme, text, "old wor") == "**old wor**"
    assert part(theme, text, "me bold") == "me **bold**"
    assert part(theme, text, "link") == "[link](https://a.example)"
    assert part(theme, text, "Head") == "# Head"
    assert part(theme, text, "ead") == "ead"


def test_a_part_of_code_is_the_code_itself(theme):
    text = "```py\nx = 1\ny = 2\n```"
    assert part(theme, text, "= 1\u2029y") == "= 1\ny"
    assert part(theme, text, "x = 1\u2029y = 2") == text


def test_rows_of_a_table_keep_being_one_and_a_cell_is_its_text(theme):
    text = "| a | b |\n|---|---|\n| one | **two** |\n| three | four |"
    assert part(theme, text, "two") == "**two**"
    document = shown(theme, text)
    table = document.table(0)
    rows = select(document, table.cellAt(1, 0).firstPosition(), table.cellAt(2, 1).lastPosition())
    (found,) = read(selected_markdown(rows, document))
    assert [[cell[0].text if cell else "" for cell in row] for row in found.rows] == [
        ["", ""],
        ["one", "two"],
        ["three", "four"],
    ]


def test_formulas_are_copied_as_they_were_written(theme):
    text = "Let $x^2$ be\n\n$$\n\\frac{a}{b}\n$$\n\n| $c$ |\n|---|\n| \\(d\\) |"
    document = shown(theme, text)
    everything = select(document, 0, document.document.characterCount() - 1)
    plain = selected_text(everything, document).rstrip("\n")
    assert plain == "Let $x^2$ be\n\n$$\n\\frac{a}{b}\n$$\n\n$c$\n\\(d\\)"
    assert "\ufffc" not in selected_markdown(everything, document)


@pytest.mark.parametrize("sign", ["-", "1."])
def test_each_list_within_another_is_copied_two_spaces_further_in(theme, sign):
    lines = [f"{' ' * (len(sign) + 1) * depth}{sign} item" for depth in range(5)]
    document = shown(theme, "\n".join(lines))
    everything = select(document, 0, document.document.characterCount() - 1)
    item = "• item" if sign == "-" else f"{sign} item"
    assert selected_text(everything, document).split("\n") == [f"{'  ' * depth}{item}" for depth in range(5)]


def test_nothing_selected_is_nothing(theme):
    document = shown(theme, "text")
    assert selected_markdown(select(document, 2, 2), document) == ""
    assert selected_markdown(select(Document(QTextDocument(), Formats(theme)), 0, 0), document) == ""
