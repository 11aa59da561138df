"""The window cache: what is held, what can be taken back, what is returned, and the bytes of it all."""

import itertools
from dataclasses import replace

import mlx.core as mx
import numpy as np
import pytest

from engine.cache.chunked import ChunkedCache
from engine.cache.side import group_of
from engine.cache.window import SLACK, WindowCache
from tests.engine.cache.attended import Layer, Tables, shown
from tests.engine.cache.kinds import KINDS, growing

WIDTH = 64


def rows(count, *, heads=2, width=WIDTH, dtype=mx.float32, seed=0):
    return mx.random.normal((1, heads, count, width), key=mx.random.key(seed)).astype(dtype)


def fill(cache, *lengths, dtype=mx.float32, width=WIDTH):
    for length in lengths:
        view = cache.update_and_fetch(rows(length, dtype=dtype, width=width), rows(length, dtype=dtype, width=width, seed=1))
        mx.eval(cache.state)
    return view


# What mlx-lm would trip over


@pytest.mark.parametrize("bits", [(None, None), (8, 8), (8, 4), (4, 4)])
def test_attention_is_given_plain_arrays_and_never_told_of_bits(bits):
    cache = WindowCache(200, bits=bits)
    keys, values = fill(cache, 150, 1)
    assert not hasattr(cache, "bits")
    assert isinstance(keys, mx.array)
    assert isinstance(values, mx.array)
    assert keys.dtype == values.dtype == mx.float32


def test_an_empty_cache_counts_as_a_cache():
    # mlx-lm asks `if cache and hasattr(cache, "make_mask")`.
    assert WindowCache(10)
    assert WindowCache(10).empty()
    assert WindowCache(10).keys is None


def test_a_lone_query_needs_no_mask_until_rows_are_held_that_it_may_not_see():
    cache = WindowCache(40, pinned=4)
    fill(cache, *[1] * 39)
    assert cache.make_mask(1) is None
    fill(cache, 1)
    mask = cache.make_mask(1)
    assert mask.shape == (1, 1, 1, 41)
    assert np.flatnonzero(~np.array(mask).ravel()).tolist() == [4]


def test_many_queries_are_causal_until_the_window_is_full():
    cache = WindowCache(40, pinned=4)
    fill(cache, 20)
    assert cache.make_mask(20) == "causal"
    assert cache.make_mask(20, return_array=True).shape == (20, 40)
    assert cache.make_mask(21).shape == (21, 41)


def test_a_window_without_pinned_rows_returns_the_buffer_itself():
    cache = WindowCache(64, sliding=True)
    keys, _ = fill(cache, 64, *[1] * 20)
    assert keys.shape[2] == 64
    assert cache.make_mask(1, window_size=64) is None


def test_the_models_that_read_the_rows_twice_get_the_same_ones():
    cache = WindowCache(40, keeps_view=True)
    view = fill(cache, 60)
    assert all(one is other for one, other in zip(cache.keys_and_values(), view, strict=True))
    with pytest.raises(RuntimeError):
        WindowCache(40).keys_and_values()


def test_a_dependency_hung_on_the_keys_stays():
    for bits in ((None, None), (8, 8)):
        cache = WindowCache(100, bits=bits)
        fill(cache, 90)
        before = np.array(cache.keys)
        cache.keys = mx.depends(cache.keys, [rows(1)])
        np.testing.assert_array_equal(np.array(cache.keys), before)
        assert cache.state


def test_an_indexer_keeps_one_array_whatever_becomes_of_its_values():
    cache = WindowCache(100, bits=(8, 8))
    keys = rows(90)
    cache.update_and_fetch(keys, keys)
    cache.values = mx.zeros_like(cache.keys)
    again, _ = cache.update_and_fetch(rows(1), rows(1))
    np.testing.assert_array_equal(np.array(again[..., -65:-1, :]), np.array(keys[..., -64:, :]))


# Pinned rows


@pytest.mark.parametrize("name", ["growing, pinned", "growing, mostly pinned", "pinned, 8", "small window, 4"])
@pytest.mark.parametrize("chunk", [1, 64, 500])
def test_pinned_rows_are_seen_after_many_wraps_by_every_query(name, chunk):
    kind = KINDS[name]
    cache = kind.make()
    for _ in range(max(1, 500 // chunk)):
        mask = cache.make_mask(chunk)
        before = [position for position in cache.positions() if position < kind.pinned]
        keys, _ = fill(cache, chunk)
    booleans = shown(mask, chunk, keys.shape[2])
    assert before == list(range(min(kind.pinned, 500 - chunk)))
    assert booleans[:, : len(before)].all()
    assert cache.positions()[: kind.pinned] == list(range(kind.pinned))


def test_what_is_pinned_can_change_until_a_token_leaves_the_context():
    cache = WindowCache(100, pinned=3)
    fill(cache, 99)
    cache.pinned = 20
    fill(cache, 1)
    with pytest.raises(ValueError, match="left the context"):
        cache.pinned = 10
    cache.pinned = 20
    fill(cache, 300)
    assert cache.positions()[:21] == [*range(20), cache.positions()[20]]


@pytest.mark.parametrize("pinned", [-1, 50, 51])
def test_a_window_keeps_room_for_more_than_the_pinned_rows(pinned):
    cache = WindowCache(50)
    with pytest.raises(ValueError, match="in a window of 50"):
        cache.pinned = pinned
    with pytest.raises(ValueError, match="in a window of 50"):
        WindowCache(50, pinned=pinned)


def test_it_says_which_tokens_the_next_one_misses():
    cache = WindowCache(40, pinned=5)
    fill(cache, 39)
    assert cache.hidden == 0
    fill(cache, 11)
    assert cache.hidden == 11
    _, mask = cache.positions(), np.array(cache.make_mask(1)).ravel()
    seen = [position for position, visible in zip([*cache.positions(), 50], mask, strict=True) if visible]
    assert seen == [*range(5), *range(16, 51)]
    assert WindowCache(None).hidden == 0


# Trim


def test_a_full_window_can_take_back_its_slack_and_no_more():
    cache = WindowCache(64)
    fill(cache, *[1] * 500)
    fill(cache, SLACK)  # Whatever was dropped just now, the slack stays.
    possible = max(count for count in range(500) if cache.can_trim(count))
    assert possible >= SLACK
    assert cache.trim(possible + 1) == 0
    assert cache.offset == 500 + SLACK
    assert cache.trim(possible) == possible
    assert cache.offset == 500 + SLACK - possible


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.window])
@pytest.mark.parametrize("fill_to", [301, 347])
def test_exactly_what_the_next_query_would_miss_is_not_taken_back(name, fill_to):
    layer = Layer(KINDS[name], Tables(KINDS[name]))
    layer.append([0] * 290)
    for _ in range(fill_to - 290):
        layer.append([1])
    held = set(layer.cache.positions())
    for count in range(fill_to):
        query = fill_to - count
        needed = set(replace(layer.kind, window_size=None).seen(query, layer.pinned)) - {query}
        if needed or not query:  # Where a chunk begins nothing is needed; whether to step back there is the cache's own choice.
            assert layer.cache.can_trim(count) == (needed <= held)
    possible = max(count for count in range(fill_to - layer.pinned) if layer.cache.can_trim(count))
    before = layer.cache.snapshot()
    for count in (possible, fill_to - layer.pinned, fill_to - layer.pinned // 2):
        layer.cache.restore(before)
        stamps = layer.stamps[: fill_to - count]
        if layer.cache.trim(count):
            again = Layer(layer.kind, layer.tables)
            again.cache, again.stamps = layer.cache, stamps
            for length in (1, 3, 100):
                again.append([2] * length)


def test_taking_back_more_than_there_is_takes_back_all():
    cache = WindowCache(64)
    fill(cache, 30)
    assert cache.trim(100) == 30
    assert (cache.offset, cache.size(), cache.positions()) == (0, 0, [])
    assert not cache.is_trimmable()
    fill(cache, 10)
    assert cache.positions() == list(range(10))


def test_a_chunked_layer_can_step_back_anywhere_in_its_chunk():
    cache = ChunkedCache(64, sliding=True)
    fill(cache, *[1] * 640, *[1] * 50)
    assert cache.can_trim(50)
    assert not cache.can_trim(51 + SLACK + 16)
    assert cache.start_position == 690 - 63
    cache.trim(50)
    assert cache.start_position <= 640


def test_the_newest_rows_are_plain_in_every_precision():
    for name in ("unlimited, 8", "pinned, 8/4", "pinned, 4", "small window, 4", "latent"):
        layer = Layer(KINDS[name], Tables(KINDS[name]))
        for length in (1, 63, 40, 1, 1, 150, 1, 200, *[1] * 40):
            for exact in layer.append([1] * length):
                assert all(row[-65:].all() for row in exact)
        # And older ones are not: of those that are seen, the newest is rounded.
        assert len(exact[-1]) <= 80 or not exact[-1][-81]


# Bytes


@pytest.mark.parametrize("bits", [(None, None), (8, 8), (8, 4), (4, 4)])
@pytest.mark.parametrize("lengths", [[1], [40], [63, 1], [64, 30], [100, 100], [300, 1, 1], [70, *[1] * 90]])
def test_what_is_seen_takes_no_more_than_the_rows_in_use(bits, lengths):
    bounded, free = WindowCache(100, pinned=4, bits=bits), WindowCache(None, bits=bits)
    row = 2 * rows(1).nbytes
    for cache in (bounded, free):
        fill(cache, *lengths)
        seen = min(cache.size(), cache.window or cache.size())
        assert 0 < cache.seen_bytes <= min(cache.nbytes, seen * row)
        assert bits != (None, None) or cache.seen_bytes == seen * row
    free.trim(free.size())
    assert free.seen_bytes == 0


@pytest.mark.parametrize(("bits", "at_most"), [((8, 8), 0.55), ((8, 4), 0.43), ((4, 4), 0.30)])
def test_bytes_of_a_quantized_window_against_bfloat16(bits, at_most):
    plain, quantized = WindowCache(1024, pinned=64), WindowCache(1024, pinned=64, bits=bits)
    for cache in (plain, quantized):
        fill(cache, *[300] * 6, dtype=mx.bfloat16)
    recent = 64 * 2 * 2 * WIDTH * 2
    assert quantized.nbytes <= at_most * plain.nbytes + recent
    assert quantized.size() == plain.size()


@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16, mx.float16])
def test_scales_and_biases_are_float16_whatever_the_activation(dtype):
    cache = WindowCache(None, bits=(8, 4))
    keys, _ = fill(cache, 200, dtype=dtype)
    mx.eval(keys)
    assert keys.dtype == dtype
    kinds = {array.dtype for array in cache.state}
    assert kinds == {mx.uint32, mx.float16, dtype}


def test_numbers_beyond_float16_do_not_spoil_the_cache():
    cache = WindowCache(None, bits=(8, 8))
    huge = rows(200, dtype=mx.bfloat16) * 1e6
    cache.update_and_fetch(huge, huge * 1)
    keys, values = cache.update_and_fetch(huge[..., :1, :], huge[..., :1, :] * 1)
    assert mx.isfinite(keys).all()
    assert mx.isfinite(values).all()


@pytest.mark.parametrize(("width", "group"), [(64, 64), (128, 64), (96, 32), (32, 32), (80, None), (72, None), (0, None)])
def test_a_width_that_no_group_divides_stays_plain(width, group):
    assert group_of(width) == group


def test_rows_without_numbers_are_kept_too():
    # The indexer of minimax_m3 stores keys beside values of width 0.
    cache = WindowCache(100, bits=(8, 8))
    for length in (90, 1, 200, 1):
        keys, values = cache.update_and_fetch(rows(length, heads=1), mx.zeros((1, 1, length, 0)))
        mx.eval(cache.state)
    assert values.shape == (*keys.shape[:3], 0)


@pytest.mark.parametrize("bits", [(None, None), (8, 4)])
def test_bytes_do_not_grow_once_the_window_is_full(bits):
    cache = WindowCache(256, pinned=10, bits=bits)
    fill(cache, *[37] * 20)
    most = cache.nbytes
    taken = []
    for length in (*[1] * 400, 50, 300, 1000, *[1] * 50):
        fill(cache, length)
        taken.append(cache.nbytes)
    # Of the newest rows 64 to 79 are plain.
    assert max(taken) - min(taken) <= (0 if bits == (None, None) else 16 * 2 * 2 * WIDTH * 4)
    assert max(taken) <= most + 16 * 2 * 2 * WIDTH * 4


def test_a_write_is_in_place_and_a_move_holds_two_buffers_at_most():
    cache = WindowCache(4000)
    fill(cache, 4000, width=128)
    buffer = cache.keys.nbytes
    for _ in range(3):
        fill(cache, 1, width=128)
    mx.reset_peak_memory()
    before = mx.get_active_memory()
    fill(cache, 1, width=128)
    assert mx.get_peak_memory() - before < buffer / 10
    mx.reset_peak_memory()
    lost = cache.lost
    while cache.lost == lost:
        fill(cache, 1, width=128)
    assert mx.get_peak_memory() - before < 1.2 * cache.nbytes  # The old buffers of this one layer beside the new ones.


# Snapshots


def test_a_snapshot_costs_nothing_until_the_cache_is_written_to():
    cache = WindowCache(2000)
    fill(cache, 1000, width=128)
    before = mx.get_active_memory()
    snapshot = cache.snapshot()
    assert mx.get_active_memory() - before < 1000
    assert snapshot.nbytes == cache.nbytes
    fill(cache, 1, width=128)
    assert mx.get_active_memory() - before > 0.9 * snapshot.nbytes
    del snapshot
    fill(cache, 1, width=128)
    assert mx.get_active_memory() - before < 0.1 * cache.nbytes


@pytest.mark.parametrize(
    "other", [WindowCache(41), WindowCache(40, bits=(8, 8)), WindowCache(40, sliding=True), WindowCache(None)]
)
def test_a_snapshot_of_another_make_is_refused(other):
    cache = WindowCache(40)
    fill(cache, 10)
    with pytest.raises(ValueError, match="another make"):
        other.restore(cache.snapshot())


def test_an_empty_cache_can_be_gone_back_to():
    cache = WindowCache(40)
    empty = cache.snapshot()
    fill(cache, 100)
    cache.restore(empty)
    assert (cache.offset, cache.lost, cache.nbytes, cache.empty()) == (0, 0, 0, True)


# Every way of cutting a text into chunks


@pytest.mark.parametrize("name", KINDS)
def test_any_chunking_shows_each_query_the_same(name):
    layer = Layer(KINDS[name], Tables(KINDS[name]))
    for length in itertools.islice(itertools.cycle((1, 31, 32, 33, 2, 150, 5, 90, 16)), 22):
        layer.append([length % 5] * length)


def test_a_window_of_one_token_sees_itself():
    layer = Layer(growing(1), Tables(growing(1)))
    for length in (1, 1, 40, 7, 1):
        layer.append([0] * length)
