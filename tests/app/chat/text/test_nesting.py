"""However deep quotes, lists and notes nest, nothing of a reply is lost, and its text stays in the column."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.chat.text.markdown import StreamReader, read

AFTER = "\n\nThe important conclusion.\n\n## Heading\n\nmore"
SHAPES = {
    "items under one another": lambda depth: "".join(f"{'  ' * level}- item {level}\n" for level in range(depth)),
    "numbers under one another": lambda depth: "".join(f"{'   ' * level}1. item {level}\n" for level in range(depth)),
    "quotes in a line": lambda depth: "> " * depth + f"item {depth - 1}",
    "quotes that deepen": lambda depth: "\n".join("> " * level + f"item {level}\n" + ">" * level for level in range(depth)),
    "items in a line": lambda depth: "- " * depth + f"item {depth - 1}",
    "both in turn": lambda depth: "> 1. " * depth + f"item {depth - 1}",
    "notes in notes": lambda depth: "[^n]: " * depth + f"item {depth - 1}",
}


def words(blocks):
    return "\n".join("".join(run.text for run in getattr(block, "runs", ())) or getattr(block, "text", "") for block in blocks)


@pytest.mark.parametrize("depth", [3, 12, 19, 20, 21, 22, 39, 40, 41, 42, 60, 200])
@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_is_lost(shape, depth):
    shown = words(read(SHAPES[shape](depth) + AFTER))
    several = "deepen" in shape or "under" in shape
    assert [number for number in range(0 if several else depth - 1, depth) if f"item {number}" not in shown] == []
    assert shown.endswith("The important conclusion.\nHeading\nmore")


@pytest.mark.parametrize("sign", ["> ", "- ", "1. ", "> - ", "[^n]: ", "[", "![", "*a ", "- > 1. "])
def test_five_thousand_levels_are_read(sign):
    blocks = read(sign * 5_000 + "deep" + AFTER)
    assert "deep" in words(blocks)
    assert words(blocks).endswith("The important conclusion.\nHeading\nmore")
    assert max(block.place.indent for block in blocks) <= 320


def test_deeper_text_stands_further_in_down_to_the_bound():
    indents = [block.place.indent for block in read(SHAPES["items under one another"](20))]
    assert indents == sorted(set(indents))
    assert len(indents) == 20


def test_signs_of_quotes_that_are_none_are_shown():
    assert words(read("a > b >> c > > d")) == "a > b >> c > > d"
    assert words(read("> " * 45 + "x")) == "> " * 5 + "x"


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from(["> ", "  - ", "1. ", ">", "    ", "[^a]: "])), min_size=1, max_size=6
    ),
    st.integers(1, 97),
)
def test_in_any_pieces_it_reads_as_the_whole(lines, size):
    text = "\n".join(f"{sign * depth}word {depth}" for depth, sign in lines) + AFTER
    reader = StreamReader()
    for start in range(0, len(text), size):
        reader.feed(text[start : start + size])
    reader.finish()
    assert reader.blocks == list(read(text))
