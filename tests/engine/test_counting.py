"""Prompts counted while they are typed: as many tokens as the request would have, also between two tokens of a reply."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.core.facts import Message
from engine.core.messages import (
    Cancelled,
    CountPrompt,
    Failed,
    Finished,
    LoadModel,
    PromptCounted,
    TextDelta,
    UnloadModel,
)
from engine.core.paths import locate
from engine.inference import prompt_count
from engine.inference.prompt_count import STEP, Counter, Encoder, TextCounter
from engine.inference.template import render
from engine.models.library import Library
from engine.worker import Worker
from tests.engine.engines import Reacting, finish, generate, install

SYSTEM = Message("system", "Be brief.")
ASKED = Message("user", "hello, what is the capital of France?")


@pytest.fixture
def worker(flint_home, tiny_folders):
    install(tiny_folders, flint_home, one="growing", two="sliding")
    paths = locate()
    made = Worker(Library(paths), paths.models)
    made.start()
    yield made
    made.close()


def count(request_id, request, *texts):
    return CountPrompt(request_id, request, texts)


def counted(events):
    return [event for event in events if isinstance(event, PromptCounted)]


def run(steps):
    """Go through the steps and return what they come to, and how many there were."""
    number = 0
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value, number
        number += 1


# -- what is counted -------------------------------------------------------------------------------------------------------


def test_a_count_is_what_the_reply_then_reads(worker):
    connection = worker.connect()
    finish(connection, LoadModel("load", "one"))
    request = generate("reply", text=(SYSTEM, ASKED))
    (told,) = counted(finish(connection, count("count", request, "Be brief.", "")))
    assert told.cached == 0
    assert told.texts[0] > 0
    assert told.texts[1] == 0
    assert 0 < told.words < told.tokens
    facts = finish(connection, request)[-1].reply
    assert (facts.prompt_tokens, facts.cached_tokens, facts.context) == (told.tokens, told.cached, told.context)
    (again,) = counted(finish(connection, count("again", request)))
    second = finish(connection, replace(request, request_id="second"))[-1].reply
    assert again.cached == second.cached_tokens == told.tokens - 1


def test_the_next_turn_and_an_edit_are_told_as_they_are_read(worker):
    connection = worker.connect()
    first = finish(connection, generate("first", text=(SYSTEM, ASKED)))
    answer = Message("assistant", "".join(event.text for event in first if isinstance(event, TextDelta)))
    for number, messages in enumerate(
        [(SYSTEM, ASKED, answer, Message("user", "And of Spain?")), (SYSTEM, Message("user", "hello, what is this?"))]
    ):
        request = generate(f"r{number}", text=messages)
        (told,) = counted(finish(connection, count(f"c{number}", request)))
        facts = finish(connection, request)[-1].reply
        assert (told.tokens, told.cached) == (facts.prompt_tokens, facts.cached_tokens)
        assert told.cached > 0


def test_a_chat_without_a_next_message_is_counted_up_to_where_it_would_begin(worker):
    connection = worker.connect()
    first = finish(connection, generate("first", text=(SYSTEM, ASKED)))[-1].reply
    answer = Message("assistant", "x", first.output_ids, first.fingerprint)
    (bare,) = counted(finish(connection, count("bare", generate("r", text=(SYSTEM, ASKED, answer)))))
    (more,) = counted(finish(connection, count("more", generate("r", text=(SYSTEM, ASKED, answer, ASKED)))))
    assert bare.words == 0
    assert 0 < bare.cached < bare.tokens < more.tokens


@pytest.mark.parametrize("next_words", ["And of Spain?", ""])
def test_the_messages_own_words_are_told_apart_from_the_templates(tiny_loaded, next_words):
    loaded = tiny_loaded("growing")
    messages = [
        SYSTEM,
        ASKED,
        Message("assistant", "Paris, of course."),
        *([Message("user", next_words)] if next_words else []),
    ]
    told, _ = run(Counter(Encoder(loaded.tokenizer), "f").count(messages))
    own = [len(loaded.tokenizer.encode(message.text)) for message in messages]
    assert (told.said, told.words) == (sum(own), own[-1] if next_words else 0)
    assert told.said < len(told.ids)


def test_what_does_not_fit_is_said(worker):
    connection = worker.connect()
    finish(connection, LoadModel("load", "one"))
    long = Message("user", "hello " * 400)
    small = replace(generate("r", text=(long,)), context=64)
    (stops,) = counted(finish(connection, count("a", replace(small, when_full="stop"))))
    assert (stops.fits, stops.context) == (False, 64)
    assert stops.words > 64
    (fits,) = counted(finish(connection, count("b", replace(small, context=None, when_full="stop"))))
    assert fits.fits


def test_without_the_model_it_ends_without_an_answer(worker):
    connection = worker.connect()
    assert finish(connection, count("none", generate("r"))) == [Finished("none")]
    finish(connection, LoadModel("load", "one"))
    assert finish(connection, count("other", generate("r", "two"))) == [Finished("other")]
    assert counted(finish(connection, count("any", generate("r", "")))) != []
    finish(connection, UnloadModel("unload"))
    assert finish(connection, count("gone", generate("r"))) == [Finished("gone")]


def test_a_conversation_that_the_template_refuses_fails_alone(worker):
    connection = worker.connect()
    finish(connection, LoadModel("load", "one"))
    end = finish(connection, count("bad", generate("r", text=())))[-1]
    assert isinstance(end, Failed | Finished)
    assert finish(connection, generate("after"))[-1].reply.output_tokens == 8


# -- while a reply is made -------------------------------------------------------------------------------------------------


def test_it_is_answered_while_a_reply_is_written_and_changes_nothing_of_it(worker):
    alone = finish(worker.connect(), generate("alone", tokens=24))
    texts = [event.text for event in alone if isinstance(event, TextDelta)]
    request = generate("next", text=(ASKED, Message("assistant", "yes"), Message("user", "more")))

    def react(connection, event):
        if isinstance(event, TextDelta) and event.output_tokens == 3:
            connection.send(count("during", request, "some text"))

    connection = Reacting(worker, react)
    connection.send(generate("reply", tokens=24))
    events = list(connection.wait("reply", 60))
    during = list(connection.wait("during", 60))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "".join(texts)
    assert counted(during)[0].tokens > 0
    assert counted(during)[0].cached > 0


def test_it_is_answered_before_the_reply_ends(worker):
    order = []

    def react(connection, event):
        order.append(type(event))
        if isinstance(event, TextDelta) and event.output_tokens == 2:
            connection.send(count("during", generate("next")))

    connection = Reacting(worker, react)
    finish(connection, generate("reply", tokens=32))
    assert order.index(PromptCounted) < len(order) - 1 - order[::-1].index(TextDelta)


def test_a_newer_count_takes_the_place_of_an_older_one(worker):
    long = generate("r", text=(Message("user", "one line of a long text\n" * 40_000),))

    def react(connection, event):
        if isinstance(event, TextDelta) and event.output_tokens == 1:
            connection.send(count("old", long))
            connection.send(count("new", generate("r")))

    connection = Reacting(worker, react)
    finish(connection, generate("reply"))
    assert list(connection.wait("old", 60)) == [Cancelled("old")]
    assert len(counted(connection.wait("new", 60))) == 1


def test_a_model_that_goes_takes_its_counts_along(worker):
    connection = worker.connect()
    finish(connection, LoadModel("load", "one"))
    connection.send(count("long", generate("r", text=(Message("user", "a line of text\n" * 60_000),))))
    worker.close()
    assert isinstance(list(connection.wait("long", 60))[-1], Cancelled | Finished | Failed)


# -- what an earlier count encoded -----------------------------------------------------------------------------------------

WORDS = st.text("ab \n.é東", max_size=12)
ROLES = ["user", "assistant"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=4))
def test_a_count_that_goes_on_from_another_is_as_one_from_the_start(tiny_loaded, conversations):
    loaded = tiny_loaded("growing")
    going_on = Counter(Encoder(loaded.tokenizer), "f")
    for texts in conversations:
        messages = [Message(ROLES[index % 2], text or "x") for index, text in enumerate(texts)]
        kept, _ = run(going_on.count(messages))
        fresh, _ = run(Counter(Encoder(loaded.tokenizer), "f").count(messages))
        assert kept == fresh
        if messages[-1].role == "user":
            assert kept.ids == render(loaded.tokenizer, messages).ids


def test_a_long_text_is_encoded_in_steps_and_as_it_is_in_one(tiny_loaded):
    tokenizer = tiny_loaded("growing").tokenizer
    text = "".join(f"Line {number} says something.\n\n  indented {number}\n" for number in range(8_000))
    tokens, steps = run(TextCounter(Encoder(tokenizer)).count(text))
    assert steps >= len(text) // (2 * STEP)
    assert tokens == len(tokenizer.encode(text, add_special_tokens=False))


def test_only_what_is_new_is_encoded_again(tiny_loaded):
    tokenizer = tiny_loaded("growing").tokenizer
    counter = Counter(Encoder(tokenizer), "f")
    history = [Message("user", "A long line of text.\n" * 10_000), Message("assistant", "Yes.")]
    _, first = run(counter.count([*history, Message("user", "one")]))
    _, second = run(counter.count([*history, Message("user", "one two")]))
    assert first > 3
    assert second == 2


@pytest.mark.parametrize("words", ["one two", " indented", "trailing ", "", "ends\n", "東京 \U0001f3fa"])
def test_other_words_in_the_last_message_alone_are_counted_without_rendering_anew(tiny_loaded, monkeypatch, words):
    tokenizer = tiny_loaded("growing").tokenizer
    history = [SYSTEM, Message("user", "A question"), Message("assistant", "Yes.")]
    counter = Counter(Encoder(tokenizer), "f")
    run(counter.count([*history, Message("user", "one")]))
    expected, _ = run(Counter(Encoder(tokenizer), "f").count([*history, Message("user", words)]))
    if words and words == words.strip():
        monkeypatch.setattr("engine.inference.prompt_count.render_text", None)
    told, _ = run(counter.count([*history, Message("user", words)]))
    assert told == expected


@pytest.mark.parametrize("kind", ["byte_level", "wrapped_byte_level", "metaspace", "sentencepiece"])
@settings(max_examples=40)
@given(texts=st.lists(st.text("ab1 \n\t.,é東'", max_size=30), min_size=1, max_size=4))
def test_a_text_in_steps_has_the_ids_of_the_whole(kind, texts):
    from tests.models import tiny_tokenizers

    tokenizer = getattr(tiny_tokenizers, kind)()
    text = " and\nthen ".join(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prompt_count, "STEP", 5)
        tokens, _ = run(TextCounter(Encoder(tokenizer)).count(text))
    assert tokens == len(tokenizer.encode(text, add_special_tokens=False))


def test_a_count_that_was_given_up_is_gone_on_with(tiny_loaded, monkeypatch):
    tokenizer = tiny_loaded("growing").tokenizer
    encoder = Encoder(tokenizer)
    counter = Counter(encoder, "f")
    file = "".join(f"line {number} of a file\n" for number in range(8_000))
    given_up = counter.count([Message("user", f"{file}\n\nWhat")])
    for _ in range(6):
        next(given_up)
    encoded = []
    real = prompt_count.encode
    monkeypatch.setattr(prompt_count, "encode", lambda tokenizer, text: encoded.append(len(text)) or real(tokenizer, text))
    told, steps = run(counter.count([Message("user", f"{file}\n\nWhat is in it?")]))
    assert steps - len(encoded) == 6  # One is the rendering; five pieces were there.
    assert told == run(Counter(Encoder(tokenizer), "f").count([Message("user", f"{file}\n\nWhat is in it?")]))[0]
