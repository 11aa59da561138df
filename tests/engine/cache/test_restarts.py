"""Random conversations, with a new start from disk between turns: nothing that was seen is read again, and no logit is another."""

import functools

import pytest

from engine.cache.policy import CachePolicy
from tests.engine.cache.conversations import SLACK, Talks
from tests.engine.cache.shelves import opened, save
from tests.models.tiny_kinds import CONFIGS, tiny

model_of = functools.cache(tiny)


def converse(folder, kind, context, bits, seed, turns):
    held = Talks(model_of(kind), CachePolicy(context, bits), seed)
    held.cache = opened(held.model, folder, context=context, bits=bits)
    for _ in range(turns):
        held.turn()
        if held.random.random() < 0.7:
            save(held.cache)
            held.cache = opened(held.model, folder, context=context, bits=bits)
    return held


@pytest.mark.parametrize("context", [None, 40])
@pytest.mark.parametrize("kind", ["gpt_oss", "llama4", "qwen3_next"])
def test_restarts_between_turns_change_nothing(tmp_path, kind, context):
    held = converse(tmp_path, kind, context, "off", 1, 5)
    assert max(held.excess) <= SLACK, held.excess


@pytest.mark.parametrize("kind", ["gemma3", "qwen3_next"])
def test_restarts_with_quantized_rows(tmp_path, kind):
    held = converse(tmp_path, kind, 100, "8", 2, 5)
    assert max(held.excess) <= SLACK, held.excess


@pytest.mark.heavy
@pytest.mark.parametrize("bits", ["off", "8"])
@pytest.mark.parametrize("context", [None, 24])
@pytest.mark.parametrize("kind", CONFIGS)
def test_many_more_restarts(tmp_path, kind, context, bits):
    held = converse(tmp_path, kind, context, bits, 3, 12)
    assert max(held.excess) <= 40, held.excess
