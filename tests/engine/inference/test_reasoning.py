import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken

from engine.inference.reasoning import MARKERS, ReasoningSplitter, markers, template_text
from tests.models.tiny_tokenizers import byte_level, sentencepiece

START, END = "<think>", "</think>"
replies = st.lists(st.sampled_from([START, END, "<th", "</", "ink>", " ", "\n", "x", "yes", "<"]), max_size=12).map("".join)


def run(pieces, inside=False):
    """Return what came out, neighbours of one kind joined."""
    splitter = ReasoningSplitter(START, END, inside)
    parts = [part for piece in pieces for part in splitter.add(piece)] + splitter.finish()
    joined = []
    for kind, text in parts:
        assert text
        if joined and joined[-1][0] == kind:
            joined[-1] = (kind, joined[-1][1] + text)
        else:
            joined.append((kind, text))
    return joined


@pytest.mark.parametrize(
    ("text", "inside", "expected"),
    [
        ("<think>\nWhy?\n</think>\n\nBecause.", False, [("reasoning", "Why?"), ("answer", "Because.")]),
        ("\nWhy?\n</think>\n\nBecause.\n", True, [("reasoning", "Why?"), ("answer", "Because.\n")]),
        ("  <think>a  b</think>c", False, [("reasoning", "a  b"), ("answer", "c")]),
        ("<think>\n\n</think>\n\nYes", False, [("answer", "Yes")]),
        ("<think></think><think>two</think>go", False, [("reasoning", "two"), ("answer", "go")]),
        ("no thoughts", False, [("answer", "no thoughts")]),
        ("  indented code", False, [("answer", "  indented code")]),
        ("The tag <think>x</think> is quoted", False, [("answer", "The tag <think>x</think> is quoted")]),
        ("<think>a</think>The tag <think> is quoted", False, [("reasoning", "a"), ("answer", "The tag <think> is quoted")]),
        ("<think>never closed ", False, [("reasoning", "never closed")]),
        ("<think>cut </thi", False, [("reasoning", "cut </thi")]),
        (
            "<think>again what the template opened</think>yes",
            True,
            [("reasoning", "again what the template opened"), ("answer", "yes")],
        ),
        ("a </think>", False, [("answer", "a </think>")]),
        ("<thi", False, [("answer", "<thi")]),
        ("<thinker", False, [("answer", "<thinker")]),
        ("", False, []),
        ("", True, []),
        (" \n", False, [("answer", " \n")]),
        (" \n", True, []),
        ("a</think> \n", True, [("reasoning", "a")]),
    ],
)
def test_a_reply_is_split_the_same_whole_and_letter_by_letter(text, inside, expected):
    assert run([text], inside) == expected
    assert run(list(text), inside) == expected


@given(text=replies, inside=st.booleans(), places=st.lists(st.integers(1, 40)))
def test_how_the_text_was_cut_makes_no_difference(text, inside, places):
    edges = [0, *sorted({place for place in places if place < len(text)}), len(text)]
    assert run([text[start:end] for start, end in itertools.pairwise(edges)], inside) == run([text], inside)


@given(text=replies, inside=st.booleans())
def test_nothing_but_markers_and_white_space_is_lost(text, inside):
    whole = "".join(text.replace(START, "").replace(END, "").split())
    # Part by part: half a marker before the end of a block and half behind it make none.
    kept = "".join(part.replace(START, "").replace(END, "") for _, part in run([text], inside))
    assert "".join(kept.split()) == whole


def test_text_comes_as_soon_as_it_is_certain():
    splitter = ReasoningSplitter(START, END, inside=False)
    assert splitter.add("<thi") == []
    assert splitter.add("nk>Let me") == [("reasoning", "Let me")]
    assert splitter.add(" see. <") == [("reasoning", " see.")]
    assert splitter.add("/think>\n") == []
    assert splitter.add("\nParis") == [("answer", "Paris")]
    assert splitter.add(" <think> ") == [("answer", " <think> ")]
    assert splitter.finish() == []


@pytest.mark.parametrize("pair", MARKERS)
@pytest.mark.parametrize("special", [True, False])
def test_markers_are_found_in_the_vocabulary(pair, special):
    assert markers(byte_level(extra=[AddedToken(mark, special=special) for mark in pair])) == pair


def test_markers_are_found_in_the_template():
    template = "{% for m in messages %}{{ m.content.split('</think>')[-1] }}{% endfor %}{{ '<think>\n' }}"
    assert markers(byte_level(template=template)) == ("<think>", "</think>")


def test_a_model_that_does_not_reason_has_no_markers():
    assert markers(byte_level()) is None
    assert markers(sentencepiece()) is None
    assert markers(byte_level(template=None, extra=["<think>"])) is None


@pytest.mark.parametrize(
    ("template", "expected"),
    [(None, ""), ("one", "one"), ({"default": "two", "tool_use": "three"}, "two"), ({"rag": "four"}, "")],
)
def test_the_text_of_the_template(template, expected):
    tokenizer = byte_level(template=None)
    tokenizer.chat_template = template
    assert template_text(tokenizer) == expected
