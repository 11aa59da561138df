"""In which forwards tokens were computed: put together, cut, compared, and read from files that may say anything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cache.forwards import add, after, agreeing, begins_inside, first, forwards, joined, read

LENGTHS = st.lists(st.integers(1, 6), max_size=12)


def runs_of(lengths):
    runs = []
    for length in lengths:
        add(runs, length, length)
    return runs


@given(LENGTHS)
def test_every_forward_comes_back(lengths):
    assert [(length, kept) for _, length, kept in forwards(runs_of(lengths))] == [(length, length) for length in lengths]


@given(LENGTHS, st.integers(0, 80))
def test_the_first_tokens_are_those_however_they_are_cut(lengths, tokens):
    cut = first(runs_of(lengths), tokens)
    assert sum(count for _, count in cut) == tokens
    each = [(start + place, start, length) for start, length, kept in forwards(runs_of(lengths)) for place in range(kept)]
    known = [(start + place, start, length) for start, length, kept in forwards(cut) if length for place in range(kept)]
    assert known == each[:tokens]


@given(LENGTHS, LENGTHS, st.integers(0, 40))
def test_as_many_tokens_agree_as_were_computed_in_the_same_forwards(one, other, shared):
    same = runs_of(one)
    mine, theirs = joined((first(same, min(shared, sum(one))), runs_of(other))), same
    position = agreeing(mine, theirs)
    expanded = [
        {start + place: (start, length) for start, length, kept in forwards(runs) for place in range(kept)}
        for runs in (mine, theirs)
    ]
    for at in range(position):
        assert expanded[0][at] == expanded[1][at]
    assert agreeing(theirs, theirs) == sum(one)


def test_a_run_that_was_cut_does_not_run_into_the_next_of_its_length():
    runs = first([(16, 32)], 20)
    add(runs, 16, 16)
    assert runs == [(16, 20), (16, 16)]
    assert list(forwards(runs)) == [(0, 16, 16), (16, 16, 4), (20, 16, 16)]
    assert begins_inside(runs, 18) == 16
    assert begins_inside(runs, 20) is None


def test_behind_the_middle_of_a_forward_its_rest_is_not_known():
    assert after([(16, 32)], 20) == [(0, 12)]
    assert after([(16, 32), (1, 3)], 16) == [(16, 16), (1, 3)]
    assert agreeing([(16, 16), (0, 4)], [(16, 16), (0, 4)]) == 16


@given(LENGTHS, st.integers(0, 80), st.integers(0, 80))
def test_behind_a_place_the_forwards_that_begin_there_are_those_of_the_whole(lengths, whole, tokens):
    runs = first(runs_of(lengths), whole)  # The last forward may be cut, and what is missing is not known.
    behind = after(runs, tokens)
    assert sum(count for _, count in behind) == max(0, whole - tokens)
    each = [(start - tokens, length, kept) for start, length, kept in forwards(runs) if start >= tokens and length]
    assert [forward for forward in forwards(behind) if forward[1]] == each


@pytest.mark.parametrize("raw", [None, "x", [[1]], [["a", 2]], [[1, -1]], [[True, 2]], {"a": 1}])
def test_what_makes_no_sense_in_a_file_is_not_known(raw):
    assert read(raw, 5) == [(0, 5)]


def test_a_file_that_tells_too_much_or_too_little():
    assert read([[4, 8]], 6) == [(4, 6)]
    assert read([[4, 4]], 6) == [(4, 4), (0, 2)]
