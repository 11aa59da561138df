"""What settings do to a distribution, against the definitions in numpy over the whole vocabulary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.settings.outlook import outlook
from engine.core.messages import NextTokens

OFF = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}


def told(scores, single=256):
    """A distribution as the engine tells it: the likeliest tokens one by one, the others in blocks."""
    falling = np.sort(np.asarray(scores, dtype=np.float64))[::-1]
    falling -= np.logaddexp.reduce(falling)
    counts, tails, start, size = [], [], single, max(1, single // 2)
    while start < len(falling):
        block = falling[start : start + size]
        counts.append(len(block))
        tails.append(float(np.logaddexp.reduce(block) - np.log(len(block))))
        start, size = start + size, size + size // 2
    names = tuple(f"t{index}" for index in range(min(16, len(falling))))
    return NextTokens("r", "before", names, tuple(falling[:single].tolist()), tuple(counts), tuple(tails))


def reference(scores, temperature, top_k, top_p, min_p):
    """The shares of all tokens after the temperature, likeliest first, and how many of them stay."""
    falling = np.sort(np.asarray(scores, dtype=np.float64))[::-1] / temperature
    shares = np.exp(falling - np.logaddexp.reduce(falling))
    first = shares[:top_k] if 0 < top_k < len(shares) else shares
    first = first / first.sum()
    kept = len(first)
    if top_p < 1:
        kept = min(kept, int((np.cumsum(first) < top_p).sum()) + 1)
    return shares, min(kept, int((first >= min_p * first[0]).sum()))


@settings(max_examples=200)
@given(
    scores=st.lists(st.floats(-12, 12), min_size=1, max_size=40),
    temperature=st.floats(0.1, 2),
    top_k=st.integers(0, 45),
    top_p=st.floats(0, 1),
    min_p=st.floats(0, 1),
)
def test_shares_and_how_many_stay_are_as_the_definitions_say(scores, temperature, top_k, top_p, min_p):
    found = outlook(told(scores), {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p})
    shares, _ = reference(scores, temperature, top_k, top_p, min_p)
    np.testing.assert_allclose([share for _, share in found.tokens], shares[:16], rtol=1e-6, atol=1e-12)
    # Where a sum falls on a bound within rounding, either side is right.
    least = reference(scores, temperature, top_k, top_p - 1e-9, min_p + 1e-9)[1]
    most = reference(scores, temperature, top_k, min(1, top_p + 1e-9), max(0, min_p - 1e-9))[1]
    assert least <= found.kept <= most
    assert found.size == len(scores)


@pytest.mark.parametrize(
    ("values", "kept"), [({}, 6), ({"top_k": 2}, 2), ({"top_p": 0.7}, 2), ({"min_p": 0.25}, 3), ({"top_k": 5, "min_p": 0.1}, 4)]
)
def test_each_setting_drops_what_it_says(values, kept):
    scores = np.log([0.5, 0.25, 0.125, 0.0625, 0.04, 0.0225])
    assert outlook(told(scores), {**OFF, **values}).kept == kept


def test_a_higher_temperature_levels_the_shares_and_zero_leaves_one():
    scores = np.log([0.5, 0.25, 0.25])
    cold, warm = (outlook(told(scores), {**OFF, "temperature": value}).tokens[0][1] for value in (0.5, 2.0))
    assert cold > 0.5 > warm
    none = outlook(told(scores), {**OFF, "temperature": 0.0})
    assert (none.kept, none.tokens[0][1], none.tokens[1][1]) == (1, 1.0, 0.0)


@pytest.mark.parametrize("values", [OFF, {**OFF, "temperature": 2.0}, {**OFF, "top_p": 0.9}, {**OFF, "top_k": 400}])
def test_tokens_that_are_told_in_blocks_count_too(values):
    scores = np.random.default_rng(3).normal(0, 2, 20_000)
    found = outlook(told(scores), values)
    shares, kept = reference(scores, **values)
    assert found.size == 20_000
    assert found.kept == pytest.approx(kept, rel=0.1)
    assert found.tokens[0][1] == pytest.approx(shares[0], rel=0.02)
