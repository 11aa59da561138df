"""A reply that outgrows its context: it goes on at fresh positions, and its figures say what was left behind."""

import time
from dataclasses import replace

import mlx.core as mx
import numpy as np
import pytest

from engine.cache.policy import CachePolicy
from engine.cache.prefix import PrefixCache
from engine.core.messages import Cancelled, Finished, TextDelta
from engine.core.settings import Sampling
from engine.inference.prompt_plan import Plan
from engine.inference.reply import Bench, Reply, Room
from tests.engine.talk import FixedChunk, agree, request, user
from tests.models.tiny_architectures import ARCHITECTURES

IDS = tuple(range(40, 70))
PINNED = 8
PLAN = Plan(IDS, PINNED, (PINNED, len(IDS) - 1), (PINNED - 2, 20, 24, 28))
FULL = Room(64, 64, rolls=True)


def bench_of(tiny_loaded, kind="growing", room=FULL, chunk=16):
    loaded = replace(tiny_loaded(kind), end_ids=frozenset())  # So that no reply ends by itself.
    return Bench(loaded, PrefixCache(loaded.model, CachePolicy(room.context), 1 << 30), FixedChunk(chunk), "hash")


def reply_of(bench, room=FULL, tokens=150, plan=PLAN, cancelled=lambda: False):
    sampling = Sampling(temperature=0.0, max_tokens=tokens)
    return Reply(
        bench,
        request([user("x")], sampling),
        plan,
        room,
        inside_reasoning=False,
        cancelled=cancelled,
        started=time.perf_counter(),
    )


def write(bench, room=FULL, tokens=150, plan=PLAN):
    """The facts of a whole reply, and its text."""
    events = list(reply_of(bench, room, tokens, plan).events())
    assert isinstance(events[-1], Finished)
    return events[-1].reply, "".join(event.text for event in events if isinstance(event, TextDelta))


def next_logits(bench, cache, ids):
    logits = bench.loaded.model(mx.array([ids]), cache=cache.layers)[0, -1]
    return np.array(logits.astype(mx.float32))


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_it_goes_on_at_fresh_positions_with_the_pinned_tokens_and_the_newest(tiny_loaded, kind):
    bench = bench_of(tiny_loaded, kind)
    facts, _ = write(bench)
    held, written = bench.cache.tokens, facts.output_ids
    assert (facts.finish_reason, facts.output_tokens, len(written)) == ("length", 150, 150)
    assert agree(bench.cache)
    assert len(held) < 64
    assert held[:PINNED] == list(IDS[:PINNED])
    newest = held[PINNED:]
    assert newest == list(written[-len(newest) - 1 : -1]), "the last one is not read before it is needed"
    assert len(newest) >= (64 - PINNED) // 2
    assert facts.dropped_tokens + len(held) == len(IDS) + 150 - 1
    cold = PrefixCache(bench.loaded.model, CachePolicy(64))
    cold.reuse([*held, 0], PINNED)
    np.testing.assert_allclose(next_logits(bench, bench.cache, [5]), next_logits(bench, cold, [*held, 5]), atol=1e-3)


def test_every_token_is_the_one_that_follows_what_the_context_holds(tiny_loaded):
    bench = bench_of(tiny_loaded)
    facts, _ = write(bench, tokens=100)
    written, held = list(facts.output_ids), list(IDS)
    for index, token in enumerate(written):
        cold = PrefixCache(bench.loaded.model, CachePolicy(64))
        cold.reuse([*held, 0], PINNED)
        if index % 9 == 0:
            assert int(next_logits(bench, cold, held).argmax()) == token, index
        held.append(token)
        if len(held) == 64:
            held = [*held[:PINNED], *held[-(64 - PINNED) // 2 - 1 :]]


def test_a_window_smaller_than_the_trained_length_drops_token_by_token_before(tiny_loaded):
    room = Room(40, 120, rolls=True)
    bench = bench_of(tiny_loaded, room=room)
    facts, _ = write(bench, room, tokens=60)
    held = len(bench.cache.tokens)
    assert held == len(IDS) + 60 - 1
    assert facts.dropped_tokens == held + 1 - 40
    facts, _ = write(bench, room, tokens=200)
    held = len(bench.cache.tokens)
    assert held < 120
    assert facts.dropped_tokens == len(IDS) + 200 - min(held + 1, 40)
    assert bench.cache.tokens[:PINNED] == list(IDS[:PINNED])


def test_the_messages_that_left_are_counted(tiny_loaded):
    bench = bench_of(tiny_loaded, room=Room(40, 400, rolls=True))
    for tokens, messages in ((10, 0), (21, 0), (22, 1), (25, 1), (26, 2), (29, 2), (30, 3), (90, 3)):
        facts, _ = write(bench, Room(40, 400, rolls=True), tokens)
        gone = len(IDS) + tokens - 40
        assert (facts.dropped_tokens, facts.dropped_messages) == (max(0, gone), messages), tokens


def test_what_was_left_out_of_the_prompt_counts_too(tiny_loaded):
    facts, _ = write(bench_of(tiny_loaded), Room(64, 64, rolls=True, left_out=4, left_out_tokens=90), tokens=5)
    assert (facts.dropped_tokens, facts.dropped_messages) == (90, 4)


@pytest.mark.parametrize("context", [64, 40])
def test_a_reply_that_may_not_roll_ends_where_the_context_is_full(tiny_loaded, context):
    room = Room(context, 64, rolls=False)
    bench = bench_of(tiny_loaded, room=room)
    facts, _ = write(bench, room)
    assert (facts.finish_reason, facts.dropped_tokens, facts.dropped_messages) == ("context", 0, 0)
    assert facts.prompt_tokens + facts.output_tokens == context


@pytest.mark.parametrize(("pinned", "reason"), [(50, "length"), (60, "length"), (61, "length"), (62, "context")])
def test_pinned_tokens_that_leave_little_room_never_make_it_endless(tiny_loaded, pinned, reason):
    ids = tuple(range(40, 40 + 63))
    bench = bench_of(tiny_loaded)
    facts, _ = write(bench, tokens=20, plan=Plan(ids, pinned, (pinned,), (len(ids),)))
    assert facts.finish_reason == reason
    assert agree(bench.cache)
    assert bench.cache.tokens[:pinned] == list(ids[:pinned])


def test_a_reply_that_ends_exactly_at_the_limit_reads_nothing_again(tiny_loaded):
    bench = bench_of(tiny_loaded)
    facts, _ = write(bench, tokens=64 - len(IDS))
    assert (facts.finish_reason, facts.dropped_tokens) == ("length", 0)
    assert len(bench.cache.tokens) == 63


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_a_cancel_while_it_reads_again_leaves_a_cache_that_is_right(tiny_loaded, kind):
    bench = bench_of(tiny_loaded, kind, chunk=4)
    asked = []

    def cancelled():  # Nothing is written while it reads again, so the count stays; the second time it is asked then, it stops.
        asked.append(len(reply._written))
        return asked[-3:].count(64 - len(IDS)) == 3

    reply = reply_of(bench, cancelled=cancelled)
    events = list(reply.events())
    facts = events[-1].reply
    assert isinstance(events[-1], Cancelled)
    assert facts.finish_reason == "cancelled"
    assert facts.output_tokens == 64 - len(IDS)
    assert agree(bench.cache)
    assert PINNED < len(bench.cache.tokens) < 30
    again, _ = write(bench, tokens=60)
    fresh, _ = write(bench_of(tiny_loaded, kind), tokens=60)
    assert again.output_ids == fresh.output_ids


def test_the_text_goes_on_where_it_was(tiny_loaded):
    facts, text = write(bench_of(tiny_loaded), tokens=90)
    tokenizer = bench_of(tiny_loaded).loaded.tokenizer
    whole = tokenizer.decode(list(facts.output_ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
    assert text == whole


def test_the_next_prompt_goes_on_from_the_pinned_tokens(tiny_loaded):
    bench = bench_of(tiny_loaded)
    write(bench)
    other = (*IDS[:PINNED], *range(100, 120))
    facts, _ = write(bench, tokens=4, plan=Plan(other, PINNED, (PINNED,), (len(other),)))
    assert facts.cached_tokens == PINNED
    facts, _ = write(bench, tokens=4)
    assert facts.cached_tokens == len(IDS) - 1
