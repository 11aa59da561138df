"""Reading a prompt in chunks."""

from itertools import pairwise

import mlx.core as mx
import numpy as np
import pytest

from engine.cache.prefix import PrefixCache
from engine.inference.prefill import EFFICIENT_CHUNK, LARGEST_CHUNK, LONGEST_S, SMALLEST_CHUNK, TARGET_S, ChunkSize, prefill
from tests.engine.talk import FixedChunk, agree
from tests.models.tiny_architectures import ARCHITECTURES

IDS = tuple(30 + index * 7 % 300 for index in range(131))


def learnt(seconds_a_token, steps, tokens=64):
    """The chunk sizes that a machine of this speed leads to."""
    size = ChunkSize(tokens)
    sizes = [size.tokens]
    for _ in range(steps):
        size.learn(size.tokens, size.tokens * seconds_a_token)
        sizes.append(size.tokens)
    return sizes


def test_a_fast_machine_doubles_until_a_chunk_takes_the_target():
    sizes = learnt(TARGET_S / 1000, 8)
    assert sizes[:5] == [64, 128, 256, 512, 992]
    assert set(sizes[4:]) == {992}


def test_a_very_fast_machine_stops_at_the_largest_chunk():
    assert learnt(1e-6, 10)[-1] == LARGEST_CHUNK


def test_a_slow_machine_goes_down_by_halves_but_not_below_the_smallest_chunk():
    assert learnt(LONGEST_S / 40, 1)[-1] == 32
    assert learnt(1.0, 3) == [64, 32, SMALLEST_CHUNK, SMALLEST_CHUNK]


def test_a_chunk_takes_at_most_the_target_once_it_has_settled_or_is_short_and_takes_at_most_a_second():
    for speed in (5, 20, 100, 333, 1500, 6000):
        settled = learnt(1 / speed, 12)[-1]
        short = settled <= EFFICIENT_CHUNK and settled / speed <= LONGEST_S
        assert settled == SMALLEST_CHUNK or settled / speed <= TARGET_S or short
        assert settled % SMALLEST_CHUNK == 0


def test_a_slow_machine_reads_as_many_tokens_at_a_time_as_are_read_efficiently():
    assert learnt(1 / 100, 12)[-1] == EFFICIENT_CHUNK
    assert learnt(1 / 100, 12, tokens=SMALLEST_CHUNK)[-1] == EFFICIENT_CHUNK


def test_a_short_last_chunk_and_a_clock_that_stood_still_teach_nothing():
    size = ChunkSize(256)
    size.learn(100, 9.0)
    size.learn(256, 0.0)
    assert size.tokens == 256


@pytest.mark.parametrize("kind", ARCHITECTURES)
@pytest.mark.parametrize("chunk", [16, 37, 64, 1000])
def test_any_chunking_gives_the_same_logits(tiny_loaded, kind, chunk):
    loaded = tiny_loaded(kind)

    def logits(size):
        cache = PrefixCache(loaded.model)
        lengths = list(prefill(loaded.model, cache, IDS, FixedChunk(size)))
        assert sum(lengths) == len(IDS) - 1
        assert max(lengths) <= size
        return np.array(loaded.model(mx.array([IDS[-1:]]), cache=cache.layers)[0, -1])

    np.testing.assert_allclose(logits(chunk), logits(2048), atol=1e-3)


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_at_every_yield_the_layers_hold_what_the_record_says(tiny_loaded, kind):
    loaded = tiny_loaded(kind)
    cache = PrefixCache(loaded.model)
    done = 0
    for length in prefill(loaded.model, cache, IDS, FixedChunk(32)):
        done += length
        assert cache.tokens == list(IDS[:done])
        assert agree(cache)
    assert done == len(IDS) - 1


def test_closing_it_leaves_what_was_yielded_and_the_rest_can_follow(tiny_loaded):
    loaded = tiny_loaded()
    cache = PrefixCache(loaded.model)
    reading = prefill(loaded.model, cache, IDS, FixedChunk(32))
    assert next(reading) + next(reading) == 64
    reading.close()
    assert cache.tokens == list(IDS[:64])
    assert agree(cache)
    assert cache.reuse(IDS) == 64
    assert sum(prefill(loaded.model, cache, IDS[64:], FixedChunk(32))) == len(IDS) - 65


@pytest.mark.parametrize("ids", [(5,), (5, 6)])
def test_the_last_id_is_left_for_the_reply(tiny_loaded, ids):
    loaded = tiny_loaded()
    cache = PrefixCache(loaded.model)
    assert list(prefill(loaded.model, cache, ids, ChunkSize())) == [1] * (len(ids) - 1)
    assert cache.tokens == list(ids[:-1])


def test_the_chunks_grow_at_most_twofold(tiny_loaded):
    loaded = tiny_loaded()
    lengths = list(prefill(loaded.model, PrefixCache(loaded.model), IDS * 3, ChunkSize(16)))
    assert lengths[0] == 16
    assert all(after <= 2 * before for before, after in pairwise(lengths))
