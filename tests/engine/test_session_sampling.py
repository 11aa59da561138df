"""Each sampling setting on its way from a stored chat through the request and the session to the tokens that are drawn."""

from collections import Counter
from dataclasses import fields, replace

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx_lm.models.cache import KVCache

from engine.chats.request import compose
from engine.chats.store import ChatStore
from engine.core.errors import SettingsError
from engine.core.messages import NextTokens, TextDelta
from engine.core.sampling import Recommended, Sampling
from engine.session import Session

FIRST = 40
"""The id of the first of the tokens that can be drawn."""
SCORES = np.array([2.0, 1.5, 1.0, 0.3, -0.5, 2.2], dtype=np.float32)
OFF = {"top_k": 0, "top_p": 1.0, "min_p": 0.0, "temperature": 1.0}
COUNT = 1200


class Constant(nn.Module):
    """A model to which every next token is as likely as at any other place: `SCORES` for six tokens, never another one."""

    def __init__(self, vocabulary):
        super().__init__()
        self.layers = [nn.Identity()]
        row = np.full(vocabulary, -1e9, dtype=np.float32)
        row[FIRST : FIRST + len(SCORES)] = SCORES
        self.row = mx.array(row)

    def make_cache(self):
        return [KVCache()]

    def __call__(self, inputs, cache):
        rows = mx.zeros((1, 1, inputs.shape[1], 4))
        cache[0].update_and_fetch(rows, rows)
        return mx.broadcast_to(self.row, (1, inputs.shape[1], self.row.size))


@pytest.fixture
def session(tiny_loaded):
    loaded = tiny_loaded()
    facts = replace(loaded.facts, context=100_000)
    constant = Constant(len(loaded.tokenizer))
    return Session(replace(loaded, model=constant, facts=facts, end_ids=frozenset()))


@pytest.fixture
def store(tmp_path):
    with ChatStore(tmp_path / "chats.sqlite3") as store:
        yield store


def reply(session, store, /, app=None, given=None, **chat):
    """Ask in a stored chat with settings of its own; return the events."""
    held = store.create_chat(settings={"memory_guard": "off", **chat})
    store.add_message(held.id, "user", "go")
    path = store.messages(held.id)
    command = compose(store, held.id, path, request_id="r", model_id="m", app=app or {}, given=given)
    return list(session.generate(command))


def written(session, store, /, **values):
    """The tokens of a long reply, counted from 0, as many of them as `max_tokens` says."""
    events = reply(session, store, **{**OFF, "seed": 5, "max_tokens": COUNT, **values})
    assert len(events[-1].reply.output_ids) == values.get("max_tokens", COUNT)
    return [token - FIRST for token in events[-1].reply.output_ids]


def probabilities(scores):
    weights = np.exp(np.asarray(scores, dtype=np.float64) - np.max(scores))
    return weights / weights.sum()


def only(kept, scores=SCORES):
    """The distribution with all but the `kept` tokens removed."""
    shares = np.zeros(len(scores))
    shares[kept] = probabilities(np.asarray(scores)[kept])
    return shares


def agrees(tokens, expected):
    counts = Counter(tokens)
    assert set(counts) <= set(np.flatnonzero(expected).tolist())
    shares = [(share * len(tokens), counts[token]) for token, share in enumerate(expected) if share > 0]
    # Beyond the 99.9th percentile for 5 degrees of freedom; the seed is fixed.
    assert sum((found - wanted) ** 2 / wanted for wanted, found in shares) < 21


# The tokens from the likeliest on: 5 0 1 2 3 4, with shares of .36 .30 .18 .11 .05 .02.
DRAWN = {
    "temperature": ({"temperature": 0.5}, probabilities(SCORES / 0.5)),
    "top_k": ({"top_k": 3}, only([5, 0, 1])),
    "top_p": ({"top_p": 0.7}, only([5, 0, 1])),
    "min_p": ({"min_p": 0.25}, only([5, 0, 1, 2])),
    "xtc_probability": (
        {"xtc_probability": 0.5},
        0.5 * probabilities(SCORES) + 0.5 * only([2, 3, 4]),
    ),
    "xtc_threshold": ({"xtc_probability": 1.0, "xtc_threshold": 0.25}, only([0, 1, 2, 3, 4])),
    "logit_bias": (
        {"logit_bias": f"#{FIRST}=-100\n#{FIRST + 4}=2"},
        probabilities(SCORES + np.array([-100, 0, 0, 0, 2, 0])),
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_what_a_chat_sets_changes_how_often_tokens_come(session, store, name):
    values, expected = DRAWN[name]
    assert name in values
    agrees(written(session, store), probabilities(SCORES))
    agrees(written(session, store, **values), expected)


def greedy(rule, count=60):
    """What is written when the likeliest token under `rule(scores, history)` is taken each time; the prompt has none of them."""
    history = []
    for _ in range(count):
        history.append(int(np.argmax(rule(SCORES.astype(np.float64), history))))
    return history


def repetition(penalty, window):
    def rule(scores, history):
        for token in set(history[-window:]):
            scores[token] = scores[token] / penalty if scores[token] > 0 else scores[token] * penalty
        return scores

    return rule


def counted(presence, frequency):
    def rule(scores, history):
        counts = np.bincount(history, minlength=len(scores)) if history else np.zeros(len(scores))
        return scores - counts * frequency - (counts > 0) * presence

    return rule


def dry(multiplier, base, allowed, window=None, breakers=()):
    def rule(scores, history):
        seen = history if window is None else history[-window:]
        best = {}
        for place in range(len(seen) - 1) if seen and seen[-1] not in breakers else ():
            length = 0
            while length <= place and seen[place - length] == seen[-1 - length] and seen[-1 - length] not in breakers:
                length += 1
            if seen[place + 1] not in breakers:
                best[seen[place + 1]] = max(length, best.get(seen[place + 1], 0))
        for token, length in best.items():
            if length >= allowed:
                scores[token] -= multiplier * base ** (length - allowed)
        return scores

    return rule


HISTORY = {
    "repetition_penalty": ({"repetition_penalty": 1.5}, repetition(1.5, 64)),
    "repetition_window": ({"repetition_penalty": 1.5, "repetition_window": 16}, repetition(1.5, 16)),
    "presence_penalty": ({"presence_penalty": 0.6}, counted(0.6, 0)),
    "frequency_penalty": ({"frequency_penalty": 0.11}, counted(0, 0.11)),
    "dry_multiplier": ({"dry_multiplier": 0.9}, dry(0.9, 1.75, 2)),
    "dry_base": ({"dry_multiplier": 0.9, "dry_base": 3.0}, dry(0.9, 3.0, 2)),
    "dry_allowed_length": ({"dry_multiplier": 0.9, "dry_allowed_length": 4}, dry(0.9, 1.75, 4)),
    "dry_window": ({"dry_multiplier": 0.9, "dry_window": 16}, dry(0.9, 1.75, 2, 16)),
}


@pytest.mark.parametrize("name", HISTORY)
def test_what_a_chat_sets_changes_which_token_follows_which(session, store, name):
    values, rule = HISTORY[name]
    assert name in values
    plain = written(session, store, temperature=0.0, max_tokens=60)
    assert plain == [5] * 60
    found = written(session, store, temperature=0.0, max_tokens=60, **values)
    assert found == greedy(rule)
    assert found != plain


def test_dry_does_not_look_across_the_breakers_that_a_chat_sets(session, store):
    text = session.loaded.tokenizer.decode([FIRST + 5])
    values = {"temperature": 0.0, "max_tokens": 60, "dry_multiplier": 0.9, "dry_breakers": text}
    found = written(session, store, **values)
    assert found == greedy(dry(0.9, 1.75, 2, None, {5})) == [5] * 60
    assert written(session, store, **{**values, "dry_breakers": ""}) == greedy(dry(0.9, 1.75, 2)) != found


def test_a_seed_gives_the_same_tokens_and_another_one_others(session, store):
    one, again, other = (written(session, store, seed=seed, max_tokens=40) for seed in (7, 7, 8))
    assert one == again != other


def test_a_reply_ends_at_the_token_limit_and_before_a_stop_text(session, store):
    assert len(written(session, store, max_tokens=17)) == 17
    tokenizer = session.loaded.tokenizer
    stop = tokenizer.decode([FIRST + 1])
    events = reply(session, store, **OFF, seed=5, max_tokens=200, stop=f"never\n{stop}")
    ids = list(events[-1].reply.output_ids)
    assert ids.index(FIRST + 1) == len(ids) - 1
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == tokenizer.decode(ids[:-1])


def test_every_sampling_setting_is_followed_here():
    tried = {*DRAWN, *HISTORY, "dry_breakers", "seed", "max_tokens", "stop"}
    assert tried == {entry.name for entry in fields(Sampling)}


# -- layers -----------------------------------------------------------------------------------------------------------------


def used(session, store, /, **more):
    return reply(session, store, **{"max_tokens": 1, **more})[-1].reply.sampling


def test_what_the_model_recommends_stands_only_where_nobody_set_anything(session, store):
    recommended = Recommended(temperature=0.6, top_p=0.8, top_k=7)
    session.loaded.facts = replace(session.loaded.facts, recommended=recommended)
    assert (used(session, store).temperature, used(session, store).top_p, used(session, store).min_p) == (0.6, 0.8, 0.05)
    sampling = used(session, store, app={"temperature": 0.7, "top_p": 0.9}, top_p=0.5)
    assert (sampling.temperature, sampling.top_p, sampling.top_k) == (0.7, 0.5, 7)
    sampling = used(session, store, app={"temperature": 0.7}, given={"temperature": 0.1}, temperature=0.2)
    assert sampling.temperature == 0.1


def test_a_request_that_says_nothing_of_what_is_unset_is_taken_as_it_stands(session):
    from tests.engine.talk import ask, user

    session.loaded.facts = replace(session.loaded.facts, recommended=Recommended(temperature=0.6))
    sampling = Sampling(max_tokens=1)
    assert ask(session, user("go"), sampling=sampling, memory_guard="off").facts.sampling.temperature == 0.7


def test_a_bias_for_what_is_no_token_is_refused_before_anything_is_read(session, store):
    with pytest.raises(SettingsError, match="no token #999999"):
        reply(session, store, logit_bias="#999999=1")
    assert session.cache.tokens == []


# -- the distribution that is told ------------------------------------------------------------------------------------------


def test_a_reply_tells_one_distribution_just_before_it_ends(session, store):
    events = reply(session, store, **OFF, seed=5, max_tokens=20)
    (told,) = [event for event in events if isinstance(event, NextTokens)]
    assert events[-2] is told
    order = np.argsort(-SCORES)
    np.testing.assert_allclose(np.exp(told.logprobs[:6]), probabilities(SCORES)[order], rtol=1e-4)
    tokenizer = session.loaded.tokenizer
    assert told.texts[:6] == tuple(tokenizer.decode([int(FIRST + token)]) for token in order)
    assert tokenizer.decode(events[-1].reply.output_ids[:-1]).endswith(told.before)
