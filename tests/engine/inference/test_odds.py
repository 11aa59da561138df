"""The odds that are kept of a reply's tokens: those of a plain forward, whatever is sampled, and no work where nobody asks."""

from dataclasses import replace

import mlx.core as mx
import numpy as np
import pytest

from engine.core.messages import Finished, ReplyOdds
from engine.core.settings import Sampling
from engine.inference.odds import Odds
from engine.session import Session
from tests.engine.talk import GREEDY, ask, request, user
from tests.models.tiny_tokenizers import byte_level

HELLO = user("hello, what is the capital of France?")
SHORT = replace(GREEDY, max_tokens=12)
HOT = Sampling(temperature=1.7, top_k=0, top_p=1.0, min_p=0.0, repetition_penalty=1.5, seed=3, max_tokens=12)


def kept(answer):
    """The odds among an answer's events, and that they come right before its end."""
    assert isinstance(answer.events[-1], Finished)
    assert isinstance(answer.events[-2], ReplyOdds)
    return answer.events[-2].odds


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
    monkeypatch.setattr(mx, "logsumexp", lambda *a, run=mx.logsumexp, **k: (used.append(1), run(*a, **k))[1])
    answer = ask(Session(tiny_loaded()), HELLO, sampling=SHORT, keep_probabilities=asked)
    assert set(seen) == {outputs}
    assert bool(used) == (asked == "on")
    assert any(isinstance(event, ReplyOdds) for event in answer.events) == (asked == "on")


def test_odds_of_a_stopped_reply_are_those_of_what_was_written(tiny_loaded):
    answer = ask(Session(tiny_loaded()), HELLO, sampling=SHORT, stop_after=4, keep_probabilities="on")
    assert answer.facts.finish_reason == "cancelled"
    assert answer.events[-2].odds.ids == answer.facts.output_ids


def test_vocabulary_smaller_than_what_is_asked_for_gives_all():
    odds = Odds(byte_level(), 5)
    ids, logprobs, drawn = odds.measure(mx.array([1.0, 3.0, 2.0]), mx.array(2))
    assert ids.tolist() == [1, 2, 0]
    assert np.exp(logprobs.tolist()).sum() == pytest.approx(1)
    assert drawn.item() == pytest.approx(logprobs[1].item())
