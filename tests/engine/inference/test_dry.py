"""DRY against its definition, written out place by place as its author did."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.sampling import Sampling
from engine.inference.dry import Dry, suffix_lengths
from engine.inference.sampling import Sampler

VOCABULARY = 6
histories = st.lists(st.integers(0, VOCABULARY - 1), max_size=40)
breakers = st.sets(st.integers(0, VOCABULARY - 1), max_size=2)


def penalties(history, multiplier, base, allowed, window, breakers):
    """What DRY takes from each token's score."""
    tokens = list(history if window is None else history[-window:])
    longest = {}
    if tokens and tokens[-1] not in breakers:
        for place in range(len(tokens) - 1):
            following, length = tokens[place + 1], 0
            if following in breakers:
                continue
            while length <= place and tokens[place - length] == tokens[-1 - length] and tokens[-1 - length] not in breakers:
                length += 1
            longest[following] = max(longest.get(following, 0), length)
    result = np.zeros(VOCABULARY)
    for token, length in longest.items():
        if length >= allowed:
            result[token] = multiplier * base ** (length - allowed)
    return result


@settings(max_examples=200)
@given(history=histories, breakers=breakers)
def test_lengths_of_repetitions_are_those_counted_one_by_one(history, breakers):
    expected = []
    for place in range(len(history)):
        length = 0
        while length <= place and history[place - length] == history[-1 - length] and history[-1 - length] not in breakers:
            length += 1
        expected.append(length)
    assert suffix_lengths(history, breakers) == expected


@settings(max_examples=150)
@given(
    history=histories,
    drawn=histories,
    breakers=breakers,
    multiplier=st.floats(0.1, 5),
    base=st.floats(1, 4),
    allowed=st.integers(1, 4),
    window=st.one_of(st.none(), st.integers(1, 20)),
)
def test_each_token_loses_what_the_definition_says(history, drawn, breakers, multiplier, base, allowed, window):
    dry = Dry(multiplier, base, allowed, window, breakers, history)
    scores = mx.zeros(VOCABULARY)
    for token in [*drawn, None]:
        expected = penalties(history, multiplier, base, allowed, window, breakers)
        expected = np.minimum(expected, multiplier * np.exp(60.0))
        np.testing.assert_allclose(-np.array(dry(scores)), expected, rtol=1e-3, atol=1e-6)
        if token is not None:
            dry.add(mx.array(token, dtype=mx.uint32))
            history = [*history, token]


def test_the_example_of_its_author():
    # “a b c d … a b c”: three tokens repeat, so d loses 0.8 · 1.75 ^ (3 − 2).
    a, b, c, d, other = range(5)
    dry = Dry(0.8, 1.75, 2, None, (), [a, b, c, d, other, a, b, c])
    np.testing.assert_allclose(np.array(dry(mx.zeros(5))), [0, 0, 0, -1.4, 0], rtol=1e-6)


def test_a_breaker_ends_a_repetition_and_is_never_penalized():
    a, b, newline, d = range(4)
    assert not np.array(Dry(1.0, 2.0, 2, None, {newline}, [a, newline, b, d, a, newline, b])(mx.zeros(4))).any()
    assert not np.array(Dry(1.0, 2.0, 1, None, {newline}, [a, b, newline, a, b])(mx.zeros(4)))[newline]
    assert np.array(Dry(1.0, 2.0, 1, None, {newline}, [a, newline, b, d, a, newline, b])(mx.zeros(4))).tolist() == [0, 0, 0, -1]


def test_only_the_window_counts():
    history = [0, 1, 2, 3, 4, 0, 1, 2]
    assert np.array(Dry(1.0, 2.0, 2, 8, (), history)(mx.zeros(5)))[3] == -2
    assert np.array(Dry(1.0, 2.0, 2, 7, (), history)(mx.zeros(5)))[3] == -1
    assert np.array(Dry(1.0, 2.0, 2, 6, (), history)(mx.zeros(5)))[3] == 0


def test_a_very_long_repetition_does_not_overflow():
    scores = np.array(Dry(5.0, 4.0, 1, None, (), [0, 1] * 500)(mx.zeros(3)))
    assert np.isfinite(scores).all()
    assert scores[0] < -1e20
    assert scores[2] == 0


@pytest.mark.parametrize("history", [[], [0]])
def test_there_is_nothing_to_repeat_at_the_start(history):
    assert np.array(Dry(1.0, 2.0, 1, None, (), history)(mx.ones(3))).tolist() == [1, 1, 1]


def test_greedy_text_stops_going_round_in_circles():
    """The logits alone would write 0 1 2 for ever."""
    logits = {0: [0, 9, 1, 5], 1: [0, 0, 9, 5], 2: [9, 0, 0, 5], 3: [9, 1, 1, 0]}

    def written(**values):
        sampler, text = Sampler(Sampling(temperature=0.0, **values), 1, [0, 1, 2]), [0, 1, 2]
        for _ in range(12):
            text.append(int(sampler(mx.array(logits[text[-1]], dtype=mx.float32)).item()))
        return text

    assert 3 not in written()
    assert 3 in written(dry_multiplier=2.0)
    assert 3 not in written(dry_multiplier=2.0, dry_allowed_length=12)


def test_cold_and_cached_runs_agree_because_the_history_is_given_in_full():
    logits = mx.random.normal((VOCABULARY,), key=mx.random.key(3))
    sampling = Sampling(temperature=0.0, dry_multiplier=1.0, frequency_penalty=0.1)
    whole, text = Sampler(sampling, 1, [0, 1, 2]), [0, 1, 2]
    for _ in range(30):
        text.append(int(whole(logits).item()))
    later = Sampler(sampling, 1, text[:20])
    assert [int(later(logits).item()) for _ in range(len(text) - 20)] == text[20:]
