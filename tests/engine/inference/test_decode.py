"""Writing a reply, a token a step, the next step on its way."""

import mlx.core as mx
import pytest

from engine.cache.prefix import PrefixCache
from engine.core.settings import Sampling
from engine.inference.decode import decode
from engine.inference.prefill import ChunkSize, prefill
from engine.inference.sampling import Sampler
from tests.engine.talk import agree
from tests.models.tiny_architectures import ARCHITECTURES

PROMPT = tuple(range(40, 70))
GREEDY = Sampling(temperature=0.0)


def begun(loaded, limit):
    cache = PrefixCache(loaded.model)
    for _ in prefill(loaded.model, cache, PROMPT, ChunkSize()):
        pass
    return cache, decode(loaded.model, cache, PROMPT[-1], Sampler(GREEDY, 0, PROMPT), limit)


def plainly(loaded, count):
    """The likeliest ids, each from a forward pass over everything before it and no cache."""
    ids = list(PROMPT)
    for _ in range(count):
        ids.append(int(mx.argmax(loaded.model(mx.array([ids]))[0, -1]).item()))
    return ids[len(PROMPT) :]


def test_the_ids_are_those_of_plain_forward_passes_without_a_cache(tiny_loaded):
    _, tokens = begun(tiny_loaded(), 12)
    assert list(tokens) == plainly(tiny_loaded(), 12)


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_at_every_yield_the_layers_hold_what_the_record_says(tiny_loaded, kind):
    cache, tokens = begun(tiny_loaded(kind), 40)
    written = []
    for token in tokens:
        written.append(token)
        held = written if len(written) < 40 else written[:-1]
        assert cache.tokens == [*PROMPT, *held]
        assert agree(cache)
    assert len(written) == 40


@pytest.mark.parametrize("taken", [1, 2, 9])
def test_closing_it_at_any_id_leaves_the_prompt_and_what_was_taken(tiny_loaded, taken):
    cache, tokens = begun(tiny_loaded(), 40)
    written = [next(tokens) for _ in range(taken)]
    tokens.close()
    assert cache.tokens == [*PROMPT, *written]
    assert agree(cache)
    again = decode(tiny_loaded().model, cache, 7, Sampler(GREEDY, 0, ()), 3)
    list(again)
    assert cache.tokens[len(PROMPT) + taken] == 7
    assert agree(cache)


def test_a_limit_of_one_builds_no_second_step(tiny_loaded):
    cache, tokens = begun(tiny_loaded(), 1)
    assert len(list(tokens)) == 1
    assert cache.tokens == list(PROMPT)
    assert agree(cache)


def test_one_that_was_never_started_changes_nothing(tiny_loaded):
    cache, tokens = begun(tiny_loaded(), 5)
    tokens.close()
    assert cache.tokens == list(PROMPT[:-1])
    assert agree(cache)


def test_every_id_is_drawn_by_the_sampler_that_sees_all_before_it(tiny_loaded):
    loaded = tiny_loaded()
    cache, _ = begun(loaded, 1)
    penalized = Sampling(temperature=0.0, repetition_penalty=2.0, repetition_window=4096)
    written = list(decode(loaded.model, cache, PROMPT[-1], Sampler(penalized, 0, PROMPT), 60))
    expected, ids = [], list(PROMPT)
    for _ in range(60):
        scores = loaded.model(mx.array([ids]))[0, -1]
        seen = mx.array(sorted(set(ids)))
        scores[seen] = mx.where(scores[seen] > 0, scores[seen] / 2, scores[seen] * 2)
        ids.append(int(mx.argmax(scores).item()))
        expected.append(ids[-1])
    assert written == expected
