import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.metrics import (
    RollingRate,
    decode_ceiling_tps,
    decode_traffic_bytes,
    efficiency,
    kv_bytes,
    prefill_ceiling_tps,
    prefill_flops,
    prefill_traffic_bytes,
    quantized_bytes,
    rate,
    time_per_output_token_s,
)

LLAMA_8B = 8_030_261_248


def test_llama_8b_at_full_context_is_as_the_design_says():
    kv = kv_bytes(layers=32, kv_heads=8, head_dim=128, tokens=131_072)
    weights = quantized_bytes(LLAMA_8B, bits=4, group_size=64)
    assert kv / 1e9 == pytest.approx(17.18, abs=0.005)
    assert weights / 1e9 == pytest.approx(4.52, abs=0.005)
    assert kv / weights == pytest.approx(3.8, abs=0.01)


def test_kv_bytes_of_quantized_rows_follow_their_bits():
    eight_bits = (8 + 32 / 64) / 8
    assert kv_bytes(2, 4, 64, 10, eight_bits) == 2 * 2 * 4 * 64 * 10 * 1.0625
    assert kv_bytes(2, 4, 64, 0) == 0


def test_four_bits_in_groups_of_64_are_four_and_a_half_bits_a_weight():
    assert quantized_bytes(1000, 4, 64) * 8 / 1000 == 4.5
    assert quantized_bytes(1000, 8, 32) * 8 / 1000 == 9


def test_the_ceiling_is_bandwidth_over_what_a_step_reads():
    assert decode_ceiling_tps(400e9, 4e9) == 100
    assert decode_ceiling_tps(400e9, 4e9, 4e9) == 50
    assert decode_traffic_bytes(4e9, 1e9) == 5e9


@pytest.mark.parametrize(("bandwidth", "weights"), [(0, 4e9), (400e9, 0), (-1, 4e9)])
def test_an_unknown_ceiling_is_zero_and_has_no_efficiency(bandwidth, weights):
    ceiling = decode_ceiling_tps(bandwidth, weights)
    assert ceiling == 0
    assert efficiency(30, ceiling) == 0


def test_efficiency_is_measured_over_ceiling():
    assert efficiency(70, 100) == pytest.approx(0.7)


def test_prefill_takes_two_operations_a_parameter_and_token():
    assert prefill_flops(LLAMA_8B, 1000) == 2 * LLAMA_8B * 1000
    assert prefill_ceiling_tps(16e12, 8_000_000_000) == 1000
    assert prefill_ceiling_tps(16e12, 0) == 0


@pytest.mark.parametrize(("tokens", "chunks"), [(0, 0), (1, 1), (512, 1), (513, 2), (1024, 2)])
def test_prefill_reads_the_weights_once_a_chunk(tokens, chunks):
    assert prefill_traffic_bytes(4e9, tokens, 512) == chunks * 4e9
    assert prefill_traffic_bytes(4e9, tokens, 0) == 0


@pytest.mark.parametrize(("count", "seconds", "expected"), [(10, 2, 5), (10, 0, 0), (10, -1, 0), (0, 2, 0)])
def test_a_rate_without_time_is_zero(count, seconds, expected):
    assert rate(count, seconds) == expected


@pytest.mark.parametrize(("seconds", "tokens", "expected"), [(1.0, 11, 0.1), (1.0, 1, 0), (1.0, 0, 0), (0.0, 5, 0)])
def test_time_per_output_token_leaves_the_first_token_out(seconds, tokens, expected):
    assert time_per_output_token_s(seconds, tokens) == pytest.approx(expected)


def test_a_steady_stream_shows_its_rate_from_the_second_token_on():
    rolling = RollingRate(2.0)
    rolling.add(100.0, 1)
    assert rolling.rate(100.0) == 0
    for step in range(1, 100):
        rolling.add(100 + step / 20, 1)
        assert rolling.rate(100 + step / 20) == pytest.approx(20)


def test_the_rate_follows_a_change_within_the_window():
    rolling = RollingRate(1.0)
    for step in range(20):
        rolling.add(step / 10, 1)
    for step in range(1, 30):
        rolling.add(1.9 + step / 20, 2)
    assert rolling.rate(1.9 + 29 / 20) == pytest.approx(40)


def test_the_rate_falls_when_nothing_comes_and_ends_at_zero():
    rolling = RollingRate(2.0)
    for step in range(21):
        rolling.add(step / 10, 1)
    seen = [rolling.rate(2.0 + step / 2) for step in range(6)]
    assert seen == sorted(seen, reverse=True)
    assert seen[0] == pytest.approx(10)
    assert seen[-1] == 0


@given(st.lists(st.tuples(st.floats(0, 0.5), st.integers(0, 50)), max_size=60), st.floats(0, 5))
def test_a_rate_is_what_came_in_the_window_over_its_time(steps, later):
    rolling, now, samples = RollingRate(1.0), 0.0, []
    for wait, tokens in steps:
        now += wait
        rolling.add(now, tokens)
        samples.append((now, tokens))
    now += later
    recent = [sample for sample in samples if sample[0] >= now - 1.0]
    span = now - recent[0][0] if recent else 0
    expected = sum(tokens for _, tokens in recent[1:]) / span if span > 0 else 0
    assert rolling.rate(now) == pytest.approx(expected)
