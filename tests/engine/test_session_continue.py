"""A reply that was cut goes on: with the ids it has, in the KV cache as far as they are there, as if it had never stopped."""

from dataclasses import replace

import pytest

from engine.core.facts import Message
from engine.core.settings import Sampling
from engine.session import Session
from tests.engine.talk import GREEDY, agree, ask, user

HELLO = user("hello, what is the capital of France?")
SHORT = replace(GREEDY, max_tokens=12)


def cut(answer):
    """A reply as it is told to the model that goes on with it."""
    facts = answer.facts
    return Message("assistant", answer.text, facts.output_ids, facts.fingerprint)


def ids_of(answer):
    return list(answer.facts.output_ids)


@pytest.mark.parametrize("kind", ["growing", "sliding", "recurrent"])
def test_a_greedy_reply_goes_on_as_one_that_was_never_cut(tiny_loaded, kind):
    session = Session(tiny_loaded(kind))
    whole = ask(Session(session.loaded), HELLO, sampling=replace(GREEDY, max_tokens=36))
    one = ask(session, HELLO, sampling=SHORT)
    assert one.facts.finish_reason == "length"
    two = ask(session, HELLO, cut(one), sampling=SHORT)
    three = ask(
        session, HELLO, Message("assistant", one.text + two.text, two.facts.output_ids, two.facts.fingerprint), sampling=SHORT
    )
    assert ids_of(three) == ids_of(whole)
    assert one.text + two.text + three.text == whole.text
    assert agree(session)


def test_only_what_is_not_in_the_cache_is_read(tiny_loaded):
    session = Session(tiny_loaded())
    one = ask(session, HELLO, sampling=SHORT)
    two = ask(session, HELLO, cut(one), sampling=SHORT)
    assert two.facts.cached_tokens == one.facts.prompt_tokens + 12 - 1
    assert two.facts.chunks == ()


def test_the_facts_are_of_all_of_it(tiny_loaded):
    session = Session(tiny_loaded())
    one = ask(session, HELLO, sampling=SHORT)
    two = ask(session, HELLO, cut(one), sampling=SHORT)
    assert two.facts.prompt_tokens == one.facts.prompt_tokens
    assert (two.facts.output_tokens, len(two.facts.output_ids)) == (24, 24)
    assert two.facts.output_ids[:12] == one.facts.output_ids
    assert (one.facts.resumed, two.facts.resumed) == ((), (12,))
    deltas = [event.output_tokens for event in two.events if hasattr(event, "output_tokens")]
    assert deltas[0] == 13


def test_a_reply_without_its_ids_goes_on_from_its_text(tiny_loaded):
    session = Session(tiny_loaded())
    one = ask(session, HELLO, Message("assistant", "The quick brown"), sampling=SHORT)
    assert one.facts.output_ids[: one.facts.resumed[0]] == tuple(session.loaded.tokenizer.encode("The quick brown"))
    whole = session.loaded.tokenizer.decode(one.facts.output_ids, skip_special_tokens=True)
    assert "The quick brown" + one.text == whole


def test_penalties_see_what_was_written_before(tiny_loaded):
    session = Session(tiny_loaded())
    sampling = Sampling(temperature=0.0, max_tokens=12, repetition_penalty=1.6)
    one = ask(session, HELLO, sampling=sampling)
    two = ask(session, HELLO, cut(one), sampling=sampling)
    whole = ask(Session(session.loaded), HELLO, sampling=replace(sampling, max_tokens=24))
    assert ids_of(two) == ids_of(whole)


@pytest.mark.parametrize("when_full", ["roll", "compact"])
def test_a_reply_goes_on_beyond_the_context(tiny_loaded, when_full):
    session = Session(tiny_loaded())
    one = ask(session, HELLO, sampling=replace(GREEDY, max_tokens=40), context=64, when_full=when_full)
    two = ask(session, HELLO, cut(one), sampling=replace(GREEDY, max_tokens=40), context=64, when_full=when_full)
    assert two.facts.output_tokens == 80
    assert two.facts.dropped_tokens > 0


def test_the_next_turn_knows_a_reply_that_went_on(tiny_loaded):
    session = Session(tiny_loaded())
    one = ask(session, HELLO, sampling=SHORT)
    two = ask(session, HELLO, cut(one), sampling=SHORT)
    text = session.loaded.tokenizer.decode(two.facts.output_ids, skip_special_tokens=True)
    reply = Message("assistant", text, two.facts.output_ids, two.facts.fingerprint)
    three = ask(session, HELLO, reply, user("and then?"), sampling=SHORT)
    assert three.facts.cached_tokens >= one.facts.prompt_tokens + 20
