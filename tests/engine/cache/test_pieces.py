"""Rows cut out of a cache and laid back: at any position, what attention sees is what it would have seen."""

import random

import mlx.core as mx
import numpy as np
import pytest

from engine.cache.pieces import covers, cut, held_spans, lay, needed_spans, rebuild, without
from engine.cache.window import WindowCache
from tests.engine.cache.attended import Layer, Tables
from tests.engine.cache.kinds import KINDS

every_kind = pytest.mark.parametrize("name", KINDS)


def read(layer, pieces, counts):
    """Store rows, keeping those that leave."""
    for count in counts:
        start, stop = layer.cache.leaving(count)
        pieces += cut(layer.cache, start, stop) if start < stop else []
        layer.append([0] * count)


def kept_of(layer):
    return [piece for start, stop in held_spans(layer.cache) for piece in cut(layer.cache, start, stop)]


@every_kind
def test_a_cache_laid_together_again_shows_what_it_did_and_goes_on(name):
    kind, generator = KINDS[name], random.Random(name)
    tables = Tables(kind)
    for counts in ([5], [1] * 90, [30, 1, 1, 20, 31, 3, 16, 1], [200, 1, 40]):
        layer, pieces = Layer(kind, tables), []
        read(layer, pieces, counts)
        pieces += kept_of(layer)
        total = len(layer.stamps)
        spans = [(piece.start, piece.stop) for piece in pieces]
        positions = {total, total - 1, total // 2, generator.randrange(total), 1, 0}
        for position in sorted(positions):
            if not all(covers(spans, need) for need in needed_spans(layer.cache, position)):
                assert max(counts) == 200, "only rows inside of a long chunk are lost"
                continue
            again = Layer(kind, tables)
            rebuild(again.cache, position, generator.sample(pieces, len(pieces)))
            again.stamps = layer.stamps[:position]
            assert again.cache.offset == position
            assert again.cache.size() <= (again.cache.most_rows or position)
            for count in (1, 17, 1, 60, 1):
                again.append([1] * count)


@every_kind
def test_quantized_rows_come_back_code_by_code(name):
    layer, pieces = Layer(KINDS[name], Tables(KINDS[name])), []
    read(layer, pieces, [20, 60, 1, 1, 20])
    before = kept_of(layer)
    again = KINDS[name].make()
    rebuild(again, again_at := layer.cache.offset, [*pieces, *before])
    now = [piece for start, stop in held_spans(again) for piece in cut(again, start, stop)]
    for span in needed_spans(again, again_at):
        for one, other in zip(lay(before, span), lay(now, span), strict=False):
            start, stop = max(one.start, other.start), min(one.stop, other.stop)
            for mine, theirs in zip(one.part(start, stop).arrays, other.part(start, stop).arrays, strict=True):
                assert np.array_equal(np.array(mine), np.array(theirs))
    assert again.nbytes <= layer.cache.nbytes


@pytest.mark.parametrize("bits", [(None, None), (8, 8)])
def test_a_piece_holds_the_memory_of_its_rows_alone(bits):
    cache = WindowCache(None, bits=bits)
    rows = mx.random.normal((1, 2, 1000, 64))
    cache.update_and_fetch(rows, rows)
    pieces = cut(cache, 100, 120)
    mx.eval([piece.arrays for piece in pieces], cache.state)
    del cache, rows
    mx.clear_cache()
    with_pieces, kept = mx.get_active_memory(), sum(piece.nbytes for piece in pieces)
    assert kept <= 2 * 2 * 20 * 64 * 4
    pieces.clear()
    assert kept <= with_pieces - mx.get_active_memory() <= 2 * kept + 8192


def test_a_position_whose_rows_are_not_there_is_refused():
    layer, pieces = Layer(KINDS["growing, pinned"], Tables(KINDS["growing, pinned"])), []
    read(layer, pieces, [20] * 6)
    held = kept_of(layer)
    cache = KINDS["growing, pinned"].make()
    with pytest.raises(ValueError, match="no row at position"):
        rebuild(cache, 60, held)
    assert cache.offset == 0
    rebuild(cache, 60, [*pieces, *held])
    with pytest.raises(ValueError, match="no row at position 0"):
        rebuild(cache, 60, [])


def test_the_rows_held_and_needed_are_told_by_position():
    cache = WindowCache(10, pinned=3, slack=4)
    rows = mx.zeros((1, 1, 1, 8))
    assert (held_spans(cache), needed_spans(cache, 0)) == ([], [])
    for _ in range(60):
        cache.update_and_fetch(rows, rows)
    (first, last) = held_spans(cache)
    assert first == (0, 3)
    assert last[1] == 60
    assert last[1] - last[0] >= 10 - 1 - 3 + 4
    assert needed_spans(cache, 60) == [(0, 3), (54, 60)]
    assert needed_spans(cache, 9) == [(0, 9)]
    assert needed_spans(cache, 2) == [(0, 2)]
    assert needed_spans(WindowCache(None), 70) == [(0, 70)]
    assert needed_spans(WindowCache(10), 70) == [(61, 70)]


@pytest.mark.parametrize(
    ("wanted", "spans", "left"),
    [
        ((0, 10), [], [(0, 10)]),
        ((0, 10), [(0, 10)], []),
        ((0, 10), [(5, 8), (2, 6)], [(0, 2), (8, 10)]),
        ((3, 5), [(0, 3), (5, 9)], [(3, 5)]),
        ((0, 10), [(4, 20), (0, 4)], []),
        ((4, 4), [], []),
        ((0, 10), [(3, 3)], [(0, 3), (3, 10)]),
    ],
)
def test_what_spans_leave_out(wanted, spans, left):
    assert without(wanted, spans) == left or covers(left, (0, 10))
    assert covers(spans, wanted) == (not left)


def test_pieces_that_overlap_are_laid_once():
    cache = WindowCache(None)
    rows = mx.arange(40, dtype=mx.float32).reshape(1, 1, 40, 1)
    cache.update_and_fetch(rows, rows)
    pieces = [piece for span in ((0, 10), (5, 25), (7, 9), (20, 40)) for piece in cut(cache, *span)]
    laid = lay(pieces, (2, 33))
    assert [(piece.start, piece.stop) for piece in laid] == [(2, 10), (10, 25), (25, 33)]
    values = [value for piece in laid for value in np.array(piece.sides[0][0]).ravel()]
    assert values == list(range(2, 33))
