"""Random conversations with every kind of layer: only what was never seen is read, and nothing is other than in a cold run."""

import functools

import pytest

from engine.cache.policy import CachePolicy
from tests.engine.cache.conversations import SLACK, Talks
from tests.models.tiny_kinds import CONFIGS, tiny

model_of = functools.cache(tiny)


def talks(kind, context, bits, seed, **more):
    return Talks(model_of(kind), CachePolicy(context, bits), seed, **more)


def converse(held, turns):
    for _ in range(turns):
        held.turn()
        assert held.excess[-1] <= SLACK, (held.read, held.unseen)
    assert sum(held.unseen) < sum(held.read) + 1
    return held


@pytest.mark.parametrize("context", [None, 40])
@pytest.mark.parametrize("kind", CONFIGS)
def test_only_what_was_never_seen_is_read_and_the_logits_are_a_cold_runs(kind, context):
    converse(talks(kind, context, "off", seed=1), 10)
