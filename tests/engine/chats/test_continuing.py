"""A reply that goes on in the store: its text grows, its facts add up, and nothing of it is lost when nothing comes."""

from dataclasses import replace

import pytest

from engine.chats.continuing import is_cut, is_unbegun, joined, text_to_continue
from engine.chats.reply_writer import ReplyWriter
from engine.chats.request import compose
from engine.core.errors import GenerationFailed
from engine.core.messages import Cancelled, Failed, Finished, TextDelta
from tests.app.chat.stored import replied
from tests.engine.chats.samples import FACTS

BEFORE = replace(FACTS, output_ids=tuple(range(64)), decode_s=2.0, decode_tps=63 / 2.0, ttft_s=0.5)
NOW = replace(
    FACTS,
    finish_reason="stop",
    output_tokens=100,
    output_ids=tuple(range(100)),
    resumed=(64,),
    decode_s=1.5,
    decode_tps=36 / 1.5,  # 35 after the first, and the one that ended the turn.
    ttft_s=0.1,
)


NOTHING, HALF, THOUGHT = ("", "", ()), ("", "", (7,)), ("", "Hm", ())


@pytest.mark.parametrize("state", ["cancelled", "interrupted", "failed", "complete"])
@pytest.mark.parametrize("made", [NOTHING, HALF, THOUGHT, ("\n", "", ()), ("\n", "", (9,)), ("It", "", (7, 8))])
@pytest.mark.parametrize("measured", [True, False])
def test_a_cut_reply_goes_on_where_anything_was_made_of_it_and_is_unbegun_where_not(state, made, measured):
    text, reasoning, ids = made
    facts = replace(FACTS, output_ids=ids, finish_reason="length") if measured else None
    reply = replied("r", text, reasoning=reasoning, state=state, facts=facts)
    assert is_unbegun(reply) == (not (text.strip() or reasoning or (measured and ids)))
    assert is_cut(reply) == (not is_unbegun(reply) and (state != "complete" or measured))


def delta(text):
    return TextDelta("r", text, "", 1, 1.0, 1, 0.1)


@pytest.fixture
def before(store):
    chat = store.create_chat("", "m")
    asked = store.add_message(chat.id, "user", "Hello")
    return store.finish_reply(store.begin_reply(chat.id, asked.id, "m").id, "It is", "complete", BEFORE)


@pytest.fixture
def writer(store, before):
    return ReplyWriter(store, store.resume_reply(before.id), before=before)


def test_the_text_grows_and_the_facts_are_of_both_stretches(store, before, writer):
    writer.take(delta(" Paris."))
    writer.take(Finished("r", NOW))
    stored = store.message(before.id)
    assert (stored.text, stored.state) == ("It is Paris.", "complete")
    assert (stored.facts.output_tokens, stored.facts.resumed, stored.facts.finish_reason) == (100, (64,), "stop")
    assert (stored.facts.decode_s, stored.facts.ttft_s) == (3.5, 0.5)
    assert stored.facts.decode_tps == pytest.approx(99 / 3.5)


@pytest.mark.parametrize("end", [Failed("r", GenerationFailed("No.").info()), Cancelled("r", replace(NOW, output_tokens=64))])
def test_where_nothing_was_added_the_reply_is_what_it_was(store, before, writer, end):
    writer.take(end)
    stored = store.message(before.id)
    assert stored == before
    assert (writer.refused is not None) == isinstance(end, Failed)


def test_a_failure_after_more_was_written_keeps_it(store, before, writer):
    writer.take(delta(" Par"))
    writer.take(Failed("r", GenerationFailed("No.").info()))
    stored = store.message(before.id)
    assert (stored.text, stored.state, stored.error.code) == ("It is Par", "failed", GenerationFailed.code)
    assert writer.refused is None


def test_a_reply_that_ends_at_once_keeps_its_text_and_ends(store, before, writer):
    writer.take(Finished("r", replace(NOW, output_tokens=64)))
    assert (store.message(before.id).text, store.message(before.id).facts.finish_reason) == ("It is", "stop")


def test_a_second_continuation_counts_on():
    twice = joined(joined(BEFORE, NOW), replace(NOW, resumed=(100,), output_tokens=120))
    assert twice.resumed == (64, 100)
    assert joined(None, NOW) == NOW
    assert joined(BEFORE, None) is None


def test_the_sign_for_half_a_character_is_left_to_the_whole_one():
    assert text_to_continue("It is \ufffd\ufffd") == "It is "
    assert text_to_continue("It is ") == "It is "


def test_the_request_ends_with_the_reply(store, before):
    path = store.messages(before.chat_id)[:-1]
    request = compose(store, before.chat_id, path, request_id="r", model_id="m", app={}, reply=before)
    last = request.messages[-1]
    assert (last.role, last.text, last.ids, last.fingerprint) == ("assistant", "It is", BEFORE.output_ids, BEFORE.fingerprint)
