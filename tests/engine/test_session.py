"""A session with tiny random models: what is reused, what is the same as a cold run, how a reply ends."""

from dataclasses import replace
from functools import partial

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest

from engine.core.context import LARGEST_DEFAULT_CONTEXT
from engine.core.errors import ContextFull, GenerationFailed, OutOfMemory, TemplateError
from engine.core.facts import Message
from engine.core.messages import Cancelled, Finished, NextTokens, PrefillProgress, TextDelta
from engine.core.settings import Sampling
from engine.session import Session
from tests.engine.talk import GREEDY, agree, ask, assistant, next_logits, prompt_ids, request, reusable, user
from tests.models.scripted import Scripted, ids_of
from tests.models.tiny_architectures import ARCHITECTURES

HELLO, MORE, OTHER = user("hello, what is the capital of France?"), user("and then?"), user("The quick brown fox jumps")
SHORT = replace(GREEDY, max_tokens=17)
KINDS = tuple(ARCHITECTURES)


def cold(loaded, *messages, sampling=GREEDY):
    """The answer of a session that has seen nothing."""
    return ask(Session(loaded), *messages, sampling=sampling)


def same_as_cold(session, *messages, sampling=GREEDY):
    """Answer in a used session, hold it against a fresh one, and return the answer."""
    answer = ask(session, *messages, sampling=sampling)
    fresh = cold(session.loaded, *messages, sampling=sampling)
    assert (answer.ids, answer.text) == (fresh.ids, fresh.text)
    assert len(answer.ids) == sampling.max_tokens - 1 or answer.facts.finish_reason == "stop"
    assert agree(session)
    return answer


AFTERWARDS = {
    "the next turn": lambda one: (HELLO, assistant(one.text), MORE),
    "a regenerate": lambda one: (HELLO,),
    "an edit of the only message": lambda one: (user("hello, what is the capital of Spain?"),),
    "an unrelated chat": lambda one: (OTHER,),
}


@pytest.mark.parametrize("what", AFTERWARDS)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "growing"])
def test_where_a_cache_cannot_be_rewound_a_reply_is_still_what_a_cold_session_gives(tiny_loaded, kind, what):
    session = Session(tiny_loaded(kind))
    messages = AFTERWARDS[what](ask(session, HELLO, sampling=replace(GREEDY, max_tokens=30)))
    same_as_cold(session, *messages, sampling=SHORT)


@pytest.mark.parametrize("what", AFTERWARDS)
def test_only_tokens_that_were_never_seen_are_read(tiny_loaded, what):
    session = Session(tiny_loaded())
    messages = AFTERWARDS[what](ask(session, HELLO))
    answer = same_as_cold(session, *messages)
    assert answer.facts.cached_tokens >= reusable(session, answer, *messages)
    assert answer.facts.cached_tokens >= (0 if messages == (OTHER,) else 5)
    assert sum(answer.facts.chunks) == answer.facts.prompt_tokens - answer.facts.cached_tokens - 1


def test_after_an_edit_of_the_last_of_two_turns_the_first_is_still_known(tiny_loaded):
    session = Session(tiny_loaded())
    one = ask(session, HELLO)
    ask(session, HELLO, assistant(one.text), MORE)
    edited = (HELLO, assistant(one.text), user("and now something else"))
    answer = same_as_cold(session, *edited)
    before = len(prompt_ids(session, HELLO, assistant(one.text)))
    assert answer.facts.cached_tokens >= reusable(session, answer, *edited) >= before - 8


@pytest.mark.parametrize("stop_after", [0, 2, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_the_next_turn_after_a_cancel_gives_what_a_cold_session_gives(tiny_loaded, kind, stop_after):
    session = Session(tiny_loaded(kind))
    long = user("The quick brown fox jumps over the lazy dog. " * 4)
    stopped = ask(session, long, stop_after=stop_after)
    assert isinstance(stopped.events[-1], Cancelled)
    assert stopped.facts.finish_reason == "cancelled"
    assert stopped.facts.output_tokens == stop_after
    assert agree(session)
    following = (long, assistant(stopped.text), MORE) if stopped.text.strip() else (long,)
    answer = same_as_cold(session, *following, sampling=SHORT)
    if kind == "growing":
        assert answer.facts.cached_tokens >= reusable(session, answer, *following) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_reused_state_gives_the_logits_of_a_cold_run(tiny_loaded, kind):
    warm = Session(tiny_loaded(kind))
    one = ask(warm, HELLO)
    ask(warm, HELLO, assistant(one.text), MORE, stop_after=9)
    for messages in ((HELLO, assistant(one.text), MORE), (HELLO,), (OTHER,), (OTHER, assistant("Grüße"), MORE)):
        expected = next_logits(Session(warm.loaded), *messages)
        np.testing.assert_allclose(next_logits(warm, *messages), expected, atol=1e-3)
        assert agree(warm)


def test_a_sliding_window_that_has_not_wrapped_is_rewound_too(tiny_loaded):
    session = Session(tiny_loaded("sliding"))
    short = replace(GREEDY, max_tokens=4)
    ask(session, user("hi"), sampling=short)
    again = ask(session, user("hi"), sampling=short)
    assert again.facts.cached_tokens == again.facts.prompt_tokens - 1
    assert again.ids == cold(session.loaded, user("hi"), sampling=short).ids


def test_an_exact_repeat_reads_one_token(tiny_loaded):
    session = Session(tiny_loaded())
    ask(session, HELLO)
    facts = ask(session, HELLO).facts
    assert (facts.cached_tokens, facts.chunks) == (facts.prompt_tokens - 1, ())


# -- how a reply ends -------------------------------------------------------------------------------------------------


def scripted(tiny_loaded, script, *messages):
    """A session whose model writes `script` (a text, or ids) after these messages."""
    loaded = tiny_loaded()
    ids = ids_of(loaded.tokenizer, script) if isinstance(script, str) else script
    end = loaded.tokenizer.convert_tokens_to_ids("<|im_end|>")
    length = len(prompt_ids(Session(loaded), *(messages or (HELLO,))))
    return Session(replace(loaded, model=Scripted(length, ids, end, len(loaded.tokenizer))))


def test_a_reply_ends_by_the_end_tokens_id_and_may_quote_it_as_text(tiny_loaded):
    session = scripted(tiny_loaded, "ChatML ends a turn with <|im_end|>, see? 👍🏽")
    answer = ask(session, HELLO)
    assert answer.text == "ChatML ends a turn with <|im_end|>, see? 👍🏽"
    assert answer.facts.finish_reason == "stop"
    assert answer.facts.output_tokens == len(answer.ids) - 1  # Without the one that ends the turn.
    assert answer.ids[-1] in session.loaded.end_ids


def test_a_quoted_end_of_turn_does_not_end_the_next_turns_history(tiny_loaded):
    quoting = (HELLO, assistant("it is <|im_end|>"), MORE)
    session = scripted(tiny_loaded, "fine", *quoting)
    assert ask(session, *quoting).text == "fine"


@pytest.mark.parametrize(
    ("stop", "text"),
    [
        ("brown", "The quick "),
        ("n fox\nzebra", "The quick brow"),
        ("The", ""),
        ("zebra", "The quick brown fox"),
        ("x", "The quick brown fo"),
    ],
)
def test_a_stop_text_ends_the_reply_and_is_never_shown(tiny_loaded, stop, text):
    answer = ask(scripted(tiny_loaded, "The quick brown fox"), HELLO, sampling=replace(GREEDY, stop=stop))
    assert answer.text == text
    assert answer.facts.finish_reason == "stop"
    assert all(stop.splitlines()[0] not in event.text for event in answer.events if isinstance(event, TextDelta))


def test_what_waited_for_a_stop_text_is_shown_when_the_reply_ends_otherwise(tiny_loaded):
    session = scripted(tiny_loaded, "one two")
    answer = ask(session, HELLO, sampling=replace(GREEDY, stop="two three", max_tokens=7))
    assert answer.text == "one two"
    assert answer.facts.finish_reason == "length"


def test_a_character_cut_by_the_length_is_not_shown_and_comes_whole_when_the_reply_goes_on(tiny_loaded):
    ids = ids_of(tiny_loaded().tokenizer, "ok 🦊 then")
    whole = ids_of(tiny_loaded().tokenizer, "ok 🦊")
    for cut in range(len(ids_of(tiny_loaded().tokenizer, "ok ")), len(whole)):
        session = scripted(tiny_loaded, ids)
        first = ask(session, HELLO, sampling=replace(GREEDY, max_tokens=cut))
        assert (first.text, first.facts.output_ids) == ("ok ", tuple(ids[:cut]))
        so_far = Message("assistant", first.text, first.facts.output_ids, first.facts.fingerprint)
        following = ask(session, HELLO, so_far, MORE).facts
        assert following.cached_tokens >= len(prompt_ids(session, HELLO)) + cut - 1, "its ids were kept"
        more = ask(session, HELLO, so_far)
        assert first.text + more.text == "ok 🦊 then"
        assert more.facts.output_ids == tuple(ids)


@pytest.mark.parametrize("length", [1, 2, 17])
def test_max_tokens_is_exact(tiny_loaded, length):
    answer = cold(tiny_loaded(), HELLO, sampling=replace(GREEDY, max_tokens=length))
    assert (answer.facts.output_tokens, answer.facts.finish_reason) == (length, "length")
    assert isinstance(answer.events[-1], Finished)


def test_the_context_ends_a_reply(tiny_loaded):
    session = Session(tiny_loaded())
    room = len(prompt_ids(session, HELLO)) + 9
    answer = ask(session, HELLO, context=room, when_full="stop")
    assert (answer.facts.output_tokens, answer.facts.finish_reason, answer.facts.context) == (9, "context", room)


def test_a_conversation_that_fills_the_context_is_refused_and_harms_nothing(tiny_loaded):
    session = Session(tiny_loaded())
    first = ask(session, HELLO)
    length = len(prompt_ids(session, HELLO))
    with pytest.raises(ContextFull, match=f"{length}") as caught:
        ask(session, HELLO, context=length, when_full="stop")
    assert caught.value.hint
    assert ask(session, HELLO, context=length + 1, when_full="stop").facts.output_tokens == 1
    assert ask(session, HELLO).ids == first.ids


def test_a_context_is_obeyed_up_to_the_trained_length(tiny_loaded):
    loaded = tiny_loaded()
    session = Session(loaded)
    assert [session.context_limit(asked) for asked in (None, 300, 512, 4096)] == [512, 300, 512, 512]
    long = Session(replace(loaded, facts=replace(loaded.facts, context=131_072)))
    assert [long.context_limit(asked) for asked in (None, 100_000)] == [LARGEST_DEFAULT_CONTEXT, 100_000]
    unknown = Session(replace(loaded, facts=replace(loaded.facts, context=0)))
    assert [unknown.context_limit(asked) for asked in (None, 100_000)] == [LARGEST_DEFAULT_CONTEXT, 100_000]


def test_reasoning_is_told_apart_from_the_answer(tiny_loaded):
    from tests.models.tiny_tokenizers import byte_level

    tokenizer = byte_level(extra=["<think>", "</think>"])
    think, done = tokenizer.convert_tokens_to_ids(["<think>", "</think>"])
    loaded = replace(tiny_loaded(), tokenizer=tokenizer)
    script = [think, *ids_of(tokenizer, "hmm"), done, *ids_of(tokenizer, "42")]
    model = Scripted(len(prompt_ids(Session(loaded), HELLO)), script, min(loaded.end_ids), len(tokenizer))
    answer = ask(Session(replace(loaded, model=model)), HELLO)
    assert answer.text == "42"
    assert "".join(event.reasoning for event in answer.events if isinstance(event, TextDelta)) == "hmm"
    deltas = [event for event in answer.events if isinstance(event, TextDelta)]
    thought = answer.facts.reasoning_s
    assert 0 < thought < answer.facts.decode_s
    assert thought == deltas[-1].reasoning_s == max(event.reasoning_s for event in deltas)
    assert deltas[0].reasoning_s == 0


def test_a_reply_without_reasoning_took_no_time_to_think(tiny_loaded):
    assert ask(Session(tiny_loaded()), HELLO).facts.reasoning_s == 0


# -- facts --------------------------------------------------------------------------------------------------------------


def test_the_rates_follow_from_the_counts_and_times(tiny_loaded):
    session = Session(tiny_loaded())
    one = ask(session, HELLO)
    for answer in (one, ask(session, HELLO, assistant(one.text), MORE)):
        facts = answer.facts
        assert facts.prefill_tps == pytest.approx((facts.prompt_tokens - facts.cached_tokens) / facts.prefill_s)
        assert facts.decode_tps == pytest.approx((facts.output_tokens - 1) / facts.decode_s)
        assert 0 < facts.prefill_s <= facts.ttft_s
        held = facts.prompt_tokens + facts.output_tokens - 1  # Nothing was asked of the last one.
        assert facts.kv_bytes == held * session.loaded.facts.kv_bytes_per_token > 0
        assert facts.peak_bytes > facts.weights_bytes > 0
        assert {event.ttft_s for event in answer.events if isinstance(event, TextDelta)} == {facts.ttft_s}


@pytest.mark.parametrize("kv_bits", ["off", "8"])
@pytest.mark.parametrize("kind", ["growing", "sliding", "recurrent"])
def test_a_replys_cache_is_its_own_share_whatever_was_there_before(tiny_loaded, kind, kv_bits):
    loaded = tiny_loaded(kind)
    alone = ask(Session(loaded), HELLO, sampling=SHORT, kv_bits=kv_bits).facts
    session = Session(loaded)
    long = ask(session, user("The quick brown fox jumps. " * 8), sampling=SHORT, kv_bits=kv_bits).facts
    after = ask(session, HELLO, sampling=SHORT, kv_bits=kv_bits).facts
    assert (after.prompt_tokens, after.output_tokens) == (alone.prompt_tokens, alone.output_tokens)
    assert 0 < after.kv_bytes == alone.kv_bytes < long.kv_bytes


@pytest.mark.parametrize("script", ["It is Paris.", ""])
@pytest.mark.parametrize(
    "more", [{}, {"stop_after": 3}, {"sampling": replace(GREEDY, max_tokens=4)}], ids=["ended", "stopped", "cut"]
)
def test_a_reply_has_as_many_tokens_as_were_written_however_it_ended(tiny_loaded, script, more):
    answer = ask(scripted(tiny_loaded, script), HELLO, **more)
    last = [event for event in answer.events if isinstance(event, TextDelta)][-1]
    assert answer.facts.output_tokens == len(answer.facts.output_ids) == last.output_tokens
    assert last.context_used <= answer.facts.prompt_tokens + answer.facts.output_tokens


def test_the_facts_of_a_reply_cancelled_while_the_prompt_was_read_say_what_was_read(tiny_loaded):
    session = Session(tiny_loaded())
    facts = ask(session, user("The quick brown fox jumps over the lazy dog. " * 8), stop_after=0).facts
    assert facts.chunks == (64,)
    assert len(session.cache.tokens) == 64
    assert (facts.output_tokens, facts.ttft_s, facts.decode_tps) == (0, 0.0, 0.0)
    assert facts.prefill_tps == pytest.approx(64 / facts.prefill_s)


def test_the_events_come_in_order_and_add_up(tiny_loaded):
    session = Session(tiny_loaded())
    answer = ask(session, user("The quick brown fox jumps over the lazy dog. " * 8))
    kinds = [type(event) for event in answer.events]
    reading = [event for event in answer.events if isinstance(event, PrefillProgress)]
    writing = [event for event in answer.events if isinstance(event, TextDelta)]
    assert kinds == [PrefillProgress] * len(reading) + [TextDelta] * len(writing) + [NextTokens, Finished]
    total = answer.facts.prompt_tokens - 1
    assert [event.done for event in reading] == list(np.cumsum([0, *answer.facts.chunks]))
    assert {(event.total, event.cached, event.context) for event in reading} == {(total + 1, 0, 512)}
    assert [event.output_tokens for event in writing][:64] == list(range(1, 65))
    assert writing[0].context_used == answer.facts.prompt_tokens + 1
    assert {event.request_id for event in answer.events} == {"reply"}


def test_the_prompt_tokens_are_those_of_the_rendered_template(tiny_loaded):
    loaded = tiny_loaded()
    conversation = [{"role": "user", "content": HELLO.text}]
    text = loaded.tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
    ids = loaded.tokenizer.encode(text, add_special_tokens=False)
    session = Session(loaded)
    assert ask(session, HELLO).facts.prompt_tokens == len(ids)
    assert session.cache.tokens[: len(ids)] == ids


# -- seeds --------------------------------------------------------------------------------------------------------------

WARM = Sampling(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, max_tokens=24, seed=1234)


def test_a_seed_gives_the_same_reply_whatever_else_was_drawn(tiny_loaded):
    loaded = tiny_loaded()
    first = cold(loaded, HELLO, sampling=WARM)
    mx.random.seed(99)
    mx.eval(mx.random.normal((100,)))
    session = Session(loaded)
    ask(session, OTHER, sampling=replace(WARM, seed=5))
    again = ask(session, HELLO, sampling=WARM)
    assert again.ids == first.ids
    assert again.facts.seed == again.facts.sampling.seed == 1234
    assert cold(loaded, HELLO, sampling=replace(WARM, seed=1235)).ids != first.ids


def test_a_drawn_seed_is_told_and_repeats_the_reply(tiny_loaded):
    loaded = tiny_loaded()
    first = cold(loaded, HELLO, sampling=replace(WARM, seed=None))
    again = cold(loaded, HELLO, sampling=first.facts.sampling)
    assert again.ids == first.ids
    assert len({cold(loaded, HELLO, sampling=replace(WARM, seed=None, max_tokens=1)).facts.seed for _ in range(2)}) == 2


def test_a_penalty_sees_the_whole_history_also_where_it_was_not_read_again(tiny_loaded):
    loaded = tiny_loaded()
    sampling = replace(GREEDY, repetition_penalty=1.8, repetition_window=4096, max_tokens=33)
    session = Session(loaded)
    one = ask(session, HELLO, sampling=sampling)
    following = (HELLO, assistant(one.text), MORE)
    answer = ask(session, *following, sampling=sampling)
    assert answer.facts.cached_tokens > 0
    assert answer.ids == cold(loaded, *following, sampling=sampling).ids != cold(loaded, *following).ids[:32]


# -- what goes wrong ----------------------------------------------------------------------------------------------------


class Failing(nn.Module):
    """A layer that raises instead of its n-th forward pass."""

    def __init__(self, layer, fails_at, error):
        super().__init__()
        self.layer, self.left, self.error = layer, fails_at, error
        self.use_sliding = layer.use_sliding

    def __call__(self, *arguments, **named):
        self.left -= 1
        if self.left == 0:
            raise self.error
        return self.layer(*arguments, **named)


ALLOCATION = RuntimeError("[malloc] Unable to allocate 137438953472 bytes.")
METAL = RuntimeError(
    "[metal::malloc] Attempting to allocate 40000000000 bytes which is greater than the maximum allowed buffer size"
)
OTHER_ERROR = ValueError("Shapes (1,2) and (3,4) cannot be broadcast.")


@pytest.mark.parametrize(
    ("fails_at", "error", "told"),
    [
        (1, OTHER_ERROR, GenerationFailed),  # in the first chunk of the prompt
        (2, MemoryError(), OutOfMemory),
        (3, METAL, OutOfMemory),  # in the first step of the reply
        (4, OTHER_ERROR, GenerationFailed),
        (20, ALLOCATION, OutOfMemory),
    ],
)
def test_an_exception_inside_a_layer_drops_the_cache_and_the_next_reply_is_right(tiny_loaded, fails_at, error, told):
    loaded = tiny_loaded()
    long = user("The quick brown fox jumps over the lazy dog. " * 8)
    session = Session(loaded)
    ask(session, HELLO, stop_after=3)
    layers = loaded.model.model.layers
    whole = layers[1]
    layers[1] = Failing(whole, fails_at, error)
    try:
        with pytest.raises(told) as caught:
            ask(session, long)
    finally:
        layers[1] = whole
    assert caught.value.__cause__ is error
    assert caught.value.hint
    assert session.cache.tokens == []
    same_as_cold(session, HELLO, sampling=SHORT)


def test_a_faulty_template_is_told_and_leaves_the_cache_alone(tiny_loaded):
    from tests.models.tiny_tokenizers import CHATML, byte_level

    refusing = CHATML.replace("{% for", "{% if messages | length > 1 %}{{ raise_exception('no') }}{% endif %}{% for", 1)
    session = Session(replace(tiny_loaded(), tokenizer=byte_level(template=refusing)))
    ask(session, HELLO)
    held = list(session.cache.tokens)
    with pytest.raises(TemplateError):
        ask(session, HELLO, assistant("x"), MORE)
    assert session.cache.tokens == held


def test_an_abandoned_reply_leaves_a_cache_that_is_right(tiny_loaded):
    session = Session(tiny_loaded())
    for wanted in (PrefillProgress, TextDelta):
        events = session.generate(request([HELLO]))
        next(event for event in events if isinstance(event, wanted))
        events.close()
        assert agree(session)
    same_as_cold(session, HELLO)


def test_a_cancel_asked_before_the_start_reads_one_chunk_at_most(tiny_loaded):
    session = Session(tiny_loaded())
    asked = []
    events = list(session.generate(request([user("hello " * 90)]), partial(_always, asked)))
    assert isinstance(events[-1], Cancelled)
    assert events[-1].reply.chunks == (64,)
    assert len(session.cache.tokens) == 64


def _always(asked):
    asked.append(1)
    return True
