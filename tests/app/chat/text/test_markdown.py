"""Reading markdown: the same blocks whole and in pieces, and what each construct becomes."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.chat.text.blocks import Code, Gap, Mark, Paragraph, Rule, TableRows
from app.chat.text.markdown import StreamReader, decided, normal_breaks, parser, read
from app.chat.text.units import units
from tests.app.chat.replies import REPLIES


def cut(text, places):
    """Split `text` at `places`, taken modulo its length."""
    marks = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(marks)]


def stream(text, places):
    reader = StreamReader()
    for chunk in cut(text, places):
        reader.feed(chunk)
    return reader


def unfinished(text):
    """The blocks of a text that may go on, read in one go."""
    text = decided(normal_breaks(text.removesuffix("\r")))
    found = units(parser().parse(text), text.split("\n"))
    return [block for unit in found for block in unit.blocks]


@pytest.mark.parametrize("name", REPLIES)
def test_every_character_for_itself_reads_as_the_whole(name):
    text = REPLIES[name]
    reader = StreamReader()
    step = 1 if len(text) < 2_000 else 101
    for start in range(0, len(text), step):
        reader.feed(text[start : start + step])
    reader.finish()
    assert reader.blocks == list(read(text))


@pytest.mark.parametrize("name", sorted(name for name in REPLIES if name != "references" and len(REPLIES[name]) < 5_000))
def test_before_the_end_the_pieces_read_as_what_was_fed_so_far(name):
    text = REPLIES[name]
    step = 3 if len(text) < 500 else 23
    reader = StreamReader()
    for start in range(0, len(text), step):
        reader.feed(text[start : start + step])
        assert reader.blocks == unfinished(text[: start + step]), text[: start + step][-80:]


@settings(max_examples=40)
@given(st.sampled_from(sorted(REPLIES)), st.lists(st.integers(0, 20_000), max_size=12))
def test_any_cut_reads_as_the_whole(name, places):
    reader = stream(REPLIES[name], places)
    reader.finish()
    assert reader.blocks == list(read(REPLIES[name]))


@settings(max_examples=40)
@given(
    st.lists(
        st.sampled_from(
            ["# ", "- ", "1. ", "> ", "```", "\n", "\n\n", "  ", "    ", "a", "b c", "|", "---", "`", "**", "_", "[a]", ": "]
        )
    )
)
def test_any_soup_of_markdown_reads_as_the_whole(pieces):
    reader = StreamReader()
    for piece in pieces:
        reader.feed(piece)
    reader.finish()
    assert reader.blocks == list(read("".join(pieces)))


class ReadsAll(StreamReader):
    """Has every piece read by the parser."""

    def _append_words(self, chunk):
        return False


# As words and signs come: what a word follows may make more of it than text.
SOUP = [*"- a`_~\\#(!é中\t|$", *("1. ", "12", "> ", "\n", "\n\n", "  ", "b c", " words and", "word", "---", "**", "$x", "[a]")]
SOUP += ["[a]:", "www.", "http://", "&am", "[^n]: ", "```"]


@settings(max_examples=200)
@given(st.lists(st.sampled_from(SOUP)))
def test_words_are_what_the_parser_makes_of_them_at_every_moment(pieces):
    reader, reads_all = StreamReader(), ReadsAll()
    for piece in pieces:
        reader.feed(piece)
        reads_all.feed(piece)
        assert reader.blocks == reads_all.blocks


def test_words_in_a_line_of_words_are_not_parsed(monkeypatch):
    reader = StreamReader()
    reader.feed("A **bold** start.\n\n- Once upon a time")
    parsed = []
    monkeypatch.setattr(StreamReader, "_parsed", lambda self, tail: parsed.append(tail))
    for piece in (" there", " was", " a to", "wer", " "):
        assert reader.feed(piece) == len(reader.blocks) - 1
    assert not parsed
    assert reader.blocks[-1].runs[-1].text == "Once upon a time there was a tower"


def test_what_is_reported_as_unchanged_is_unchanged():
    text = REPLIES["everything"] + REPLIES["long list"] + REPLIES["long table"]
    reader, before = StreamReader(), []
    for start in range(0, len(text), 7):
        same = reader.feed(text[start : start + 7])
        assert reader.blocks[:same] == before[:same]
        before = list(reader.blocks)
    same = reader.finish()
    assert same == len(before)


def test_only_the_end_is_read_again():
    reader = StreamReader()
    for number in range(500):
        reader.feed(f"{number + 1}. Item **{number}** of a list without end.\n")
        assert len(reader._tail) < 200
    reader.feed("\n" + REPLIES["long table"].split("\n\n")[0])
    for row in range(200):
        reader.feed(f"| more {row} | {row} |\n")
        assert len(reader._tail) < 1_200


def test_a_reference_given_later_becomes_a_link_when_the_reply_ends():
    reader = StreamReader()
    reader.feed("See [this][1].\n\nMore.\n")
    reader.feed("\n[1]: https://one.example\n")
    assert not any(run.href for run in reader.blocks[0].runs)
    assert reader.finish() == 0
    assert [run.href for run in reader.blocks[0].runs] == ["", "https://one.example", ""]


def test_a_reference_given_before_is_a_link_at_once():
    reader = StreamReader()
    reader.feed("[1]: https://one.example\n\nText.\n\nAnd [this][1]")
    assert reader.blocks[-1].runs[-1].href == "https://one.example"


def test_headings_emphasis_and_code_are_marked():
    heading, paragraph = read("## Two\n\na **b** *c* ~~d~~ `e` ***f***")
    assert heading.level == 2
    assert [(run.text, run.marks) for run in paragraph.runs if run.text.strip()] == [
        ("a ", Mark.PLAIN),
        ("b", Mark.BOLD),
        ("c", Mark.ITALIC),
        ("d", Mark.STRIKE),
        ("e", Mark.CODE),
        ("f", Mark.BOLD | Mark.ITALIC),
    ]


def test_list_items_have_markers_and_stand_under_their_parents():
    blocks = read("- a\n  1. b\n     more\n- [x] c\n\n  d")
    assert [[marker.sign for marker in block.place.markers] for block in blocks] == [["•"], ["1."], ["☑"], []]
    assert blocks[1].place.indent > blocks[0].place.indent == blocks[2].place.indent == blocks[3].place.indent
    assert blocks[2].runs[0].text == "c"


def test_a_list_goes_on_counting_over_a_commit():
    reader = StreamReader()
    for _ in range(30):
        reader.feed("1. same number\n")
    assert [block.place.markers[0].sign for block in reader.blocks] == [f"{number}." for number in range(1, 31)]


def test_items_are_apart_as_they_were_written():
    tight, loose = read("- a\n- b"), read("- a\n\n- b")
    assert tight[1].place.gap == Gap.TIGHT
    assert loose[1].place.gap == Gap.PART


def test_quotes_join_only_within_one_quote():
    blocks = read("> a\n>\n> b\n\nx\n\n> c")
    assert [block.place.joined for block in blocks] == [0, 1, 0, 0]
    assert [len(block.place.quotes) for block in blocks] == [1, 1, 0, 1]


def test_a_table_has_columns_and_rows_and_is_cut_into_parts():
    parts = read(REPLIES["long table"])[:-1]
    assert all(isinstance(part, TableRows) for part in parts)
    assert [part.head for part in parts] == [True, False, False]
    assert sum(len(part.rows) for part in parts) == 41
    assert {column.align for column in parts[0].columns} == {"left", "right"}
    assert len({part.columns for part in parts}) == 1
    assert abs(sum(column.share for column in parts[0].columns) - 100) < 0.1


def test_a_fence_keeps_its_code_exactly():
    (code,) = read("```python title\n\tdef f():\n\n\t\treturn 1  \n```")
    assert code == Code(code.place, "python title", "\tdef f():\n\n\t\treturn 1  ", closed=True)


def test_a_fence_is_open_until_it_is_closed():
    reader = StreamReader()
    reader.feed("```py\nx = 1\n")
    assert not reader.blocks[0].closed
    reader.feed("``")
    assert reader.blocks[0].text == "x = 1"
    reader.feed("`\nafter")
    assert reader.blocks[0] == Code(reader.blocks[0].place, "py", "x = 1", closed=True)
    assert reader.blocks[1].runs[0].text == "after"


def test_a_line_that_may_become_anything_is_not_shown_yet():
    reader = StreamReader()
    reader.feed("Fruit:\n-")
    assert [(block.level, block.runs[0].text) for block in reader.blocks] == [(0, "Fruit:")]
    reader.feed(" apples")
    assert [block.runs[0].text for block in reader.blocks] == ["Fruit:", "apples"]
    reader.feed("\n\nHead\n--")
    assert reader.blocks[-1].level == 0
    reader.feed("-\n")
    assert reader.blocks[-1].level == 2


def test_a_reply_that_ends_undecided_is_shown_whole():
    reader = StreamReader()
    reader.feed("42")
    reader.finish()
    assert reader.blocks == list(read("42")) != []


def test_html_is_text():
    text = "".join(run.text for block in read(REPLIES["html"]) if isinstance(block, Paragraph) for run in block.runs)
    assert '<div onclick="x()">hi</div>' in text
    assert "<script>alert(1)</script>" in text
    assert "Inline <b>bold</b> & <tag>" in text


def test_an_image_shows_its_words_and_its_address():
    (block,) = read("![a cat](https://example.org/cat.png)")
    assert [(run.text, run.href) for run in block.runs] == [
        ("a cat", ""),
        (" ", ""),
        ("https://example.org/cat.png", "https://example.org/cat.png"),
    ]


def test_dangerous_addresses_are_no_links():
    blocks = read("[x](javascript:alert(1)) [y](data:text/html,x) [z](vbscript:q) [f](file:///etc/passwd)")
    assert not any(run.href for run in blocks[0].runs)


def test_bare_addresses_are_links():
    (block,) = read("see https://flint.example/a_b and www.flint.example.")
    assert [run.href for run in block.runs if run.href] == ["https://flint.example/a_b", "http://www.flint.example"]


def test_a_rule_is_a_rule():
    assert isinstance(read("a\n\n---\n\nb")[1], Rule)


def test_a_paragraph_without_end_is_read_again_only_now_and_then(monkeypatch):
    reader, piece = StreamReader(), "word **bold** and text "
    reads, parse = [], parser().parse
    monkeypatch.setattr(parser(), "parse", lambda *args: reads.append(1) or parse(*args))
    for _ in range(500):
        reader.feed(piece)
    assert 0 < len(reads) < 200
    assert "".join(run.text for run in reader.blocks[0].runs).endswith("and text ")
    reader.finish()
    assert reader.blocks == list(read(piece * 500))
