"""What is asked of caches whatever their kind."""

import mlx.core as mx
import numpy as np
import pytest
from mlx_lm.models.cache import ArraysCache, CacheList, KVCache

from engine.cache import layers
from engine.cache.window import WindowCache


def rows(count):
    return mx.random.normal((1, 2, count, 8))


def fill(cache, count):
    cache.update_and_fetch(rows(count), rows(count))


def recurrent():
    cache = ArraysCache(2)
    cache[0] = mx.ones((1, 3, 4))
    return cache


def test_a_trim_is_done_in_every_layer_or_in_none():
    window, full = WindowCache(20), WindowCache(200)
    for cache in (window, full):
        fill(cache, 100)
    assert not layers.trim([full, window], 90)
    assert (window.offset, full.offset) == (100, 100)
    assert layers.trim([full, window], 5)
    assert (window.offset, full.offset) == (95, 95)


def test_a_recurrent_layer_takes_nothing_back():
    growing = KVCache()
    fill(growing, 10)
    assert layers.trim([growing, recurrent()], 0)
    assert not layers.trim([growing, recurrent()], 1)
    assert not layers.trim([CacheList(recurrent(), growing)], 1)
    assert growing.offset == 10
    assert layers.trim([growing], 4)
    assert not layers.can_trim([growing], 7)


def test_a_recurrent_state_is_bounded_and_a_growing_cache_is_not():
    assert layers.bounded([recurrent(), WindowCache(10)])
    assert not layers.bounded([WindowCache(10), KVCache()])
    assert not layers.bounded([CacheList(recurrent(), WindowCache(None))])


def test_a_snapshot_of_mlx_lms_own_cache_is_not_changed_by_what_comes():
    cache = KVCache()
    fill(cache, 10)
    before = np.array(cache.keys_and_values()[0])
    saved = layers.snapshot(cache)
    for _ in range(2):
        fill(cache, 300)
        layers.restore(cache, saved)
        assert cache.offset == 10
        np.testing.assert_array_equal(np.array(cache.keys_and_values()[0]), before)


def test_a_snapshot_of_a_list_holds_every_cache_of_it():
    made = [CacheList(recurrent(), KVCache(), WindowCache(40)) for _ in range(2)]
    fill(made[0][1], 3)
    fill(made[0][2], 100)
    saved = layers.snapshot(made[0])
    layers.restore(made[1], saved)
    np.testing.assert_array_equal(np.array(made[1][0][0]), np.ones((1, 3, 4)))
    assert made[1][0][1] is None
    assert (made[1][1].offset, made[1][2].offset, made[1][2].lost) == (3, 100, made[0][2].lost)
    assert all(isinstance(number, int) for number in saved.numbers.values())


def test_a_recurrent_state_that_is_a_slice_does_not_hold_the_rest():
    whole = mx.zeros((1, 4000, 64))
    mx.eval(whole)
    cache = ArraysCache(1)
    cache[0] = whole[:, -3:, :]
    mx.eval(cache.state)
    saved = layers.snapshot(cache)
    mx.eval(list(saved.arrays.values()))
    before = mx.get_active_memory()
    del cache, whole
    assert before - mx.get_active_memory() >= 4000 * 64 * 4 - saved.nbytes


def test_an_empty_state_can_be_gone_back_to():
    cache = ArraysCache(2)
    saved = layers.snapshot(cache)
    cache[1] = mx.ones((1, 2))
    layers.restore(cache, saved)
    assert cache.empty()
    assert cache[1] is None


def test_a_snapshot_of_another_make_is_refused():
    with pytest.raises(ValueError, match="another make"):
        layers.restore(ArraysCache(3), layers.snapshot(ArraysCache(2)))


def test_a_state_that_is_more_than_arrays_and_numbers_is_refused():
    cache = KVCache()
    cache.keys = {"a": 1}
    with pytest.raises(TypeError, match="dict can't be saved"):
        layers.snapshot(cache)
