import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.inference.stop_text import StopText

letters = st.text("ab\n", max_size=24)
stop_lists = st.lists(st.text("ab\n", max_size=4), max_size=4)


def cut(text, places):
    edges = [0, *sorted({place for place in places if place < len(text)}), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]


def run(stops, pieces):
    stop = StopText(stops)
    shown, stopped = "", False
    for piece in pieces:
        safe, stopped = stop.add(piece)
        shown += safe
    return shown + stop.finish(), stopped


def reference(stops, text):
    """Read letter by letter: the first stop to be complete ends the text, the longest of those that end there."""
    for end in range(1, len(text) + 1):
        met = [stop for stop in stops if stop and text[:end].endswith(stop)]
        if met:
            return text[: end - max(map(len, met))], True
    return text, False


@given(stops=stop_lists, text=letters, places=st.lists(st.integers(0, 24)))
def test_the_text_ends_before_the_first_stop_however_it_was_cut(stops, text, places):
    assert run(stops, cut(text, places)) == reference(stops, text)


@given(stops=stop_lists, text=letters)
def test_all_but_a_possible_beginning_of_a_stop_is_shown_at_once(stops, text):
    stop, shown, read = StopText(stops), "", ""
    for letter in text:
        safe, stopped = stop.add(letter)
        shown, read = shown + safe, read + letter
        if stopped:
            return
        tails = [read[start:] for start in range(len(read))]
        possible = [tail for tail in tails if any(one.startswith(tail) and one != tail for one in stops)]
        assert shown + max(possible, key=len, default="") == read


@pytest.mark.parametrize(
    ("stops", "pieces", "expected"),
    [
        (["STOP"], ["one ST", "OP two"], ("one ", True)),
        (["STOP"], ["one ST", "ART"], ("one START", False)),
        (["STOP"], ["SSTSTO", "P"], ("SST", True)),
        (["abcd", "bc"], ["abcd"], ("a", True)),
        (["bc", "abc"], ["xa", "bc"], ("x", True)),
        (["", ""], ["text"], ("text", False)),
        ([], ["text", ""], ("text", False)),
        (["é"], ["caf", "é au lait"], ("caf", True)),
        (["\nUser:"], ["hello\n", "User", ":"], ("hello", True)),
        (["aa"], ["a"], ("a", False)),
    ],
)
def test_stops_across_pieces(stops, pieces, expected):
    assert run(stops, pieces) == expected


def test_nothing_is_shown_after_a_stop():
    stop = StopText(["."])
    assert stop.add("One. Two") == ("One", True)
    assert stop.add(" three") == ("", True)
    assert stop.finish() == ""


def test_what_is_held_comes_once_at_the_end():
    stop = StopText(["<end>"])
    assert stop.add("text<en") == ("text", False)
    assert stop.finish() == "<en"
    assert stop.finish() == ""
