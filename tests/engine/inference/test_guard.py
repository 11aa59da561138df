"""A reply whose memory is not there is refused before anything is read, with what would make it fit."""

from dataclasses import replace

import pytest

import engine.session
from engine.core.errors import OutOfMemory
from engine.core.messages import Finished, MemoryRefused
from engine.core.settings import BY_NAME, Sampling
from engine.hardware.meters import read_memory
from engine.inference.guard import expected, refusal
from engine.session import Session
from tests.engine.talk import ask, prompt_ids, request, user

GREEDY = Sampling(temperature=0.0, max_tokens=64)
LONG = user("The quick brown fox jumps over the lazy dog. " * 8)


@pytest.fixture
def session(tiny_loaded):
    return Session(tiny_loaded())


def with_budget(monkeypatch, budget):
    monkeypatch.setattr(engine.session, "read_memory", lambda *a, **k: replace(read_memory(*a, **k), budget=budget))


def need(session, tokens=400, chunk=None):
    return expected(session.loaded, tokens=tokens, kv_bits="off", chunk=chunk).peak_bytes


def just_too_little(session):
    """A byte less than a reply of 100 tokens to `LONG` takes."""
    length = len(prompt_ids(session, LONG))
    return need(session, tokens=length + 100, chunk=length) - 1


def test_what_a_token_was_seen_to_take_counts_where_it_is_more_than_expected(tiny_loaded):
    loaded = tiny_loaded()
    usual = expected(loaded, tokens=1024, kv_bits="off", chunk=64)
    seen = replace(loaded.facts, kv_bytes_per_token=3 * loaded.facts.kv_bytes_per_token)
    more = expected(replace(loaded, facts=seen), tokens=1024, kv_bits="off", chunk=64)
    assert more.kv_bytes == 3 * usual.kv_bytes
    assert more.peak_bytes > usual.peak_bytes


def test_what_fits_is_answered(session, monkeypatch):
    with_budget(monkeypatch, 10 * need(session))
    assert isinstance(list(session.generate(request([LONG], GREEDY)))[-1], Finished)


def test_what_does_not_fit_is_refused_with_its_figures_and_nothing_is_read(session, monkeypatch):
    with_budget(monkeypatch, session.loaded.facts.weights_bytes + 1000)
    events = []
    with pytest.raises(OutOfMemory, match="Nothing has been read") as caught:
        events.extend(session.generate(request([LONG], GREEDY)))
    assert caught.value.hint
    assert session.cache.tokens == []


def test_the_refusal_comes_as_an_event_whose_choices_are_settings(session, monkeypatch):
    with_budget(monkeypatch, just_too_little(session))
    seen = []
    with pytest.raises(OutOfMemory):
        seen.extend(session.generate(request([LONG], Sampling(max_tokens=100), prefill_chunk=None)))
    refused = seen[-1]
    assert isinstance(refused, MemoryRefused)
    assert refused.weights_bytes == session.loaded.facts.weights_bytes
    assert refused.weights_bytes + refused.kv_bytes + refused.prefill_bytes > refused.budget_bytes
    assert refused.arithmetic
    assert refused.choices
    for choice in refused.choices:
        assert choice.peak_bytes <= refused.budget_bytes
        assert all(BY_NAME[name].check(value) is not None for name, value in choice.changes)


def test_a_choice_that_was_taken_fits(session, monkeypatch):
    with_budget(monkeypatch, just_too_little(session))
    seen = []
    with pytest.raises(OutOfMemory):
        seen.extend(session.generate(request([LONG], Sampling(max_tokens=100))))
    taken = {name: BY_NAME[name].check(value) for name, value in seen[-1].choices[0].changes}
    context = taken.pop("context", None)
    again = list(session.generate(request([LONG], Sampling(temperature=0.0, max_tokens=100), context, **taken)))
    assert isinstance(again[-1], Finished)


def test_it_is_made_all_the_same_when_somebody_insists(session, monkeypatch):
    with_budget(monkeypatch, 1)
    assert isinstance(list(session.generate(request([LONG], GREEDY, memory_guard="off")))[-1], Finished)


def test_what_does_not_fit_is_made_to_fit_where_that_was_chosen(session, monkeypatch):
    with_budget(monkeypatch, just_too_little(session))
    refused = []
    with pytest.raises(OutOfMemory):
        refused.extend(session.generate(request([LONG], Sampling(temperature=0.0, max_tokens=100))))
    wanted = {name: BY_NAME[name].check(value) for name, value in refused[-1].choices[0].changes}
    asked = request([LONG], Sampling(temperature=0.0, max_tokens=100), memory_guard="adapt")
    events = list(session.generate(asked))
    assert isinstance(events[-1], Finished)
    assert not any(isinstance(event, MemoryRefused) for event in events)
    facts = events[-1].reply
    chunks = max(facts.chunks) if "prefill_chunk" in wanted else None
    assert chunks is None or chunks <= wanted["prefill_chunk"]
    assert facts.context == wanted.get("context", facts.context)


def test_what_was_made_to_fit_goes_on_with_the_same_cache(session, monkeypatch):
    # No smaller chunk can be offered, and so long a reply leaves room for a shorter context.
    asked = {"sampling": Sampling(temperature=0.0, max_tokens=1500), "prefill_chunk": 16, "stop_after": 5}
    ask(session, LONG, **asked)
    unchanged = session.cache.policy
    with_budget(monkeypatch, need(session, tokens=unchanged.context, chunk=16) - 1)
    first = ask(session, LONG, memory_guard="adapt", **asked)
    assert session.cache.policy != unchanged
    again = ask(session, LONG, memory_guard="adapt", **asked)
    assert first.facts.cached_tokens < first.facts.prompt_tokens - 1
    assert again.facts.cached_tokens == again.facts.prompt_tokens - 1


def test_a_refusal_costs_other_chats_nothing(session, monkeypatch):
    for text in ("one " * 60, "two " * 60):
        list(session.generate(request([user(text)], GREEDY)))
    kept = session.cache.kept_bytes
    with_budget(monkeypatch, session.loaded.facts.weights_bytes // 2)
    with pytest.raises(OutOfMemory):
        list(session.generate(request([LONG], GREEDY)))
    assert session.cache.kept_bytes == kept > 0


def test_what_nothing_makes_fit_is_refused_also_where_it_might_be_changed(session, monkeypatch):
    with_budget(monkeypatch, session.loaded.facts.weights_bytes // 2)
    with pytest.raises(OutOfMemory):
        list(session.generate(request([LONG], GREEDY, memory_guard="adapt")))


def test_other_chats_give_their_memory_back_before_a_reply_is_refused(session, monkeypatch):
    for text in ("one " * 60, "two " * 60):
        list(session.generate(request([user(text)], GREEDY)))
    assert session.cache.kept_bytes > 0
    with_budget(monkeypatch, need(session, tokens=512) + 10)
    assert isinstance(list(session.generate(request([LONG], GREEDY)))[-1], Finished)
    assert session.cache.kept_bytes <= need(session, tokens=512)


def test_the_largest_chunk_is_obeyed(session):
    facts = list(session.generate(request([LONG], GREEDY, prefill_chunk=16)))[-1].reply
    assert max(facts.chunks) <= 16


def test_a_buffer_that_is_too_large_is_refused_too(session):
    fit = expected(session.loaded, tokens=400, kv_bits="off", chunk=None)
    assert refusal("r", fit, 10 * fit.peak_bytes, fit.largest_buffer - 1) is not None
    assert refusal("r", fit, 10 * fit.peak_bytes, fit.largest_buffer) is None
