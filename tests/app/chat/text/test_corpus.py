"""Streaming equals static: whatever pieces a reply comes in, it is in the end, and before, what it is in one piece."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextDocument

from app.chat.text.document import Document
from app.chat.text.formats import Formats
from app.chat.text.formulas import formulas
from app.chat.text.markdown import StreamReader, decided, normal_breaks, parser, read
from app.chat.text.units import units
from app.theme import Theme
from tests.app.chat.corpus import NAMES, document
from tests.app.chat.dump import dump
from tests.app.chat.text.test_markdown import cut

LONG = 2_500
SHORT = [name for name in NAMES if len(document(name)) <= LONG]
# What is given at the end was not known before it.
GIVEN_LATE = {"references_at_the_end", "footnotes_named", "images_remote", "regexes"}


@pytest.fixture(scope="module")
def theme(qapp):
    return Theme()


def at_random(text, seed):
    chance = random.Random(f"{seed}{len(text)}")
    return cut(text, [chance.randrange(len(text) + 1) for _ in range(chance.choice((3, 12, 60)))])


def line_by_line(text):
    return text.splitlines(keepends=True)


def splits(text):
    """Ways to cut a reply: by character where it is short, by line, at random, as tokens come, and through each line break."""
    short = len(text) <= LONG
    step = 1 if len(text) < 600 else 3 if short else 211
    yield [text[start : start + step] for start in range(0, len(text), step)]
    yield at_random(text, "a")
    if short:
        yield line_by_line(text)
        yield at_random(text, "b")
        yield through_each_line_break(text)


def through_each_line_break(text):
    halves = text.replace("\r\n", "\n").replace("\n", "\r\n").split("\n")
    return [halves[0], *(f"\n{half}" for half in halves[1:])]


def streamed(chunks, reader=None):
    reader = reader or StreamReader()
    for chunk in chunks:
        reader.feed(chunk)
    reader.finish()
    return reader.blocks


def test_there_are_enough_kinds():
    assert len(NAMES) >= 60


@pytest.mark.parametrize("name", NAMES)
def test_any_split_reads_as_the_whole(name):
    text = document(name)
    whole = list(read(text))
    for number, chunks in enumerate(splits(text)):
        assert "".join(chunks).replace("\r\n", "\n") == text.replace("\r\n", "\n"), number
        assert streamed(chunks) == whole, number


@pytest.mark.parametrize("name", sorted(set(SHORT) - GIVEN_LATE))
def test_at_every_moment_it_reads_as_what_has_come_so_far(name):
    text = document(name)
    reader, fed = StreamReader(), 0
    for chunk in [*at_random(text, "moment"), ""]:
        unchanged = reader.feed(chunk)
        fed += len(chunk)
        so_far = decided(normal_breaks(text[:fed].removesuffix("\r")))
        found = units(parser().parse(so_far), so_far.split("\n"))
        assert reader.blocks == [block for unit in found for block in unit.blocks], text[:fed][-60:]
        assert unchanged <= len(reader.blocks)


def shown(theme, show):
    """The document that `show` builds, with everything coloured and drawn."""
    built = Document(QTextDocument(), Formats(theme))
    show(built)
    formulas().wait()
    built.take_formulas()
    built.colour()
    return dump(built.document)


def show_streamed(chunks):
    def show(built):
        reader = StreamReader()
        for number, chunk in enumerate(chunks):
            unchanged = reader.feed(chunk)
            built.show(reader.blocks, unchanged)
            built.colour(0.001)
            if number % 7 == 0:
                built.take_formulas()
        unchanged = reader.finish()
        built.show(reader.blocks, unchanged)

    return show


@pytest.mark.parametrize("name", NAMES)
def test_on_screen_too_any_split_is_the_whole(theme, name):
    text = document(name)
    whole = shown(theme, lambda built: built.show(read(text)))
    ways = [at_random(text, "screen"), [text[start : start + 3] for start in range(0, len(text), 3)]]
    for chunks in ways[: 1 if len(text) > 1_500 else 2]:
        assert shown(theme, show_streamed(chunks)) == whole


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from(SHORT), min_size=1, max_size=3),
    st.sampled_from(["\n\n", "\n", "", " ", "\r\n"]),
    st.lists(st.integers(0, 10_000), max_size=12),
)
def test_any_row_of_documents_in_any_pieces_reads_as_the_whole(names, joint, places):
    text = joint.join(document(name) for name in names)
    assert streamed(cut(text, places)) == list(read(text))


SIGNS = (
    "# ",
    "- ",
    "1. ",
    "> ",
    "```",
    "\n",
    "\n\n",
    "  ",
    "    ",
    "a",
    "b c",
    "|",
    "---",
    "`",
    "**",
    "_",
    "[a]",
    ": ",
    "<b>",
    "![",
)
MORE_SIGNS = ("$", "$$", "\\(", "\\)", "\\[", "\\]", "[^1]", "[^n]", "x^2", "\r", "\u202e", "\\", "&")


@settings(max_examples=80)
@given(st.lists(st.sampled_from(SIGNS + MORE_SIGNS), max_size=24))
def test_any_soup_of_signs_reads_as_the_whole(pieces):
    assert streamed(pieces) == list(read("".join(pieces)))
