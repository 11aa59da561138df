"""What a cache is predicted to take, against the caches that Flint makes."""

import math

import pytest

from engine.cache import policy, rows, window
from engine.cache.make import LARGEST_PLAIN as LARGEST_PLAIN_THERE
from engine.models import kv_memory
from engine.models.fit import predict
from engine.models.kv_memory import attention_kv, packed_row_bytes
from engine.models.shapes import Attention
from tests.engine.models.small_configs import CONFIGS, random_model

WIDE = {"head_dim": 64, "num_key_value_heads": 2}


def config_of(name, **changes):
    config = CONFIGS[name]
    if "text_config" in config:
        return {**config, "text_config": {**config["text_config"], **changes}}
    return {**config, **changes}


MODELS = {
    "growing": config_of("llama", **WIDE),
    "sliding": config_of("gemma3_text", **WIDE),
    "sliding and long": config_of("gemma3_text", **WIDE, sliding_window=1100),
    "sinks": config_of("gpt_oss", **WIDE),
    "latent": config_of("deepseek_v3", kv_lora_rank=64, qk_rope_head_dim=32),
    "chunked": config_of("llama4", **WIDE),
    "shared": config_of("gemma4", **WIDE, global_head_dim=64),
    "gated delta": config_of("qwen3_next", **WIDE),
    "state space beside it": config_of("falcon_h1", **WIDE),
    "an indexer": config_of("deepseek_v32", kv_lora_rank=64, qk_rope_head_dim=32, index_head_dim=64),
}


def held(model, kv_bits, lengths):
    """Bytes of a cache after it read chunks of these lengths."""
    import mlx.core as mx

    from engine.cache.layers import nbytes
    from engine.cache.make import make_cache
    from engine.cache.policy import CachePolicy

    cache = make_cache(model, CachePolicy(None, kv_bits))
    for length in lengths:
        model(mx.zeros((1, length), mx.int32), cache=cache)
        mx.eval([layer.state for layer in cache])
    return nbytes(cache)


def test_the_constants_are_those_of_the_cache():
    ours = (kv_memory.STEP, kv_memory.SLACK, kv_memory.RECENT, kv_memory.BLOCK, kv_memory.ROOMY)
    assert ours == (rows.STEP, window.SLACK, rows.RECENT, rows.BLOCK, rows.ROOMY)
    assert kv_memory.BITS == policy.BITS
    assert kv_memory.LARGEST_PLAIN == LARGEST_PLAIN_THERE


@pytest.mark.parametrize("kv_bits", ["off", "8", "8/4", "4"])
@pytest.mark.parametrize("kind", MODELS)
def test_a_cache_holds_what_was_predicted(kind, kv_bits):
    config, model = MODELS[kind], random_model(MODELS[kind])
    for lengths in ((40,), (128, 128, 44), (128, 128, 128, 128)):
        if kind == "gated delta" and sum(lengths) > 300:
            continue  # It takes a CPU a second for each hundred tokens.
        fit = predict(config, context=sum(lengths), kv_bits=kv_bits, element_bytes=4)
        predicted = sum(term.bytes for term in fit.terms if term.part == "cache" and term.name != "recurrent inputs")
        # A window that wrapped holds from what a query sees to a step more, as the chunks fell.
        most = held(model, kv_bits, lengths)
        assert most <= predicted * 1.001
        assert most >= predicted * 0.9


def test_a_row_is_packed_to_its_bits_and_a_scale_and_bias_for_each_group():
    attention = Attention("growing", 8, 2, 128, 128)
    assert packed_row_bytes(attention, (None, None), 2) == 2 * 2 * 128 * 2
    assert packed_row_bytes(attention, (8, 8), 2) == 2 * 2 * 128 * (8 + 32 / 64) / 8
    assert packed_row_bytes(attention, (8, 4), 2) == 2 * 128 * (8.5 + 4.5) / 8
    assert packed_row_bytes(Attention("growing", 8, 2, 96, 96), (4, 4), 2) == 2 * 2 * 96 * (4 + 32 / 32) / 8


def test_a_width_that_no_group_divides_stays_plain():
    odd = Attention("growing", 8, 2, 80, 80)
    assert packed_row_bytes(odd, (8, 8), 2) == odd.row * 2
    kv = attention_kv(odd, 1000, "8", 2)
    assert not kv.packed
    assert kv.bytes == 1024 * odd.row * 2


def test_the_newest_rows_stay_plain():
    attention = Attention("growing", 8, 2, 64, 64)
    assert attention_kv(attention, 64, "4", 2).bytes == 64 * attention.row * 2
    kv = attention_kv(attention, 1000, "4", 2)
    assert kv.newest == 64 + (1000 - 64) % 16
    assert kv.capacity == math.ceil(1000 / 256) * 256
