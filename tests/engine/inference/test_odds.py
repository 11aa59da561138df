"""The odds that are kept of a reply's tokens: those of a plain forward, whatever is sampled, and no work where nobody asks."""

from dataclasses import replace

import mlx.core as mx
import numpy as np
import pytest

from engine.core.facts import Message
from engine.core.messages import ReplyOdds, TextDelta
from engine.core.settings import Sampling
from engine.inference.odds import Odds
from engine.session import Session
from tests.engine.talk import GREEDY, ask, request, user
from tests.models.tiny_tokenizers import byte_level

HELLO = user("hello, what is the capital of France?")
SHORT = replace(GREEDY, max_tokens=12)
HOT = Sampling(temperature=1.7, top_k=0, top_p=1.0, min_p=0.0, repetition_penalty=1.5, seed=3, max_tokens=12)


def kept(answer):
    """The odds among an answer's events: once, after the last text and before its end."""
    kinds = [type(event) for event in answer.events]
    place = kinds.index(ReplyOdds)
    assert TextDelta not in kinds[place:]
    assert kinds.count(ReplyOdds) == 1
    return answer.events[place].odds


def whole_characters(text):
    """A random model's text without the signs for half characters, which may come a token later."""
    return text.replace("\ufffd", "")


def reference(loaded, ids):
    """Log-probabilities [n, V] after each prefix of `ids`, by one forward without a cache and numpy."""
    logits = np.array(loaded.model(mx.array([ids]))[0].astype(mx.float32), dtype=np.float64)
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


@pytest.mark.parametrize("sampling", [SHORT, HOT], ids=["greedy", "hot and penalised"])
def test_odds_are_the_models_own_whatever_is_sampled(tiny_loaded, sampling):
    loaded = tiny_loaded()
    session = Session(loaded)
    prompt = list(session.inspect(request((HELLO,)), "look").ids)
    odds = kept(ask(session, HELLO, sampling=sampling, keep_probabilities="on"))
    logprobs = reference(loaded, [*prompt, *odds.ids])
    for index, token in enumerate(odds.ids):
        expected = logprobs[len(prompt) + index - 1]
        assert odds.logprobs[index] == pytest.approx(expected[token], abs=2e-3)
        likeliest = np.argsort(-expected)[:5]
        assert [index for index, _ in odds.others(index)] == likeliest.tolist()
        assert [figure for _, figure in odds.others(index)] == pytest.approx(expected[likeliest].tolist(), abs=2e-3)


def test_pieces_are_the_text_of_the_reply_and_ids_those_it_was_written_with(tiny_loaded):
    answer = ask(Session(tiny_loaded()), HELLO, sampling=SHORT, keep_probabilities="on")
    odds = kept(answer)
    assert "".join(odds.pieces) == answer.text
    assert odds.ids == answer.facts.output_ids
    assert (len(odds.pieces), len(odds.logprobs), len(odds.other_ids)) == (len(odds.ids), len(odds.ids), 5 * len(odds.ids))
    assert set(odds.known_ids) == {*odds.ids, *odds.other_ids}


def test_asking_for_odds_does_not_change_the_reply(tiny_loaded):
    plain = ask(Session(tiny_loaded()), HELLO, sampling=HOT)
    watched = ask(Session(tiny_loaded()), HELLO, sampling=HOT, keep_probabilities="on")
    assert (watched.text, watched.ids) == (plain.text, plain.ids)


@pytest.mark.parametrize(("asked", "outputs"), [("off", 1), ("on", 4)])
def test_without_being_asked_a_step_has_one_output_and_no_other_operation(tiny_loaded, monkeypatch, asked, outputs):
    seen, used = [], []
    monkeypatch.setattr(mx, "async_eval", lambda *arrays, run=mx.async_eval: (seen.append(len(arrays)), run(*arrays)))
    monkeypatch.setattr(Odds, "measure", lambda *a, run=Odds.measure: (used.append(1), run(*a))[1])
    answer = ask(Session(tiny_loaded()), HELLO, sampling=SHORT, keep_probabilities=asked)
    assert set(seen) == {outputs}
    assert bool(used) == (asked == "on")
    assert any(isinstance(event, ReplyOdds) for event in answer.events) == (asked == "on")


def test_odds_of_a_stopped_reply_are_those_of_what_was_written(tiny_loaded):
    answer = ask(Session(tiny_loaded()), HELLO, sampling=SHORT, stop_after=4, keep_probabilities="on")
    assert answer.facts.finish_reason == "cancelled"
    assert kept(answer).ids == answer.facts.output_ids


def test_vocabulary_smaller_than_what_is_asked_for_gives_all():
    odds = Odds(byte_level(), 5)
    ids, logprobs, drawn = odds.measure(mx.array([1.0, 3.0, 2.0]), mx.array(2))
    assert ids.tolist() == [1, 2, 0]
    assert np.exp(logprobs.tolist()).sum() == pytest.approx(1)
    assert drawn.item() == pytest.approx(logprobs[1].item())


def test_reply_that_goes_on_has_the_odds_it_would_have_had_at_once(tiny_loaded):
    loaded = tiny_loaded()
    whole = kept(ask(Session(loaded), HELLO, sampling=SHORT, keep_probabilities="on"))
    begun = Message("assistant", "", whole.ids[:5], loaded.facts.fingerprint)
    rest = replace(SHORT, max_tokens=7)
    tail = kept(ask(Session(loaded), HELLO, begun, sampling=rest, keep_probabilities="on"))
    assert tail.ids == whole.ids[5:]
    assert "".join(tail.pieces) == "".join(whole.pieces[5:])
    assert tail.logprobs == pytest.approx(whole.logprobs[5:], abs=1e-3)


def test_reply_begun_with_another_token_goes_on_from_it(tiny_loaded):
    loaded = tiny_loaded()
    whole = kept(ask(Session(loaded), HELLO, sampling=SHORT, keep_probabilities="on"))
    other = next(token for token, _ in whole.others(4) if token != whole.ids[4] and token not in loaded.end_ids)
    begun = whole.branched(4, other)
    answer = ask(
        Session(loaded),
        HELLO,
        Message("assistant", "", begun.ids, loaded.facts.fingerprint),
        sampling=SHORT,
        keep_probabilities="on",
    )
    joined = begun.joined(kept(answer))
    assert joined.ids == answer.facts.output_ids
    assert joined.ids[:5] == (*whole.ids[:4], other)
    assert whole_characters("".join(joined.pieces)) == whole_characters(answer.text)
    assert joined.logprobs[4] == dict(whole.others(4))[other]
    assert joined.others(3) == whole.others(3)
    prompt = list(Session(loaded).inspect(request((HELLO,)), "look").ids)
    expected = reference(loaded, [*prompt, *joined.ids])
    figures = [expected[len(prompt) + place - 1][token] for place, token in enumerate(joined.ids)]
    assert joined.logprobs == pytest.approx(figures, abs=2e-3)


def test_end_of_the_turn_put_in_a_place_ends_the_reply_there(tiny_loaded):
    loaded = tiny_loaded()
    whole = kept(ask(Session(loaded), HELLO, sampling=SHORT, keep_probabilities="on"))
    ids = (*whole.ids[:4], next(iter(loaded.end_ids)))
    answer = ask(Session(loaded), HELLO, Message("assistant", "", ids, loaded.facts.fingerprint), sampling=SHORT)
    assert answer.facts.finish_reason == "stop"
    assert answer.facts.output_ids == whole.ids[:4]
    assert whole_characters(answer.text) == whole_characters("".join(whole.pieces[:4]))
