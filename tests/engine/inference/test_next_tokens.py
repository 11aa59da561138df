"""Which distribution of a reply is told, and that what is told of it adds up."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.sampling import Sampling
from engine.inference.next_tokens import NAMED, TOP, next_tokens
from engine.inference.sampling import RECENT, Sampler
from tests.models.tiny_tokenizers import tokenizer_of

SIZE = 300
END = 299


def logits_of(best, certain):
    """Logits that prefer `best`: hardly, or beyond doubt."""
    row = np.zeros(SIZE, dtype=np.float32)
    row[best] = 50.0 if certain else 1.0
    return mx.array(row)


def sampled(*rows):
    sampler = Sampler(Sampling(temperature=0.0), 1, [])
    for best, certain in rows:
        sampler(logits_of(best, certain))
    return sampler


def told(sampler, written, ids=None):
    ids = list(range(40, 40 + written)) if ids is None else ids
    return next_tokens("r", sampler, ids, written, tokenizer_of("byte level"), {END})


def likeliest(event):
    """The id of the told distribution's first token, by its text."""
    return tokenizer_of("byte level").encode(event.texts[0])[0]


def test_the_newest_that_left_a_choice_is_told():
    event = told(sampled((50, False), (51, False), (52, True), (END, False), (END, True)), 5)
    assert likeliest(event) == 51
    assert event.before == tokenizer_of("byte level").decode([40])


def test_where_none_left_a_choice_the_last_is_told():
    event = told(sampled((50, True), (51, True)), 2)
    assert likeliest(event) == 51
    assert np.exp(event.logprobs[0]) == pytest.approx(1)
    event = told(sampled((END, True)), 1)
    assert event.texts[0] == tokenizer_of("byte level").decode([END])


def test_where_all_left_little_of_one_the_one_that_left_most_is_told():
    sampler = sampled((50, True))
    for strength in (7.5, 8.5, 9.5):  # .86, .94 and .98 for the likeliest of 300.
        sampler(mx.zeros(SIZE).at[mx.array([50 + int(strength)])].add(strength))
    assert likeliest(told(sampler, 4)) == 57


def test_what_was_drawn_ahead_and_never_shown_is_not_told():
    assert likeliest(told(sampled((50, False), (51, False)), 1)) == 50


def test_only_the_newest_draws_are_looked_at():
    rows = [(50, False), *[(51, True)] * RECENT]
    assert likeliest(told(sampled(*rows), RECENT + 1)) == 51
    assert likeliest(told(sampled((52, True), (50, False), *[(51, True)] * (RECENT - 1)), RECENT + 1)) == 50


def test_the_first_token_of_a_reply_follows_nothing():
    assert told(sampled((50, False)), 1).before == ""


@settings(max_examples=30)
@given(size=st.sampled_from([2, NAMED, TOP, TOP + 1, TOP + 129, 5_000, 60_001]), seed=st.integers(0, 99), wide=st.booleans())
def test_what_is_told_is_the_whole_distribution_at_any_temperature(size, seed, wide):
    row = np.random.default_rng(seed).normal(0, 5 if wide else 1, size).astype(np.float32)
    sampler = Sampler(Sampling(temperature=0.0), 1, [])
    sampler(mx.array(row))
    event = told(sampler, 1)
    exact = np.sort(row.astype(np.float64))[::-1] - np.logaddexp.reduce(row.astype(np.float64))
    np.testing.assert_allclose(event.logprobs, exact[:TOP], rtol=1e-3, atol=1e-3)
    assert len(event.texts) == min(size, NAMED)
    assert len(event.logprobs) + sum(event.tail_counts) == size
    for temperature in (0.5, 1.0, 2.0):
        whole = np.exp(exact / temperature).sum()
        blocks = sum(
            count * np.exp(mean / temperature) for count, mean in zip(event.tail_counts, event.tail_logprobs, strict=True)
        )
        assert np.exp(np.array(event.logprobs) / temperature).sum() + blocks == pytest.approx(whole, rel=0.03)


def test_a_token_that_was_masked_out_stays_a_number():
    row = mx.array([1.0, -mx.inf, 0.5])
    sampler = Sampler(Sampling(temperature=0.0), 1, [])
    sampler(row)
    assert told(sampler, 1).logprobs[-1] == -1e4


def test_nothing_is_evaluated_until_it_is_asked_for(tmp_path):
    sampler = Sampler(Sampling(temperature=0.7, dry_multiplier=1.0), 1, [1, 2, 1], {3: 1.0}, {5})
    # MLX refuses any evaluation while it traces a function.
    mx.export_function(str(tmp_path / "one.mlxfn"), lambda given: mx.stack([sampler(given), sampler(given)]), mx.zeros(40))
    assert sampler.drawn == 2
