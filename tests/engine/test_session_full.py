"""A session whose conversation outgrows the context: what it leaves out, goes on from and refuses."""

from dataclasses import replace

import pytest

from engine.core.errors import ContextFull
from engine.core.facts import Message
from engine.core.messages import CountPrompt, PrefillProgress, TextDelta
from engine.session import Session
from tests.engine.talk import GREEDY, agree, ask, assistant, request, user

SYSTEM = Message("system", "You are brief.")
TRAINED = 200
SHORT = replace(GREEDY, max_tokens=9)


def session_of(tiny_loaded, kind="growing", context=TRAINED):
    """A session whose model was trained for `context` tokens, and whose replies end by their length alone."""
    loaded = tiny_loaded(kind)
    return Session(replace(loaded, facts=replace(loaded.facts, context=context), end_ids=frozenset()))


def pinned_ids(session):
    """The ids that every chat with the system prompt begins with."""
    return session._planned((SYSTEM, user("x")))[1].ids[: session._planned((SYSTEM, user("x")))[1].pinned]


def long_chat(session, turns, sampling=SHORT, **more):
    """Go through a chat turn by turn; yield what each reply told."""
    messages = [SYSTEM]
    for turn in range(turns):
        messages.append(user(f"The quick brown fox, number {turn}."))
        answer = ask(session, *messages, sampling=sampling, **more)
        yield messages, answer
        messages.append(Message("assistant", answer.text, answer.facts.output_ids, session.loaded.facts.fingerprint))


@pytest.mark.parametrize("kind", ["growing", "sliding", "recurrent"])
def test_a_chat_that_outgrew_the_trained_length_leaves_out_its_oldest_messages(tiny_loaded, kind):
    session = session_of(tiny_loaded, kind)
    left_out, read = [], []
    for _, answer in long_chat(session, 14):
        facts = answer.facts
        assert facts.finish_reason == "length"
        assert agree(session)
        assert facts.prompt_tokens < TRAINED
        assert session.cache.tokens[: len(pinned_ids(session))] == list(pinned_ids(session))
        assert (facts.dropped_tokens > 0) == (facts.dropped_messages > 0)
        left_out.append(facts.dropped_messages)
        read.append(facts.prompt_tokens - facts.cached_tokens)
    assert left_out[0] == 0
    assert left_out == sorted(left_out)
    assert 2 <= len(set(left_out)) <= 8, "most turns leave out what the one before did"
    same = [count for before, now, count in zip(left_out, left_out[1:], read[1:], strict=False) if before == now]
    assert max(same) <= 50, "and go on from what it read"


def test_what_is_left_out_is_told_in_messages_and_tokens(tiny_loaded):
    session = session_of(tiny_loaded)
    for messages, answer in long_chat(session, 9):
        whole = len(session._planned(tuple(messages))[1].ids)
        facts = answer.facts
        if facts.dropped_messages:
            others = [message for message in messages if message.role != "system"]
            kept = (SYSTEM, *others[facts.dropped_messages :])
            assert facts.prompt_tokens == len(session._planned(kept)[1].ids)
            assert facts.dropped_tokens == whole - facts.prompt_tokens
            return
    pytest.fail("nothing was left out")


def chats_around_the_limit(session):
    """Chats of a few tokens less than the trained length, of just that many, and of more; with the size of each."""
    for extra in range(200):
        chat = [SYSTEM, user("hello " * 9), assistant("ok"), user("world " * 9), assistant("ok"), user("x" * extra)]
        size = len(session._planned(tuple(chat))[1].ids)
        if abs(size - TRAINED) <= 6:
            yield chat, size


def test_at_every_length_around_the_limit_it_rolls_only_where_it_must(tiny_loaded):
    session = session_of(tiny_loaded)
    sizes = set()
    for chat, size in chats_around_the_limit(session):
        facts = ask(session, *chat, sampling=replace(GREEDY, max_tokens=1)).facts
        assert (facts.dropped_messages > 0) == (size >= TRAINED) == (facts.prompt_tokens < size)
        sizes.add(size)
    assert sizes == set(range(TRAINED - 6, TRAINED + 7))


def test_at_every_length_around_the_limit_it_stops_only_where_it_must_and_tells_the_figures(tiny_loaded):
    session = session_of(tiny_loaded)
    for chat, size in chats_around_the_limit(session):
        if size < TRAINED:
            facts = ask(session, *chat, sampling=replace(GREEDY, max_tokens=9), when_full="stop").facts
            assert facts.output_tokens == min(9, TRAINED - size)
            continue
        with pytest.raises(ContextFull) as caught:
            ask(session, *chat, when_full="stop")
        assert f"{size:,} tokens" in caught.value.text
        assert f"holds {TRAINED:,}" in caught.value.text
        assert caught.value.hint


def test_a_message_that_is_too_long_alone_is_refused_and_leaves_the_cache_alone(tiny_loaded):
    session = session_of(tiny_loaded)
    ask(session, SYSTEM, user("hello"), sampling=SHORT)
    held = list(session.cache.tokens)
    for when in ("roll", "stop"):
        with pytest.raises(ContextFull, match=f"the context holds {TRAINED:,}"):
            ask(session, SYSTEM, user("hello " * 400), when_full=when)
    assert session.cache.tokens == held


def test_a_system_prompt_as_long_as_the_context_is_refused(tiny_loaded):
    session = session_of(tiny_loaded)
    with pytest.raises(ContextFull, match="the context holds 40"):
        ask(session, Message("system", "hello " * 60), user("hi"), context=40)


@pytest.mark.parametrize("when", ["roll", "compact"])
@pytest.mark.parametrize("turns", [0, 2])
def test_the_newest_message_is_read_whole_or_refused_at_every_length(tiny_loaded, turns, when):
    session = session_of(tiny_loaded, context=400)
    before = [said for turn in range(turns) for said in (user(f"Number {turn}."), assistant("ok"))]
    outcomes = []
    for words in range(1, 40):
        asked = [SYSTEM, *before, user("x" * words)]
        whole, alone = (len(session._planned(tuple(chat))[1].ids) for chat in (asked, (SYSTEM, asked[-1])))
        counter = session.count(CountPrompt("c", request(asked, SHORT, context=48, when_full=when)), idle=lambda: True)
        outcomes.append(told_to_fit(counter))
        if outcomes[-1]:
            reply = ask(session, *asked, sampling=replace(GREEDY, max_tokens=1), context=48, when_full=when).facts
            assert reply.dropped_tokens <= whole - alone or when == "compact", "what left is what was said before"
            assert reply.dropped_messages <= 2 * turns
        else:
            assert alone >= 48 - 16, "the end of the turn before goes with it"
            with pytest.raises(ContextFull, match=r"newest message needs \d+ tokens .* the context holds 48"):
                ask(session, *asked, sampling=SHORT, context=48, when_full=when)
    assert outcomes == sorted(outcomes, reverse=True)
    assert set(outcomes) == {True, False}


def told_to_fit(counter):
    """What the composer is told of a prompt before it is sent."""
    while True:
        try:
            next(counter)
        except StopIteration as done:
            return done.value.fits


def test_in_a_window_smaller_than_the_trained_length_the_newest_tokens_stay_and_nothing_is_read_twice(tiny_loaded):
    session = session_of(tiny_loaded, context=400)
    dropped, read = [], []
    for _, answer in long_chat(session, 8, context=64):
        facts = answer.facts
        assert (facts.context, facts.finish_reason) == (64, "length")
        assert facts.dropped_tokens == max(0, len(session.cache.tokens) + 1 - 64)
        dropped.append(facts.dropped_messages)
        read.append(facts.prompt_tokens - facts.cached_tokens)
    assert dropped == sorted(dropped)
    assert dropped[-1] >= 8
    assert max(read[1:]) <= 45


def test_what_left_while_a_reply_was_made_is_found_in_its_prompt(tiny_loaded):
    session, seen = session_of(tiny_loaded), set()
    for chat, answer in long_chat(session, 12, context=100):
        asked, facts = request(chat, SHORT, context=100), answer.facts
        shown, ends = session.inspect(asked, "look"), session._fitted(asked).plan.ends
        assert len(shown.ids) == facts.prompt_tokens
        edge = shown.pinned + facts.dropped_tokens - shown.left_out_tokens
        assert sum(shown.pinned < end <= edge for end in ends) == facts.dropped_messages - shown.left_out
        seen.add((shown.left_out > 0, edge > shown.pinned))
    assert seen == {(False, False), (False, True), (True, False), (True, True)}


@pytest.mark.parametrize(
    ("trained", "context", "most"), [(TRAINED, 100, 40), (400, 64, 40), (96, 96, 150)], ids=["both", "rolls", "read again"]
)
def test_what_has_left_is_told_while_a_reply_is_made(tiny_loaded, trained, context, most):
    session, moved = session_of(tiny_loaded, context=trained), set()
    for _, answer in long_chat(session, 4, replace(GREEDY, max_tokens=most), context=context):
        told = [
            (event.dropped_tokens, event.dropped_messages)
            for event in answer.events
            if isinstance(event, PrefillProgress | TextDelta)
        ]
        facts = answer.facts
        assert told == sorted(told)
        # The next token is computed while one is told, so that one more may have left.
        assert facts.dropped_tokens <= told[-1][0] <= facts.dropped_tokens + 1
        assert facts.dropped_messages <= told[-1][1] <= facts.dropped_messages + 1
        moved.add(told[0] < told[-1])
    assert True in moved


def test_a_reply_in_a_full_window_takes_what_is_predicted_for_its_length(tiny_loaded):
    session = session_of(tiny_loaded, context=400)
    for _, answer in long_chat(session, 8, context=64):
        seen = min(64, len(session.cache.tokens))
        assert answer.facts.kv_bytes == seen * session.loaded.facts.kv_bytes_per_token


@pytest.mark.parametrize("when", ["roll", "stop"])
def test_a_reply_longer_than_the_trained_length_goes_on_or_stops(tiny_loaded, when):
    session = session_of(tiny_loaded, context=96)
    answer = ask(session, SYSTEM, user("hello"), sampling=replace(GREEDY, max_tokens=150), when_full=when)
    facts = answer.facts
    if when == "stop":
        assert (facts.finish_reason, facts.prompt_tokens + facts.output_tokens, facts.dropped_tokens) == ("context", 96, 0)
        return
    assert (facts.finish_reason, facts.output_tokens, len(facts.output_ids)) == ("length", 150, 150)
    assert len(session.cache.tokens) < 96
    assert facts.dropped_tokens == facts.prompt_tokens + 149 - len(session.cache.tokens)
    assert facts.dropped_messages == 1
    assert session.cache.tokens[: len(pinned_ids(session))] == list(pinned_ids(session))
    following = ask(session, SYSTEM, user("hello"), assistant(answer.text), user("and then?"), sampling=SHORT)
    assert following.facts.finish_reason == "length"
    assert following.facts.cached_tokens >= len(pinned_ids(session))


def test_another_context_length_begins_anew_and_gives_the_memory_back(tiny_loaded):
    session = session_of(tiny_loaded)
    ask(session, SYSTEM, user("hello " * 20), sampling=SHORT)
    before = session.cache
    answer = ask(session, SYSTEM, user("hello " * 20), sampling=SHORT, context=100)
    assert session.cache is not before
    assert (answer.facts.cached_tokens, answer.facts.context) == (0, 100)
    assert (before.nbytes, before.kept_bytes) == (0, 0)
