"""The caches that each kind of model gets, and that the model works with them as with its own."""

import itertools

import mlx.core as mx
import numpy as np
import pytest
from mlx_lm.models.cache import ArraysCache, CacheList, ChunkedKVCache, KVCache, RotatingKVCache, make_prompt_cache

from engine.cache import layers
from engine.cache.chunked import ChunkedCache
from engine.cache.make import LARGEST_PLAIN, make_cache
from engine.cache.policy import CachePolicy
from engine.cache.window import WindowCache
from tests.models.tiny_kinds import CONFIGS, VOCABULARY, tiny

IDS = np.random.default_rng(3).integers(0, VOCABULARY, 150).tolist()
CHUNKINGS = {"one by one": [10, *[1] * 75, 65], "mixed": [20, 1, 1, 40, 7, 1, 50, 30], "at once": [150]}


@pytest.fixture(scope="module")
def model():
    """A function from a kind to its tiny random model."""
    made = {}

    def get(kind):
        if kind not in made:
            made[kind] = tiny(kind)
        return made[kind]

    return get


class Listed:
    """Stands for a model: it makes the caches it was given."""

    model_type = "listed"

    def __init__(self, *caches):
        self.caches = caches

    def make_cache(self):
        return list(self.caches)


def logits(model, caches, chunks, ids=IDS):
    """The logits after every token [tokens, vocabulary], read chunk by chunk."""
    found, position = [], 0
    for count in chunks:
        found.append(model(mx.array([ids[position : position + count]]), cache=caches)[0])
        mx.eval(found[-1], [cache.state for cache in caches])
        position += count
    return np.array(mx.concatenate(found))


@pytest.mark.parametrize("chunking", CHUNKINGS)
@pytest.mark.parametrize("kind", CONFIGS)
def test_every_kind_of_model_works_as_with_its_own_cache(model, kind, chunking):
    own = logits(model(kind), make_prompt_cache(model(kind)), CHUNKINGS[chunking])
    ours = logits(model(kind), make_cache(model(kind), CachePolicy(context=512, pinned=10)), CHUNKINGS[chunking])
    assert own.std() > 0.05
    np.testing.assert_allclose(ours, own, atol=1e-3)


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_context_that_wrapped_gives_the_same_in_any_chunking(model, kind):
    policy = CachePolicy(context=40, pinned=6)
    first, *others = (logits(model(kind), make_cache(model(kind), policy), chunks) for chunks in CHUNKINGS.values())
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-3)


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_kind_of_model_works_quantized(model, kind):
    exact = logits(model(kind), make_cache(model(kind), CachePolicy()), CHUNKINGS["mixed"])
    for kv_bits, at_most in (("8", 0.05), ("8/4", 0.6)):
        found = logits(model(kind), make_cache(model(kind), CachePolicy(kv_bits=kv_bits)), CHUNKINGS["mixed"])
        # Random weights magnify rounding, and an indexer may choose other tokens: the most of it has to agree.
        assert np.median(np.abs(found - exact)) <= at_most * exact.std()


@pytest.mark.parametrize("kind", CONFIGS)
def test_going_back_gives_what_a_cold_run_gives(model, kind):
    policy = CachePolicy(context=60, pinned=6)
    caches = make_cache(model(kind), policy)
    logits(model(kind), caches, [50, 30, *[1] * 10])
    marks = [layers.snapshot(cache) for cache in caches]
    logits(model(kind), caches, [1, 40, 1, 1], IDS[::-1])
    for cache, mark in zip(caches, marks, strict=True):
        layers.restore(cache, mark)
    warm = logits(model(kind), caches, [5, *[1] * 10], IDS[90:105])
    cold = logits(model(kind), make_cache(model(kind), policy), [105])[90:]
    np.testing.assert_allclose(warm, cold, atol=1e-3)


@pytest.mark.parametrize("kind", [kind for kind in CONFIGS if kind not in ("qwen3_next", "falcon_h1", "nemotron_h")])
def test_a_trim_gives_what_a_cold_run_gives(model, kind):
    policy = CachePolicy(context=60, pinned=6)
    caches = make_cache(model(kind), policy)
    logits(model(kind), caches, [80, *[1] * 20, 10], IDS[:100] + IDS[:10])
    assert layers.trim(caches, 10)
    warm = logits(model(kind), caches, [*[1] * 10], IDS[100:110])
    cold = logits(model(kind), make_cache(model(kind), policy), [110])[100:]
    np.testing.assert_allclose(warm, cold, atol=1e-3)


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_bound_is_kept_however_long_it_gets(model, kind):
    caches = make_cache(model(kind), CachePolicy(context=40))
    sizes = []
    for length in itertools.chain([150], [1] * 20, [150, 70, 1]):
        logits(model(kind), caches, [length])
        sizes.append(layers.nbytes(caches))
    assert layers.bounded(caches)
    assert max(sizes[1:]) <= 1.05 * sizes[1]


# One kind of cache at a time


def replaced(cache, **policy):
    return make_cache(Listed(cache), CachePolicy(**policy))[0]


def test_a_growing_layer_is_bounded_and_quantized_as_the_policy_says():
    cache = replaced(KVCache(), context=5000, kv_bits="8", pinned=30)
    assert isinstance(cache, WindowCache)
    assert (cache.window, cache.pinned, cache.sliding) == (5000, 30, False)
    assert replaced(KVCache()).window is None
    assert not layers.bounded([replaced(KVCache())])


@pytest.mark.parametrize(("size", "rounded"), [(LARGEST_PLAIN, False), (LARGEST_PLAIN + 1, True)])
def test_a_sliding_layer_keeps_its_own_window_and_is_quantized_only_where_it_is_long(size, rounded):
    cache = replaced(RotatingKVCache(size), context=50_000, kv_bits="4", pinned=30)
    assert (cache.window, cache.pinned, cache.sliding) == (size, 0, True)
    keys = mx.random.normal((1, 1, 200, 64))
    cache.update_and_fetch(keys, keys + 0)
    again, _ = cache.update_and_fetch(keys[..., :1, :], keys[..., :1, :] + 0)
    assert bool((again[..., :200, :] != keys).any()) == rounded


def test_a_context_shorter_than_a_sliding_window_is_obeyed():
    cache = replaced(RotatingKVCache(4096), context=300, pinned=30)
    assert (cache.window, cache.pinned, cache.sliding) == (300, 30, False)


def test_a_chunked_layer_keeps_its_chunk():
    cache = replaced(ChunkedKVCache(8192), context=300, pinned=30, kv_bits="8")
    assert isinstance(cache, ChunkedCache)
    assert (cache.window, cache.pinned) == (8192, 0)


def test_a_list_of_caches_is_replaced_one_by_one_and_a_recurrent_state_left_alone():
    state = ArraysCache(2)
    cache = replaced(CacheList(state, KVCache()), context=100)
    assert isinstance(cache, CacheList)
    assert cache[0] is state
    assert isinstance(cache[1], WindowCache)


def test_a_cache_of_a_models_own_making_is_left_alone():
    from mlx_lm.models.deepseek_v41 import LayerCache

    own = LayerCache(16)
    assert replaced(own, context=100, kv_bits="8") is own


def test_the_model_is_never_asked_for_a_bounded_or_quantized_cache_of_its_own(model):
    kinds = {type(cache) for kind in CONFIGS for cache in layers.single(make_cache(model(kind), CachePolicy(100, "8", 5)))}
    assert kinds == {WindowCache, ChunkedCache, ArraysCache}


def test_a_model_that_counts_rows_for_positions_never_drops_any():
    counting = Listed(KVCache())
    counting.model_type = "afm7"
    cache = make_cache(counting, CachePolicy(context=100, pinned=5, kv_bits="8"))[0]
    assert cache.window is None
