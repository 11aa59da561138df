import itertools
import threading
from collections import Counter

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.settings import Sampling
from engine.inference.penalties import penalize
from engine.inference.sampling import Sampler, heat, min_p, top_k, top_p, xtc

# Quarters tie often and are exact in every float type; plain floats hardly ever tie.
quarters = st.lists(st.integers(-40, 40).map(lambda value: value / 4), min_size=2, max_size=60)
plain = st.lists(st.floats(-30, 30, width=32), min_size=2, max_size=60)
logits_of_any_kind = st.one_of(quarters, plain)
OFF = {"top_k": 0, "top_p": 1.0, "min_p": 0.0, "repetition_penalty": 1.0}


def ranked(scores):
    """Ids from the likeliest on; of equal scores, lower ids first."""
    return sorted(range(len(scores)), key=lambda index: (-scores[index], index))


def probabilities(scores):
    weights = np.exp(np.asarray(scores, dtype=np.float64) - max(scores))
    return weights / weights.sum()


def kept(masked):
    return set(np.flatnonzero(np.isfinite(np.array(masked))).tolist())


def floats(values):
    return mx.array(np.array(values, dtype=np.float32))


def draw(sampler, logits, count):
    return [int(sampler(logits).item()) for _ in range(count)]


# -- each step against a plain reference -------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(scores=logits_of_any_kind, data=st.data())
def test_top_k_takes_the_k_highest_and_of_equals_the_first(scores, data):
    k = data.draw(st.integers(1, len(scores) - 1))
    assert top_k(floats(scores), k).tolist() == sorted(ranked(np.float32(scores))[:k])


def nucleus(scores, p):
    order = ranked(scores)
    mass = np.cumsum(probabilities(scores)[order])
    return set(order[: int((mass < p).sum()) + 1])


@settings(max_examples=150)
@given(scores=logits_of_any_kind, p=st.floats(0, 0.999))
def test_top_p_keeps_the_smallest_set_that_reaches_p(scores, p):
    result = top_p(floats(scores), p)
    # Sums of float32 may differ from the reference where p falls on a boundary: between these two, both are right.
    assert nucleus(scores, p - 1e-5) <= kept(result) <= nucleus(scores, p + 1e-5)
    for index in kept(result):
        assert result[index].item() == np.float32(scores[index])


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (0.0, {1}),
        (0.25, {1}),
        (0.5, {1}),
        (0.51, {0, 1}),
        (0.75, {0, 1}),
        (0.76, {0, 1, 2}),
        (0.875, {0, 1, 2}),
        (0.99, {0, 1, 2, 3}),
    ],
)
def test_top_p_stops_where_the_mass_reaches_p_exactly(p, expected):
    scores = mx.log(mx.array([0.25, 0.5, 0.125, 0.125]))
    assert kept(top_p(scores, p)) == expected


def test_top_p_of_equal_scores_keeps_the_first_ones():
    assert kept(top_p(mx.zeros(8), 0.5)) == {0, 1, 2, 3}


@settings(max_examples=150)
@given(scores=logits_of_any_kind, p=st.floats(0.001, 1))
def test_min_p_keeps_what_reaches_the_share_of_the_likeliest(scores, p):
    share = probabilities(scores) / probabilities(scores).max()
    result = kept(min_p(floats(scores), p))
    assert {index for index, value in enumerate(share) if value >= p * (1 + 1e-5)} <= result
    assert result <= {index for index, value in enumerate(share) if value >= p * (1 - 1e-5)}
    assert ranked(np.float32(scores))[0] in result


def test_min_p_of_one_keeps_all_that_are_likeliest():
    assert kept(min_p(mx.array([1.0, 3.0, 3.0, 2.999]), 1.0)) == {1, 2}


def without_top_choices(scores, threshold):
    """Of all tokens that reach the threshold, all but the least likely go; of equals the last one stays."""
    shares = probabilities(scores)
    top = [token for token in ranked(scores) if shares[token] >= threshold]
    return set(range(len(scores))) - set(top[:-1])


@settings(max_examples=200)
@given(scores=logits_of_any_kind, threshold=st.floats(0.001, 0.5))
def test_xtc_excludes_all_top_choices_but_the_least_likely(scores, threshold):
    result = xtc(floats(scores), threshold)
    # Where a share falls on the threshold within float32, either side is right.
    possible = [without_top_choices(np.float32(scores), threshold * factor) for factor in (1 - 1e-5, 1, 1 + 1e-5)]
    assert kept(result) in possible
    for index in kept(result):
        assert result[index].item() == np.float32(scores[index])


def test_xtc_leaves_a_token_that_is_above_the_threshold_alone():
    scores = mx.log(mx.array([0.5, 0.3, 0.15, 0.05]))
    assert kept(xtc(scores, 0.4)) == {0, 1, 2, 3}
    assert kept(xtc(scores, 0.3)) == {1, 2, 3}
    assert kept(xtc(scores, 0.1)) == {2, 3}
    assert kept(xtc(scores, 0.0)) == {3}


@settings(max_examples=150)
@given(scores=logits_of_any_kind, penalty=st.floats(1, 2), data=st.data())
def test_the_penalty_divides_positive_scores_and_multiplies_negative_ones_once(scores, penalty, data):
    tokens = data.draw(st.lists(st.integers(0, len(scores) - 1), min_size=1, max_size=30))
    expected = np.array(scores, dtype=np.float32)
    for token in set(tokens):
        expected[token] = (
            expected[token] / np.float32(penalty) if expected[token] > 0 else expected[token] * np.float32(penalty)
        )
    np.testing.assert_allclose(np.array(penalize(floats(scores), mx.array(tokens), penalty)), expected, rtol=1e-6)


@settings(max_examples=80)
@given(scores=logits_of_any_kind, temperature=st.floats(0.01, 2))
def test_the_temperature_divides_the_scores(scores, temperature):
    expected = probabilities(np.float32(scores) / temperature)
    np.testing.assert_allclose(np.array(mx.softmax(heat(floats(scores), temperature))), expected, rtol=1e-3, atol=1e-6)


# -- all steps together ------------------------------------------------------------------------------------------------------


def reference(scores, sampling, history):
    """The probabilities that the next token is drawn with, in float64, by the definitions of `Sampling`."""
    scores = np.array(scores, dtype=np.float64)
    for token in set(history[-sampling.repetition_window :] if sampling.repetition_window else []):
        scores[token] = (
            scores[token] / sampling.repetition_penalty if scores[token] > 0 else scores[token] * sampling.repetition_penalty
        )
    counts = np.bincount(np.array(history, dtype=int), minlength=len(scores))
    scores -= counts * sampling.frequency_penalty + (counts > 0) * sampling.presence_penalty
    scores = scores / sampling.temperature
    candidates = ranked(scores)[: sampling.top_k or None]
    within = probabilities(scores[candidates])
    count = min(int((np.cumsum(within) < sampling.top_p).sum()) + 1, len(candidates))
    candidates = [
        token for token, share in zip(candidates[:count], within, strict=False) if share >= sampling.min_p * within[0]
    ]
    result = np.zeros(len(scores))
    result[candidates] = (1 - sampling.xtc_probability) * probabilities(scores[candidates])
    if sampling.xtc_probability:
        left = without_top_choices(scores[candidates], sampling.xtc_threshold)
        candidates = [token for place, token in enumerate(candidates) if place in left]
        result[candidates] += sampling.xtc_probability * probabilities(scores[candidates])
    return result


def chi_square(counts, expected, total):
    return sum((counts[token] - share * total) ** 2 / (share * total) for token, share in enumerate(expected) if share > 0)


CASES = [
    {"temperature": 1.0, **OFF},
    {"temperature": 0.5, **OFF},
    {"temperature": 1.7, **OFF, "top_k": 3},
    {"temperature": 1.0, **OFF, "top_p": 0.9},
    {"temperature": 1.0, **OFF, "min_p": 0.2},
    {"temperature": 0.8, "top_k": 5, "top_p": 0.95, "min_p": 0.1, "repetition_penalty": 1.5, "repetition_window": 3},
    {"temperature": 1.0, **OFF, "presence_penalty": 1.0},
    {"temperature": 1.0, **OFF, "frequency_penalty": 0.7},
    {"temperature": 1.0, **OFF, "xtc_probability": 1.0},
    {"temperature": 1.0, **OFF, "xtc_probability": 0.5, "xtc_threshold": 0.15},
    {"temperature": 1.2, "top_k": 6, "top_p": 0.97, "min_p": 0.03, "xtc_probability": 0.3, "frequency_penalty": -0.5},
]


@pytest.mark.parametrize("values", CASES)
def test_tokens_come_as_often_as_the_definitions_say(values):
    sampling = Sampling(**values)
    scores, history, total = [2.0, 1.5, 1.0, 0.3, -0.5, -1.0, 2.2], [6, 0, 1, 1, 4], 1500
    expected = reference(scores, sampling, history)
    drawn = [Sampler(sampling, seed, history)(floats(scores)) for seed in range(total)]
    counts = Counter(mx.stack(drawn).tolist())
    assert set(counts) <= set(np.flatnonzero(expected).tolist())
    assert chi_square(counts, expected, total) < 25  # Beyond the 99.9th percentile for 6 degrees of freedom; seeds are fixed.


def test_tokens_of_one_request_are_independent_of_each_other():
    sampler = Sampler(Sampling(temperature=1.0, **OFF), 3, [])
    tokens = draw(sampler, mx.zeros(3), 1501)
    pairs = Counter(one * 3 + other for one, other in itertools.pairwise(tokens))
    assert chi_square(pairs, [1 / 9] * 9, 1500) < 29


@settings(max_examples=60)
@given(scores=quarters, seed=st.integers(0, 2**64 - 1), data=st.data())
def test_only_tokens_that_every_filter_keeps_are_drawn(scores, seed, data):
    sampling = Sampling(
        temperature=data.draw(st.sampled_from([0.3, 0.7, 1.0, 2.0])),
        top_k=data.draw(st.integers(0, len(scores) + 2)),
        top_p=data.draw(st.sampled_from([0.0, 0.33, 0.71, 0.93, 1.0])),
        min_p=data.draw(st.sampled_from([0.0, 0.043, 0.21, 1.0])),
    )
    possible = set(np.flatnonzero(reference(scores, sampling, [])).tolist())
    assert set(draw(Sampler(sampling, seed, []), floats(scores), 5)) <= possible


# -- greedy ------------------------------------------------------------------------------------------------------------------


def test_temperature_zero_takes_the_likeliest_and_of_equals_the_first():
    sampler = Sampler(Sampling(temperature=0.0), 1, [])
    assert draw(sampler, mx.array([1.0, 5.0, 5.0, 4.0]), 3) == [1, 1, 1]


@pytest.mark.parametrize("temperature", [5e-324, 1e-30, 1e-7])
def test_a_temperature_next_to_zero_is_no_division_by_zero(temperature):
    assert draw(Sampler(Sampling(temperature=temperature), 1, []), mx.array([1.0, 5.0, 4.9]), 3) == [1, 1, 1]


@pytest.mark.parametrize("temperature", [1e-6, 1e-3, 2.0])
def test_extreme_scores_do_not_overflow(temperature):
    sampler = Sampler(Sampling(temperature=temperature), 1, [])
    assert draw(sampler, mx.array([-3e38, 3e38, -mx.inf, 1.0]), 3) == [1, 1, 1]


@pytest.mark.parametrize("length", [0, 3, 5, 6, 40])
def test_greedy_with_a_penalty_follows_the_whole_history_and_what_was_drawn(length):
    sampling = Sampling(temperature=0.0, repetition_penalty=1.3, repetition_window=5)
    scores = [3.0, 2.9, 2.5, -0.1, 2.0, 1.9, -0.2, 0.0]
    history = [index % 8 for index in range(length)]
    sampler = Sampler(sampling, 1, tuple(history))
    for token in draw(sampler, floats(scores), 30):
        penalized = np.array(scores, dtype=np.float32)
        for seen in set(history[-5:]):
            penalized[seen] = penalized[seen] / np.float32(1.3) if penalized[seen] > 0 else penalized[seen] * np.float32(1.3)
        assert token == int(penalized.argmax())
        history.append(token)


@pytest.mark.parametrize("values", [{"repetition_penalty": 1.0}, {"repetition_penalty": 2.0, "repetition_window": 0}])
def test_a_penalty_that_is_off_changes_nothing(values):
    assert draw(Sampler(Sampling(temperature=0.0, **values), 1, [2, 2, 2]), mx.array([0.5, 0.6, 0.7]), 3) == [2, 2, 2]


# -- seeds -------------------------------------------------------------------------------------------------------------------


def replies(seed, count=24, **values):
    return tuple(draw(Sampler(Sampling(**{"temperature": 1.0, **OFF, **values}), seed, []), mx.zeros(1000), count))


def test_every_bit_of_a_64_bit_seed_matters():
    seeds = [0, 2**64 - 1, *(1 << bit for bit in range(64)), *((2**64 - 1) ^ (1 << bit) for bit in range(64))]
    assert len({replies(seed, 8) for seed in seeds}) == len(seeds)


@pytest.mark.parametrize("values", [{}, {"top_k": 40}, {"top_k": 40, "top_p": 0.9, "min_p": 0.05, "repetition_penalty": 1.2}])
def test_a_seed_gives_the_same_tokens_on_any_thread_whatever_else_is_drawn(values):
    expected, found = replies(2**63 + 5, **values), []
    mx.random.seed(99)
    mx.eval(mx.random.normal((5,)))
    assert replies(2**63 + 5, **values) == expected

    def elsewhere():
        mx.eval(mx.random.uniform(shape=(3,)))
        found.append(replies(2**63 + 5, **values))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [expected]


def test_drawing_leaves_the_global_random_state_alone():
    mx.random.seed(7)
    expected = mx.random.normal((4,)).tolist()
    mx.random.seed(7)
    replies(1)
    assert mx.random.normal((4,)).tolist() == expected


# -- arrays ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", CASES)
def test_nothing_is_evaluated_while_the_graph_is_built(values, tmp_path):
    sampler, other = Sampler(Sampling(**values), 11, [1, 2]), Sampler(Sampling(**values), 11, [1, 2])
    logits = mx.array([2.0, 1.5, 1.0, 0.3, -0.5, -1.0, 2.2])
    file = str(tmp_path / "three.mlxfn")
    # MLX refuses any evaluation while it traces a function.
    mx.export_function(file, lambda given: mx.stack([sampler(given) for _ in range(3)]), logits)
    assert mx.import_function(file)(logits)[0].tolist() == draw(other, logits, 3)


@pytest.mark.parametrize("dtype", [mx.bfloat16, mx.float16])
@pytest.mark.parametrize("values", CASES)
def test_logits_of_half_precision_are_computed_in_float32(dtype, values):
    logits = (mx.random.normal((200,), key=mx.random.key(4)) * 3).astype(dtype)
    sampling = Sampling(**{**values, "top_k": values["top_k"] * 10})
    assert draw(Sampler(sampling, 5, [1]), logits, 40) == draw(Sampler(sampling, 5, [1]), logits.astype(mx.float32), 40)


def test_the_logits_given_stay_as_they_were():
    logits = mx.array([1.0, 2.0, 3.0])
    draw(Sampler(Sampling(temperature=1.0, repetition_penalty=2.0), 5, [0, 1, 2]), logits, 3)
    assert logits.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("size", [1, 50_257, 262_144])
def test_vocabularies_of_any_size_work(size):
    logits = mx.random.normal((size,), key=mx.random.key(1)) * 4
    best = int(mx.argmax(logits).item())
    token = Sampler(Sampling(top_k=1), 3, [0])(logits)
    assert (token.shape, token.dtype, token.item()) == ((), mx.uint32, best)
    assert 0 <= Sampler(Sampling(), 3, [0])(logits).item() < size
    assert 0 <= Sampler(Sampling(top_k=0), 3, [0])(logits).item() < size


def test_a_top_k_of_the_whole_vocabulary_or_more_is_no_filter():
    assert replies(8, top_k=1000) == replies(8, top_k=500_000) == replies(8)
