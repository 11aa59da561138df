"""Logit bias, presence and frequency penalty against their definitions in numpy."""

import mlx.core as mx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.sampling import Sampling
from engine.inference.penalties import biased, discouraged
from engine.inference.sampling import Sampler

scores_of_any_kind = st.lists(st.floats(-30, 30, width=32), min_size=2, max_size=40)
strengths = st.floats(-2, 2).map(lambda value: round(value, 3))
GREEDY = {"temperature": 0.0}


def floats(values):
    return mx.array(np.array(values, dtype=np.float32))


def draw(sampler, logits, count):
    return [int(sampler(logits).item()) for _ in range(count)]


def openai(scores, history, presence, frequency):
    """mu[j] - c[j] * frequency - (1 if c[j] > 0 else 0) * presence."""
    counts = np.bincount(np.array(history, dtype=int), minlength=len(scores))
    return np.array(scores, dtype=np.float64) - counts * frequency - (counts > 0) * presence


@settings(max_examples=150)
@given(scores=scores_of_any_kind, presence=strengths, frequency=strengths, data=st.data())
def test_presence_counts_once_and_frequency_each_time(scores, presence, frequency, data):
    history = data.draw(st.lists(st.integers(0, len(scores) - 1), max_size=30))
    counts = mx.array(np.bincount(np.array(history, dtype=int), minlength=len(scores)).astype(np.float32))
    found = np.array(discouraged(floats(scores), counts, presence, frequency))
    np.testing.assert_allclose(found, openai(scores, history, presence, frequency), rtol=1e-5, atol=1e-4)


@settings(max_examples=100)
@given(scores=scores_of_any_kind, data=st.data())
def test_a_bias_is_added_to_its_token_and_to_no_other(scores, data):
    biases = data.draw(st.dictionaries(st.integers(0, len(scores) - 1), st.floats(-100, 100), min_size=1))
    expected = np.array(scores, dtype=np.float64)
    for token, value in biases.items():
        expected[token] += value
    found = biased(floats(scores), mx.array(list(biases)), mx.array(list(biases.values())))
    np.testing.assert_allclose(np.array(found), expected, rtol=1e-5, atol=1e-4)


@settings(max_examples=40)
@given(presence=strengths, frequency=strengths, history=st.lists(st.integers(0, 5), max_size=12))
def test_both_look_at_the_whole_history_and_at_what_was_drawn(presence, frequency, history):
    scores = [0.9, 0.7, 0.5, 0.3, 0.11, 0.0]
    sampler = Sampler(Sampling(presence_penalty=presence, frequency_penalty=frequency, **GREEDY), 1, history)
    for token in draw(sampler, floats(scores), 15):
        expected = openai(scores, history, presence, frequency)
        assert expected[token] >= expected.max() - 1e-5
        history = [*history, token]


def test_a_history_of_a_hundred_thousand_tokens_counts_in_full():
    history = [0] * 100_000 + [1] * 1_000
    sampler = Sampler(Sampling(frequency_penalty=0.001, **GREEDY), 1, history)
    assert draw(sampler, mx.array([90.0, 0.0, -1.5]), 1) == [1]  # 90 - 100, 0 - 1, -1.5
    assert draw(Sampler(Sampling(**GREEDY), 1, history), mx.array([90.0, 0.0, -1.5]), 1) == [0]


def test_a_bias_forces_or_forbids_a_token():
    scores = mx.array([1.0, 5.0, 4.0])
    assert draw(Sampler(Sampling(**GREEDY), 1, [], {1: -100.0}), scores, 2) == [2, 2]
    assert draw(Sampler(Sampling(**GREEDY), 1, [], {0: 100.0}), scores, 2) == [0, 0]
    assert set(draw(Sampler(Sampling(temperature=2.0, top_k=0), 1, [], {0: 100.0}), scores, 20)) == {0}


def test_the_bias_comes_before_the_repetition_penalty():
    # 1 + 3 = 4, halved is 2 < 3; the other way round it were 0.5 + 3 = 3.5.
    sampling = Sampling(repetition_penalty=2.0, **GREEDY)
    assert draw(Sampler(sampling, 1, [0], {0: 3.0}), mx.array([1.0, 3.0]), 1) == [1]


def test_the_repetition_penalty_comes_before_presence():
    # 4 / 2 - 1 = 1 > 0.9; the other way round it were (4 - 1) / 2 = 1.5, and 1.2 would not win.
    sampling = Sampling(repetition_penalty=2.0, presence_penalty=1.0, **GREEDY)
    assert draw(Sampler(sampling, 1, [0]), mx.array([4.0, 1.2]), 1) == [1]
    assert draw(Sampler(sampling, 1, [0]), mx.array([4.0, 0.9]), 1) == [0]
