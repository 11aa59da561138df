"""Random conversations with every kind of layer: only what was never seen is read, and nothing is other than in a cold run."""

import functools
from functools import partial

import mlx.core as mx
import numpy as np
import pytest

from engine.cache import layers as kinds
from engine.cache.disk import DiskCache
from engine.cache.policy import CachePolicy
from engine.cache.prefix import LEAST_KEPT, PrefixCache
from engine.cache.shelf import Shelf
from engine.cache.window import WindowCache
from tests.engine.cache.conversations import SLACK, SYSTEM, Talks, arrays_kept, cold, feed, offsets_agree, whole
from tests.models.tiny_kinds import CONFIGS, tiny

model_of = functools.cache(tiny)
QUANTIZED = ("gemma3", "gpt_oss", "deepseek_v3", "qwen3_next")
"""Kinds with rows wide enough to be quantized."""
FEW = ("llama", "gpt_oss", "llama4", "falcon_h1")
"""One of each: growing, sliding, chunked, recurrent."""
RECURRENT = ("qwen3_next", "falcon_h1", "nemotron_h")
CHANGED = CachePolicy(40)


def talks(kind, context=None, bits="off", seed=1, **more):
    return Talks(model_of(kind), CachePolicy(context, bits), seed, **more)


def converse(held, turns):
    for _ in range(turns):
        held.turn()
        assert held.excess[-1] <= SLACK, (held.read, held.unseen)
    assert sum(held.read) - held.read[0] < sum(map(len, held.seen)) / 2
    return held


@pytest.mark.parametrize("context", [None, 40])
@pytest.mark.parametrize("kind", CONFIGS)
def test_only_what_was_never_seen_is_read_and_the_logits_are_a_cold_runs(kind, context):
    converse(talks(kind, context), 6)


@pytest.mark.parametrize("context", [None, 100])
@pytest.mark.parametrize("kind", QUANTIZED)
def test_quantized_rows_are_reused_and_the_logits_are_close_to_a_cold_runs(kind, context):
    held = converse(talks(kind, context, "8"), 7)
    assert any(layer.rows.aged and not layer.rows.plain for layer in windows(held.cache))


@pytest.mark.heavy
@pytest.mark.parametrize("bits", ["off", "8"])
@pytest.mark.parametrize("context", [None, 24, 40, 100])
@pytest.mark.parametrize("kind", CONFIGS)
def test_many_more_random_conversations(kind, context, bits):
    for seed in range(2, 5):
        converse(talks(kind, context, bits, seed), 20)


@pytest.mark.parametrize("limit", [0, 40_000])
@pytest.mark.parametrize("kind", FEW)
def test_what_was_given_up_is_read_again_and_never_wrong(kind, limit):
    held = talks(kind, 40, seed=3, limit=limit)
    for _ in range(6):
        held.turn()
        assert held.cache.kept_bytes <= limit
    free = talks(kind, 40, seed=3)
    for _ in range(6):
        free.turn()
    assert sum(held.read) > sum(free.read)
    assert free.cache.kept_bytes > limit


@pytest.mark.parametrize("kind", FEW)
def test_what_a_prompt_goes_on_from_is_not_given_up_while_the_one_before_is_kept(kind):
    held = talks(kind)
    one, two = ([held.systems[number], held.tokens(60, 60)] for number in (0, 1))
    held.ask(one)
    held.ask(two)
    held.cache.limit = max(held.cache.kept_bytes, held.cache.nbytes) + 8
    held.ask([*one, held.tokens(20, 20)])
    assert held.excess[-1] <= SLACK
    assert held.cache.kept_bytes <= held.cache.limit


@pytest.mark.parametrize("kind", RECURRENT)
def test_an_edit_after_a_long_reply_goes_on_where_the_reply_ended(kind):
    held = talks(kind)
    chat = held.new_chat()
    held.ask(chat)
    chat.append(held.reply(40))
    held.ask([*chat, held.tokens(20)])
    held.reply(5)
    held.ask([*chat, held.tokens(12, 12)])
    assert held.excess[-1] <= 1


@pytest.mark.parametrize("chunk", [64, 300])
@pytest.mark.parametrize("context", [None, 40])
@pytest.mark.parametrize("kind", FEW)
def test_marks_are_where_a_prompt_that_was_read_in_large_chunks_can_be_gone_back_to(kind, context, chunk):
    held = talks(kind, context)
    model, cache = held.model, held.cache
    ids = held.tokens(200, 200)
    cache.reuse(ids, SYSTEM)
    feed(model, cache, ids, chunk, marks=(SYSTEM, 90, 150))
    for mark in (150, 90, SYSTEM):
        other = [*ids[:mark], *held.tokens(20, 20)]
        assert cache.reuse(other, SYSTEM) >= mark - 1, mark
        logits = feed(model, cache, other[len(cache.tokens) :], chunk)
        np.testing.assert_allclose(logits, cold(model, held.policy, other, SYSTEM), atol=1e-3)


# -- memory -------------------------------------------------------------------------------------------------------------


def windows(cache):
    return [layer for layer in kinds.single(cache.layers) if isinstance(layer, WindowCache)]


def within_bounds(cache):
    """No layer has room for more rows than it may ever hold."""
    bounded = [window for window in windows(cache) if window.most_rows is not None]
    return all(side.capacity <= window.most_rows for window in bounded for side in window.rows.sides)


@pytest.mark.parametrize(("kind", "context", "bits"), [(kind, 40, "off") for kind in FEW] + [("gpt_oss", 100, "8")])
def test_the_bytes_kept_are_those_of_the_pieces_and_the_live_layers_stay_within_their_bound(kind, context, bits):
    held = talks(kind, context, bits, seed=4)
    cache = held.cache
    for _ in range(8):
        held.turn()
        assert cache.kept_bytes == sum(array.nbytes for array in arrays_kept(cache))
        assert within_bounds(cache)
    kept, live = cache.kept_bytes, cache.nbytes
    mx.clear_cache()
    before = mx.get_active_memory()
    cache.forget()
    given = before - mx.get_active_memory()
    assert (cache.kept_bytes, cache.nbytes) == (0, 0)
    assert kept + live <= given <= 1.1 * (kept + live) + 100_000, "no row pins the memory of others"


def test_a_branch_of_a_few_tokens_is_not_kept_and_one_of_more_is():
    held = talks("llama")
    ids = held.tokens(60, 60)
    cache = held.cache

    def read_and_leave(count):
        longer = [*ids, *held.tokens(count, count)]
        known = cache.reuse(longer, SYSTEM)
        feed(held.model, cache, longer[known:], 16)
        cache.reuse([*ids, longer[60] + 1, 0], SYSTEM)
        return longer

    read_and_leave(LEAST_KEPT - 1)
    assert (len(cache.tree.branches()), cache.kept_bytes) == (1, 0)
    longer = read_and_leave(LEAST_KEPT)
    assert cache.kept_bytes > 0
    assert cache.reuse([*longer, 0], SYSTEM) == len(longer)


def test_branches_that_hold_nothing_are_forgotten():
    held = talks("falcon_h1")
    chat = held.new_chat()
    for _ in range(10):
        held.ask(chat)
        held.reply(5)
        held.cache.drop()
    assert len(held.cache.tree.branches()) <= 2


def test_memory_is_given_back_when_asked():
    held = talks("llama", 40)
    for _ in range(6):
        held.turn()
    kept, live = held.cache.kept_bytes, held.cache.nbytes
    assert held.cache.shrink(kept) == 0
    given = held.cache.shrink(kept // 2)
    assert given >= kept - kept // 2
    assert held.cache.kept_bytes == kept - given
    assert held.cache.shrink(0) == kept - given
    assert (held.cache.kept_bytes, held.cache.nbytes) == (0, live)
    held.turn()


def test_the_branch_used_longest_ago_goes_first():
    held = talks("llama")
    cache, chats = held.cache, [held.tokens(50, 50) for _ in range(3)]
    for ids in (*chats, [*chats[0], 1]):
        feed(held.model, cache, ids[cache.reuse(ids, SYSTEM) :], 16)
    cache.shrink(cache.kept_bytes - 1)
    assert [cache.reuse(ids) for ids in (chats[0], chats[2], chats[1])] == [49, 49, 0]


# -- what goes wrong ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FEW)
def test_after_an_exception_what_was_kept_before_is_whole(kind):
    held = talks(kind, 40)
    first = [held.systems[0], held.tokens(20, 20)]
    held.ask(first)
    first.append(held.reply(30))
    held.ask([held.systems[1], held.tokens(20, 20)])
    held.cache.before(4)
    for layer in windows(held.cache)[:1]:  # As when a forward fails half way: the first layer has rows, the others none.
        rows = mx.zeros((1, 1, 4, 16))
        layer.rows.sides.clear()
        layer.update_and_fetch(rows, rows)
    held.cache.drop()
    assert (held.cache.tokens, held.cache.nbytes) == ([], 0)
    held.ask([*first, held.tokens(10)])
    assert held.excess[-1] <= SLACK


def test_forgetting_leaves_nothing_to_go_on_from():
    held = talks("llama", 40)
    for _ in range(4):
        held.turn()
    held.cache.forget()
    assert held.cache.reuse([token for message in held.chats[0] for token in message] + [0], SYSTEM) == 0
    assert held.cache.kept_bytes == 0


def test_a_cache_of_another_policy_begins_anew():
    held = talks("llama", 60)
    for _ in range(3):
        held.turn()
    other = Talks(held.model, CHANGED, 5)
    other.chats = held.chats
    other.ask([*held.chats[0], held.tokens(60, 60)])
    assert other.excess == [0]


@pytest.mark.parametrize("first", [SYSTEM, 20])
@pytest.mark.parametrize("kind", ["llama", "gpt_oss", "falcon_h1"])
def test_rows_that_were_read_with_other_tokens_pinned_are_read_again(kind, first):
    held = talks(kind, 40)
    ids = held.tokens(120, 120)
    held.prompt(ids, pinned=first)
    second = SYSTEM + 20 - first
    longer = [*ids, *held.tokens(30, 30)]
    known = held.prompt(longer, pinned=second)
    assert known <= 40
    assert held.prompt([*longer, 1, 2], pinned=second) == len(longer)
    held.prompt([*ids, 3, 4], pinned=first)


def test_on_disk_too_rows_that_were_read_with_other_tokens_pinned_are_told_apart(tmp_path):
    shelf = partial(Shelf, DiskCache(tmp_path, 1 << 30), {"kind": "llama"})
    first = talks("llama", 40)
    first.cache.attach(shelf())
    ids = first.tokens(120, 120)
    first.prompt(ids, pinned=SYSTEM)
    while first.cache.save():
        pass
    for pinned, known in ((SYSTEM, 120), (20, 40)):
        other = talks("llama", 40)
        other.cache.attach(shelf())
        assert other.prompt([*ids, 1, 2], pinned=pinned) == known


def test_nothing_but_the_last_token_of_an_empty_prompt_or_a_single_one_is_read():
    cache = PrefixCache(model_of("llama"), limit=1 << 30)
    assert cache.reuse([5]) == 0
    feed(model_of("llama"), cache, [5], 16)
    assert cache.reuse([5]) == 0
    assert offsets_agree(cache)
    assert whole(cache)
