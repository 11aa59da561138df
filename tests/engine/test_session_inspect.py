"""The prompt that is shown is the prompt that is read, and showing it changes nothing."""

from dataclasses import replace

import mlx.core as mx
import pytest

from engine.core.errors import ContextFull
from engine.core.messages import PrefillProgress
from engine.session import Session
from tests.engine.talk import GREEDY, ask, assistant, request, user
from tests.models.tiny_architectures import ARCHITECTURES

HELLO, MORE = user("hello, what is the capital of France?"), user("and then?")
SHORT = replace(GREEDY, max_tokens=12)


def fed(monkeypatch, session):
    """The ids that the model is given while a reply is made, one list a forward."""
    given = []
    forward = type(session.loaded.model).__call__

    def watched(model, inputs, *rest, **more):
        given.append(inputs)
        return forward(model, inputs, *rest, **more)

    monkeypatch.setattr(type(session.loaded.model), "__call__", watched)
    return given


def test_ids_shown_are_those_that_the_model_is_given(tiny_loaded, monkeypatch):
    session = Session(tiny_loaded())
    shown = session.inspect(request((HELLO,), SHORT), "look")
    given = fed(monkeypatch, session)
    answer = ask(session, HELLO, sampling=SHORT)
    read = [index for inputs in given for index in inputs[0].tolist()]
    assert list(shown.ids) == read[: len(shown.ids)]
    assert (len(shown.ids), shown.cached) == (answer.facts.prompt_tokens, answer.facts.cached_tokens)


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_cached_tokens_shown_are_those_that_are_not_read_again(tiny_loaded, kind):
    session = Session(tiny_loaded(kind))
    one = ask(session, HELLO, sampling=SHORT)
    told = replace(assistant(one.text), ids=one.facts.output_ids, fingerprint=one.facts.fingerprint)
    for messages in ((HELLO, told, MORE), (HELLO,), (user("something else"),)):
        shown = session.inspect(request(messages, SHORT), "look")
        answer = ask(session, *messages, sampling=SHORT)
        assert (shown.cached, len(shown.ids)) == (answer.facts.cached_tokens, answer.facts.prompt_tokens)


def test_ids_of_the_replies_are_those_they_were_written_with(tiny_loaded):
    session = Session(tiny_loaded())
    one = ask(session, HELLO, sampling=SHORT)
    told = replace(assistant(one.text), ids=one.facts.output_ids, fingerprint=one.facts.fingerprint)
    shown = session.inspect(request((HELLO, told, MORE), SHORT), "look")
    start = shown.section_ends[0]
    assert one.facts.output_ids[0] in shown.ids[start : shown.section_ends[1]]
    assert str(list(one.facts.output_ids))[1:-1] in str(list(shown.ids))


def test_looking_evaluates_nothing_and_changes_nothing(tiny_loaded, monkeypatch):
    session = Session(tiny_loaded())
    ask(session, HELLO, sampling=SHORT)
    held, branches = list(session.cache.tokens), len(session.cache.tree.branches())
    monkeypatch.setattr(mx, "eval", lambda *_: pytest.fail("MLX was evaluated"))
    monkeypatch.setattr(mx, "async_eval", lambda *_: pytest.fail("MLX was evaluated"))
    given = fed(monkeypatch, session)
    session.inspect(request((user("something else"),), SHORT), "look")
    assert not given
    assert (session.cache.tokens, len(session.cache.tree.branches())) == (held, branches)


def test_cache_of_other_settings_is_left_alone_and_counts_for_nothing(tiny_loaded):
    session = Session(tiny_loaded())
    ask(session, HELLO, sampling=SHORT)
    assert session.inspect(request((HELLO,), SHORT, kv_bits="8"), "look").cached == 0
    assert session.inspect(request((HELLO,), SHORT), "look").cached > 0


def test_between_two_steps_of_a_reply_it_can_be_shown_without_harm(tiny_loaded):
    session = Session(tiny_loaded())
    alone = ask(Session(tiny_loaded()), HELLO, sampling=SHORT)
    text, shown = "", []
    for event in session.generate(request((HELLO,), SHORT)):
        shown.append(session.inspect(request((HELLO, assistant("So."), MORE), SHORT), "look", writing=True))
        text += getattr(event, "text", "")
        assert not isinstance(event, PrefillProgress) or shown[-1].request_id == "look"
    assert text == alone.text
    assert shown[-1].cached > 0


def test_each_token_is_described_once(tiny_loaded):
    session = Session(tiny_loaded())
    shown = session.inspect(request((user("hello hello hello"),), SHORT), "look")
    assert sorted(set(shown.ids)) == list(shown.known_ids)
    named = dict(zip(shown.known_ids, shown.bytes_hex, strict=True))
    assert bytes.fromhex("".join(named[index] for index in shown.ids)).decode() == shown.text
    assert (shown.section_roles, shown.section_ends[-1]) == (("user", "assistant"), len(shown.ids))


def test_what_leaves_the_context_is_left_out_and_counted(tiny_loaded):
    session = Session(tiny_loaded())
    turns = [user("hello " * 30), assistant("So. " * 30)] * 6
    shown = session.inspect(request((*turns, MORE), SHORT, context=256), "look")
    assert shown.left_out > 0
    assert len(shown.ids) < 256
    assert shown.section_roles[0] == "user"


def test_prompt_that_does_not_fit_is_refused_as_a_reply_would_be(tiny_loaded):
    with pytest.raises(ContextFull):
        Session(tiny_loaded()).inspect(request((user("hello " * 300),), SHORT, context=256, when_full="stop"), "look")


@pytest.mark.heavy
def test_the_starters_prompt_is_what_transformers_makes_of_it(starter_loaded):
    shown = Session(starter_loaded).inspect(request((HELLO,), SHORT), "look")
    expected = starter_loaded.tokenizer.apply_chat_template(
        [{"role": "user", "content": HELLO.text}], add_generation_prompt=True, return_dict=False
    )
    assert list(shown.ids) == list(expected)
    assert shown.section_roles == ("template", "user", "assistant")
