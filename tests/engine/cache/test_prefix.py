"""What is kept of the conversation before, and when it must be given up."""

import mlx.core as mx
import numpy as np
import pytest

from engine.cache.prefix import PrefixCache, common_prefix
from engine.inference.prefill import prefill
from tests.engine.talk import FixedChunk, agree
from tests.models.tiny_architectures import ARCHITECTURES

IDS = tuple(range(30, 130))


def filled(loaded, ids=IDS):
    cache = PrefixCache(loaded.model)
    read(loaded, cache, ids)
    return cache


def read(loaded, cache, ids):
    """Read every one of `ids` into the cache."""
    for _ in prefill(loaded.model, cache, [*ids, 0], FixedChunk(16)):
        pass


def logits(loaded, cache, index):
    result = loaded.model(mx.array([[index]]), cache=cache.layers)[0, -1]
    cache.extend([index])
    return np.array(result)


@pytest.mark.parametrize(
    ("left", "right", "length"),
    [
        ([], [], 0),
        ([1], [], 0),
        ([1, 2], [1, 2], 2),
        ([1, 2, 3], [1, 2], 2),
        ([1, 2], [1, 3], 1),
        ([2], [1], 0),
        ((1, 2), [1, 2, 3], 2),
    ],
)
def test_the_common_prefix_is_the_leading_ids_that_agree(left, right, length):
    assert common_prefix(left, right) == length


def test_a_new_cache_knows_nothing(tiny_loaded):
    cache = PrefixCache(tiny_loaded().model)
    assert (cache.tokens, cache.nbytes, cache.reuse(IDS)) == ([], 0, 0)


def test_reuse_rewinds_to_what_agrees(tiny_loaded):
    cache = filled(tiny_loaded())
    assert cache.reuse((*IDS[:40], 7, 8, 9)) == 40
    assert cache.tokens == list(IDS[:40])
    assert agree(cache)


def test_the_last_id_is_always_left_to_be_read(tiny_loaded):
    cache = filled(tiny_loaded())
    assert cache.reuse(IDS) == len(IDS) - 1
    assert cache.reuse(IDS[:1]) == 0
    assert cache.tokens == []


def test_a_longer_prompt_needs_no_rewind(tiny_loaded):
    cache = filled(tiny_loaded())
    assert cache.reuse((*IDS, 5)) == len(IDS)


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_a_rewind_is_right_or_nothing_is_reused(tiny_loaded, kind):
    loaded = tiny_loaded(kind)
    cache = filled(loaded)
    known = cache.reuse((*IDS[:60], 7))
    assert known <= 60
    assert cache.tokens == list(IDS[:known])
    assert agree(cache)
    read(loaded, cache, IDS[known:60])
    np.testing.assert_allclose(logits(loaded, cache, 7), logits(loaded, filled(loaded, IDS[:60]), 7), atol=1e-3)


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_a_cache_of_any_kind_goes_on_where_nothing_must_be_rewound(tiny_loaded, kind):
    loaded = tiny_loaded(kind)
    cache = filled(loaded)
    assert cache.reuse((*IDS, 5, 6)) == len(IDS)
    read(loaded, cache, [5])
    cold = filled(loaded, (*IDS, 5))
    np.testing.assert_allclose(logits(loaded, cache, 6), logits(loaded, cold, 6), atol=1e-3)


def test_dropping_forgets_everything(tiny_loaded):
    cache = filled(tiny_loaded())
    assert cache.nbytes > 0
    cache.drop()
    assert (cache.tokens, cache.nbytes) == ([], 0)
