"""A reply run again exactly: the same tokens whatever ran in between, also after a restart; else where it differs, and why."""

import random
from dataclasses import replace

import mlx.core as mx
import numpy as np
import pytest

from engine.cache.disk import DiskCache
from engine.core.facts import Message
from engine.core.messages import Cancelled, Finished, PrefillProgress, Replayed
from engine.core.settings import Sampling
from engine.session import Session
from tests.engine.talk import agree, ask, request, user
from tests.models.tiny_architectures import ARCHITECTURES

HELLO, MORE, OTHER = user("hello, what is the capital of France?"), user("and then?"), user("The quick brown fox jumps " * 12)
DRAWN = Sampling(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, max_tokens=24)
SAMPLINGS = {
    "greedy": Sampling(temperature=0.0, max_tokens=24),
    "drawn": DRAWN,
    "top-k and top-p": Sampling(temperature=1.3, top_k=20, top_p=0.9, min_p=0.0, max_tokens=24),
    "min-p and penalty": Sampling(temperature=0.8, min_p=0.1, repetition_penalty=1.3, max_tokens=24),
    "a seed": replace(DRAWN, seed=2**63 + 5),
}


def told(answer):
    """A whole reply as the next prompt has it."""
    return Message("assistant", answer.text, answer.facts.output_ids, answer.facts.fingerprint)


def again(session, answer, *messages, facts=None, **more):
    """Run a reply again and return what came of it."""
    facts = facts or answer.facts
    asked = request(messages, facts.sampling, facts.context, **{"kv_bits": facts.kv_bits, **more})
    events = list(session.generate(replace(asked, replay=facts)))
    assert isinstance(events[-1], Finished)
    assert agree(session)
    return events[-2]


def talk(session, sampling=DRAWN, **more):
    """Three turns whose later prompts are mostly known; return the conversation and its last answer."""
    messages = [HELLO]
    answer = ask(session, *messages, sampling=sampling, **more)
    for words in (MORE, user("tell me more about it, please")):
        messages += [told(answer), words]
        answer = ask(session, *messages, sampling=sampling, **more)
    return messages, answer


@pytest.mark.parametrize("name", SAMPLINGS)
def test_the_same_tokens_come_again_after_other_requests(tiny_loaded, name):
    session = Session(tiny_loaded())
    messages, answer = talk(session, SAMPLINGS[name])
    assert answer.facts.cached_tokens > 60
    ask(session, OTHER, sampling=DRAWN)
    ask(session, *messages[:1], sampling=DRAWN)
    replayed = again(session, answer, *messages)
    assert replayed == Replayed("reply", True, len(answer.facts.output_ids), "", "", ())


@pytest.mark.parametrize("name", ["greedy", "drawn"])
def test_the_same_tokens_come_again_where_nothing_is_cached_any_more(tiny_loaded, name):
    session = Session(tiny_loaded())
    messages, answer = talk(session, SAMPLINGS[name])
    replayed = again(Session(session.loaded), answer, *messages)
    assert (replayed.same, replayed.reasons) == (True, ())


@pytest.mark.parametrize("kind", ["sliding", "recurrent"])
def test_it_is_so_for_other_kinds_of_layers(tiny_loaded, kind):
    session = Session(tiny_loaded(kind))
    messages, answer = talk(session)
    ask(session, OTHER, sampling=DRAWN)
    assert again(session, answer, *messages).same
    assert again(Session(session.loaded), answer, *messages).same


@pytest.mark.parametrize("kv_bits", ["8", "8/4", "4"])
def test_it_is_so_with_a_quantized_cache(tiny_loaded, kv_bits):
    session = Session(tiny_loaded())
    messages, answer = talk(session, kv_bits=kv_bits)
    replayed = again(session, answer, *messages)
    assert (replayed.same, replayed.reasons) == (True, ())


def test_what_was_read_is_replayed_in_the_chunks_it_was_read_in(tiny_loaded):
    session = Session(tiny_loaded())
    session._bench.chunk_size.tokens = 16
    answer = ask(session, OTHER, sampling=DRAWN, prefill_chunk=16)
    assert len(answer.facts.chunks) > 3
    session._bench.chunk_size.tokens = 512
    ask(session, HELLO, sampling=DRAWN)
    before = len(session.cache.tree.branches())
    assert again(session, answer, OTHER).same
    assert len(session.cache.tree.branches()) <= before + 2
    assert session.cache.forwards(answer.facts.prompt_tokens - 1)[0] == (16, sum(answer.facts.chunks) // 16 * 16)


def rows(session, count):
    """The first rows of every layer's keys, bit for bit."""
    return [np.array(layer.keys[:, :, :count]).tobytes() for layer in session.cache.layers]


def test_what_is_computed_is_the_same_to_the_last_bit(tiny_loaded):
    session = Session(tiny_loaded())
    session._bench.chunk_size.tokens = 16
    messages, answer = talk(session, DRAWN, prefill_chunk=16)
    count = answer.facts.prompt_tokens
    then = rows(session, count)
    fresh = Session(session.loaded)
    assert again(fresh, answer, *messages).same
    assert rows(fresh, count) == then
    cold = Session(session.loaded)
    ask(cold, *messages, sampling=DRAWN)
    assert rows(cold, count) != then  # Otherwise this test could not fail.


def test_a_reply_after_an_edit_in_the_middle_of_a_chunk_comes_again(tiny_loaded):
    session = Session(tiny_loaded())
    first = user("The quick brown fox jumps over the lazy dog and more of that")
    ask(session, first, sampling=DRAWN)
    edited = user("The quick brown fox jumps over the lazy cat and something else entirely")
    answer = ask(session, edited, sampling=DRAWN)
    assert any(tokens % length for length, tokens in answer.facts.history)
    assert again(session, answer, edited).same
    assert again(Session(session.loaded), answer, edited).same


def test_it_is_so_after_a_restart_from_disk(tiny_loaded, tmp_path):
    loaded = tiny_loaded()

    def fresh():
        return Session(loaded, disk=DiskCache(tmp_path / "prefix", 1 << 30))

    session = fresh()
    messages, answer = talk(session)
    while session.cache.save():
        pass
    second = fresh()
    replayed = again(second, answer, *messages)
    assert (replayed.same, replayed.reasons) == (True, ())
    later = ask(second, *messages, told(answer), MORE, sampling=DRAWN)
    assert later.facts.cached_tokens > answer.facts.prompt_tokens
    assert all(length for length, _ in later.facts.history)
    third = fresh()
    assert again(third, later, *messages, told(answer), MORE).same


def test_a_stopped_reply_and_one_that_went_on_come_again(tiny_loaded):
    session = Session(tiny_loaded())
    stopped = ask(session, HELLO, sampling=DRAWN, stop_after=9)
    assert stopped.facts.finish_reason == "cancelled"
    assert again(session, stopped, HELLO).tokens == len(stopped.facts.output_ids)
    more = ask(session, HELLO, told(stopped), sampling=DRAWN)
    replayed = again(session, more, HELLO, told(stopped))
    assert (replayed.same, replayed.tokens) == (True, len(more.facts.output_ids) - len(stopped.facts.output_ids))


def test_a_reply_whose_window_was_read_again_comes_again(tiny_loaded):
    loaded = tiny_loaded()
    session = Session(replace(loaded, facts=replace(loaded.facts, context=128)))
    for seed in range(20):  # A random model ends its turn somewhere; most go on long enough.
        answer = ask(session, HELLO, sampling=replace(DRAWN, max_tokens=150, seed=seed), context=64)
        if answer.facts.reread:
            break
    assert answer.facts.reread
    ask(session, OTHER, sampling=DRAWN)
    assert again(session, answer, HELLO).same


def test_the_first_token_that_differs_is_told(tiny_loaded):
    session = Session(tiny_loaded())
    answer = ask(session, HELLO, sampling=DRAWN)
    ids = list(answer.facts.output_ids)
    decode = session.loaded.tokenizer.decode
    other = (ids[7] + 1) % 200
    facts = replace(answer.facts, output_ids=(*ids[:7], other, *ids[8:]))
    assert again(session, answer, HELLO, facts=facts) == Replayed("reply", False, 7, decode([other]), decode([ids[7]]), ())
    shorter = again(session, answer, HELLO, facts=replace(answer.facts, output_ids=tuple(ids[:5]), finish_reason="stop"))
    assert (shorter.same, shorter.tokens, shorter.expected, shorter.got) == (False, 5, "the end of the reply", decode([ids[5]]))
    longer = again(session, answer, HELLO, facts=replace(answer.facts, output_ids=(*ids, 5)))
    assert (longer.same, longer.tokens, longer.got) == (False, len(ids), "the end of the reply")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"fingerprint": "x"}, "Another model file"),
        ({"template_hash": "x"}, "chat template"),
        ({"prompt_hash": "x"}, "stands before the reply is another text"),
        ({"prompt_hash": ""}, "not recorded which tokens"),
        ({"made_with": (("MLX", "0.1"),)}, "0.1 then."),
        ({"made_with": (("Device", "Apple M9 (GPU)"),)}, "Apple M9 (GPU) then."),
        ({"made_with": ()}, "not recorded which version"),
        ({"history": ()}, "A different cache history"),
        ({"kv_bits": "8"}, "it was 8."),
        ({"context": 96}, "it held 96."),
    ],
)
def test_each_reason_is_told_when_its_fact_is_another(tiny_loaded, change, reason):
    session = Session(tiny_loaded())
    messages, answer = talk(session)
    replayed = again(session, answer, *messages, facts=replace(answer.facts, **change), kv_bits="off")
    if "context" in change:
        asked = replace(request(messages, answer.facts.sampling, answer.facts.context), replay=replace(answer.facts, **change))
        replayed = list(session.generate(asked))[-2]
    assert len(replayed.reasons) == 1
    assert reason in replayed.reasons[0]


def test_another_seed_and_another_prompt_come_out_differently(tiny_loaded):
    session = Session(tiny_loaded())
    answer = ask(session, HELLO, sampling=DRAWN)
    facts = replace(answer.facts, sampling=replace(answer.facts.sampling, seed=(answer.facts.seed + 1) % 2**32))
    assert not again(session, answer, HELLO, facts=facts).same
    other = again(session, answer, OTHER)
    assert not other.same
    assert len(other.reasons) == 1


def test_another_policy_leaves_the_cache_in_use_alone(tiny_loaded):
    session = Session(tiny_loaded())
    answer = ask(session, HELLO, sampling=DRAWN, kv_bits="8")
    ask(session, OTHER, sampling=DRAWN)
    cache, tokens = session.cache, list(session.cache.tokens)
    assert again(session, answer, HELLO).same
    assert session.cache is cache
    assert session.cache.tokens == tokens


def test_a_replay_can_be_cancelled_and_tells_its_progress(tiny_loaded):
    session = Session(tiny_loaded())
    answer = ask(session, OTHER, sampling=DRAWN)
    asked = replace(request([OTHER], answer.facts.sampling, answer.facts.context), replay=answer.facts)
    events = list(Session(session.loaded).generate(asked, lambda: True))
    assert isinstance(events[-1], Cancelled)
    assert not any(isinstance(event, Replayed) for event in events)
    events = list(Session(session.loaded).generate(asked))
    assert any(isinstance(event, PrefillProgress) for event in events)


def test_global_random_state_plays_no_part(tiny_loaded):
    session = Session(tiny_loaded())
    answer = ask(session, HELLO, sampling=DRAWN)
    mx.random.seed(12345)
    mx.random.uniform(shape=(8,))
    assert again(session, answer, HELLO).same


@pytest.mark.parametrize("seed", range(6))
def test_after_any_requests_every_reply_comes_again(tiny_loaded, seed):
    chance = random.Random(seed)
    loaded = tiny_loaded(chance.choice(list(ARCHITECTURES)))
    kv_bits, context = chance.choice(["off", "8", "8/4", "4"]), chance.choice([None, 96, 160])
    session = Session(loaded)
    session._bench.chunk_size.tokens = chance.choice([16, 32, 64])
    talks, made = [()], []
    for _ in range(5):
        words = " ".join(chance.choices(["hello", "world", "the", "quick", "fox", "Paris", "then"], k=chance.randint(2, 25)))
        messages = (*chance.choice(talks), user(words))
        stop = chance.choice([None, None, 5])
        answer = ask(session, *messages, sampling=DRAWN, context=context, kv_bits=kv_bits, stop_after=stop)
        made.append((messages, answer))
        if answer.text.strip():
            talks.append((*messages, told(answer)))
    for messages, answer in made:
        for place in (session, Session(loaded)):
            replayed = again(place, answer, *messages)
            assert (replayed.same, replayed.reasons) == (True, ())
