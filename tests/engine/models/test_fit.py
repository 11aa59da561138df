"""What a model would take, whether that fits, and what would make it fit.

The published models are judged beside a computation by hand: their configs stand in configs/, the figures are spelled out here.
"""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.models import prefill_memory
from engine.models.fit import as_seen, change, decode_ceiling, degrade, judge, largest_context, predict, refine
from engine.models.kv_memory import attention_kv
from tests.engine.models.small_configs import CONFIGS

GB = 1_000_000_000
FOUR_BITS = {"group_size": 64, "bits": 4}


def published(name):
    return json.loads((Path(__file__).parent / "configs" / f"{name}.json").read_text())


def terms(fit, part):
    return {term.name: term.bytes for term in fit.terms if term.part == part}


LLAMA = published("llama-3.1-8b")


def test_llama_at_its_full_context_in_half_precision():
    # 32 layers · 2 · 8 heads · 128 · 131,072 tokens · 2 bytes (DESIGN 1: 17.18 GB).
    fit = predict(LLAMA, context=131_072)
    assert fit.kv_bytes == 32 * 2 * 8 * 128 * 131_072 * 2 == 17_179_869_184
    # Embedding and output 128,256 · 4,096; a layer: q and o 4,096², k and v 1,024 · 4,096, three of 14,336 · 4,096, two norms.
    layer = 2 * 4096 * 4096 + 2 * 1024 * 4096 + 3 * 14336 * 4096 + 2 * 4096
    assert fit.weights_bytes == 2 * (2 * 128_256 * 4096 + 32 * layer + 4096) == 2 * 8_030_261_248


def test_llama_at_four_bits():
    # 4 bits and 32 / 64 for scale and bias: 4.5 bits a weight (DESIGN 1: 4.52 GB).
    fit = predict({**LLAMA, "quantization": FOUR_BITS}, context=131_072)
    norms = 65 * 4096
    assert fit.weights_bytes == pytest.approx((8_030_261_248 - norms) * 4.5 / 8 + norms * 2, abs=8)
    assert round(fit.weights_bytes / GB, 2) == 4.52
    assert round(fit.kv_bytes / fit.weights_bytes, 1) == 3.8


@pytest.mark.parametrize(("kv_bits", "bits"), [("8", (8, 8)), ("8/4", (8, 4)), ("4", (4, 4))])
def test_llamas_quantized_cache(kv_bits, bits):
    # Older rows (bits + 32/64)/8 bytes an element, in buffers of whole 256 rows; the newest 64 rows plain.
    fit = predict(LLAMA, context=131_072, kv_bits=kv_bits)
    packed = 8 * 128 * sum(side + 0.5 for side in bits) / 8
    assert fit.kv_bytes == 32 * (131_072 * packed + 64 * 2 * 8 * 128 * 2)


def test_qwen3s_experts():
    fit = predict(published("qwen3-30b-a3b"), context=32_768)
    expert = 3 * 768 * 2048
    attention = 2 * 32 * 128 * 2048 + 2 * 4 * 128 * 2048
    layer = attention + 128 * expert + 128 * 2048 + 2 * 2048 + 2 * 128
    parameters = 2 * 151_936 * 2048 + 48 * layer + 2048
    assert parameters == 30_532_122_624
    assert fit.weights_bytes == 2 * parameters
    assert fit.kv_bytes == 48 * 2 * 4 * 128 * 32_768 * 2
    # A token reads 8 of 128 experts, and of the embedding one row.
    read = 151_936 * 2048 + 48 * (attention + 8 * expert + 128 * 2048)
    assert fit.read_weights == pytest.approx(2 * read, rel=1e-4)


def test_gemmas_sliding_layers_stop_growing():
    fit = predict(published("gemma-3-27b"), context=32_768)
    attention = 2 * 32 * 128 * 5376 + 2 * 16 * 128 * 5376
    layer = attention + 3 * 21504 * 5376 + 4 * 5376 + 2 * 128
    parameters = 262_208 * 5376 + 62 * layer + 5376
    assert parameters == 27_009_346_304
    assert fit.weights_bytes == 2 * parameters
    row = 2 * 16 * 128 * 2
    # Every sixth of 62 layers grows; the others hold what a query sees, 1,024 − 1, 32 to take back, and a step of 256.
    assert fit.kv_bytes == 10 * 32_768 * row + 52 * (1023 + 32 + 256) * row
    quantized = predict(published("gemma-3-27b"), context=32_768, kv_bits="8")
    assert terms(quantized, "cache")["sliding layers"] == terms(fit, "cache")["sliding layers"]


def test_gpt_oss_as_published():
    # Experts in mxfp4: 4 bits and a scale of 8 for 32 weights. The rest in bfloat16. 18 layers of 128 tokens, 18 that grow.
    fit = predict(published("gpt-oss-120b"), context=131_072)
    experts = 36 * 128 * 3 * 2880 * 2880
    attention = 36 * (2 * 64 * 64 * 2880 + 2 * 8 * 64 * 2880)
    biases = 36 * (128 * (2 * 2880 + 2880) + 128 + 64 * 64 + 2 * 8 * 64 + 2880)
    others = 2 * 201_088 * 2880 + attention + 36 * 128 * 2880 + biases + 36 * (64 + 2 * 2880) + 2880
    assert experts + others == 116_829_156_672
    assert fit.weights_bytes == pytest.approx(experts * 4.25 / 8 + others * 2, abs=8)
    row = 2 * 8 * 64 * 2
    assert fit.kv_bytes == 18 * 131_072 * row + 18 * (127 + 32 + 32) * row
    assert fit.read_weights / GB == pytest.approx(5.0, abs=0.1)


def test_deepseek_keeps_its_latent_and_its_weights_in_eight_bits():
    fit = predict(published("deepseek-v3"), context=131_072)
    assert fit.kv_bytes == 61 * (512 + 64) * 131_072 * 2
    attention = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 128 * 128 * 512 + 128 * 512 * 128 + 128 * 128 * 7168
    experts = 58 * 257 * 3 * 2048 * 7168  # 256 and a shared one
    dense = 3 * 3 * 18432 * 7168
    in_half = 2 * 129_280 * 7168 + 58 * 256 * 7168
    small = 58 * 256 + 61 * (1536 + 512 + 2 * 7168) + 7168
    assert 61 * attention + experts + dense + in_half + small == 671_026_419_200
    # A float32 scale for each block of 128 · 128.
    packed = (61 * attention + experts + dense) * (8 + 32 / 128**2) / 8
    assert fit.weights_bytes == pytest.approx(packed + 2 * (in_half + small), rel=1e-6)


def test_the_terms_add_up_to_the_figures():
    for name in ("llama-3.1-8b", "gemma-3-27b", "gpt-oss-120b", "deepseek-v3", "qwen3-30b-a3b"):
        for kv_bits in ("off", "8", "8/4", "4"):
            fit = predict(published(name), context=20_000, kv_bits=kv_bits)
            assert fit.weights_bytes == sum(terms(fit, "weights").values())
            assert fit.kv_bytes == sum(terms(fit, "cache").values())
            assert fit.peak_bytes == sum(term.bytes for term in fit.terms)
            assert all(term.formula and term.bytes > 0 for term in fit.terms)


def test_attention_scores_are_held_where_no_kernel_computes_them_away():
    plain = predict(LLAMA, context=8192, chunk=512)
    # 32 query heads · 512 · 8,192 · 2 bytes, and a byte of mask for each query and row.
    assert terms(plain, "prefill")["attention scores"] == 512 * 8192 * (32 * 2 + 1)
    assert "attention scores" not in terms(predict(LLAMA, context=8192, chunk=512, metal=True), "prefill")
    wide = predict({**LLAMA, "head_dim": 256}, context=8192, chunk=512, metal=True)
    assert terms(wide, "prefill")["attention scores"] == 512 * 8192 * (32 * 2 + 1)


def test_logits_count_where_writing_a_token_takes_more_than_reading():
    fit = predict({**CONFIGS["llama"], "vocab_size": 500_000}, context=256, chunk=16)
    assert terms(fit, "prefill")["logits"] >= 500_000 * 4


def test_layers_that_share_rows_keep_none():
    shared = predict(CONFIGS["gemma4"], context=300, element_bytes=4)
    alone = predict(
        {**CONFIGS["gemma4"], "text_config": {**CONFIGS["gemma4"]["text_config"], "num_kv_shared_layers": 0}}, context=300
    )
    assert 2 * shared.kv_bytes / 4 == alone.kv_bytes / 2
    assert shared.read_kv / 4 == pytest.approx(alone.read_kv / 2)


def test_a_shorter_context_than_the_window_bounds_a_sliding_layer():
    fit = predict(published("gemma-3-27b"), context=512)
    assert fit.kv_bytes == 62 * 512 * 2 * 16 * 128 * 2


def test_a_window_that_rolls_holds_a_step_more():
    still, rolling = predict(LLAMA, context=8192), predict(LLAMA, context=8192, rolling=True)
    assert rolling.kv_bytes - still.kv_bytes == 32 * (32 + 256 - 1) * 2 * 8 * 128 * 2


# Verdicts


def test_a_verdict_says_what_is_too_large():
    fit = predict({**LLAMA, "quantization": FOUR_BITS}, context=8192, metal=True)
    assert judge(fit, fit.peak_bytes).fits
    over = judge(fit, fit.peak_bytes - 1)
    assert (over.fits, over.over_bytes) == (False, 1)
    assert "weights fit" in over.reason
    assert "weights alone" in judge(fit, fit.weights_bytes - 1).reason
    assert "array" in judge(fit, fit.peak_bytes, max_buffer=fit.largest_buffer - 1).reason
    assert judge(fit, fit.peak_bytes, max_buffer=fit.largest_buffer).fits


@settings(max_examples=25)
@given(
    name=st.sampled_from(["llama", "gemma3_text", "gpt_oss", "deepseek_v3", "qwen3_next", "llama4"]),
    kv_bits=st.sampled_from(["off", "8", "4"]),
    room=st.floats(0.0, 3.0),
)
def test_the_largest_context_fits_and_the_next_does_not(name, kv_bits, room):
    fit = predict(CONFIGS[name], context=256, kv_bits=kv_bits, chunk=64)
    budget = int(fit.weights_bytes + room * (fit.peak_bytes - fit.weights_bytes))
    most, trained = largest_context(fit, budget), fit.plan.shape.context
    assert most % 256 == 0
    assert most <= trained
    if most:
        assert judge(change(fit, context=most), budget).fits
    if most + 256 <= trained:
        assert not judge(change(fit, context=most + 256), budget).fits


@pytest.mark.parametrize("name", ["llama", "gemma3_text", "gpt_oss", "deepseek_v3", "qwen3_next", "falcon_h1"])
def test_a_longer_context_a_larger_chunk_and_a_higher_precision_never_take_less(name):
    sizes = [predict(CONFIGS[name], context=length, chunk=64).peak_bytes for length in (1, 100, 256, 257, 1000, 5000)]
    assert sizes == sorted(sizes)
    sizes = [predict(CONFIGS[name], context=4096, chunk=chunk).peak_bytes for chunk in (1, 16, 64, 256, 2048)]
    assert sizes == sorted(sizes)
    sizes = [predict(published("llama-3.1-8b"), context=65_536, kv_bits=bits).kv_bytes for bits in ("4", "8/4", "8", "off")]
    assert all(less < more for less, more in pairwise(sizes))


# Offers


def test_what_fits_needs_no_offer():
    fit = predict(LLAMA, context=4096)
    assert degrade(fit, fit.peak_bytes) == ()


def test_offers_come_in_order_of_their_loss_and_each_fits():
    fit = predict({**LLAMA, "quantization": FOUR_BITS}, context=32_768, chunk=2048)
    budget = fit.peak_bytes - GB
    offers = degrade(fit, budget)
    assert [offer.change for offer in offers] == ["chunk", "kv_bits", "context"]
    assert all(judge(offer.fit, budget).fits for offer in offers)
    chunk, bits, context = (offer.fit for offer in offers)
    assert (chunk.chunk, chunk.kv_bits, chunk.context) == (1024, "off", 32_768)
    assert (bits.chunk, bits.kv_bits, bits.context) == (2048, "8", 32_768)
    assert (context.chunk, context.kv_bits) == (2048, "off")
    assert context.context == largest_context(fit, budget) < 32_768


def test_where_smaller_chunks_do_not_help_bits_or_the_window_give_way():
    fit = predict({**LLAMA, "quantization": FOUR_BITS}, context=131_072, metal=True, chunk=512)
    offers = degrade(fit, 19 * GB)
    assert [offer.change for offer in offers] == ["kv_bits", "context"]
    assert offers[0].fit.kv_bits == "8"
    assert all(judge(offer.fit, 19 * GB).fits for offer in offers)
    assert offers[1].fit.context == largest_context(offers[1].fit, 19 * GB)
    assert degrade(fit, 16 * GB)[0].fit.kv_bits == "8/4"


def test_nothing_is_offered_where_the_weights_alone_are_too_large():
    fit = predict(published("deepseek-v3"), context=4096)
    assert degrade(fit, 64 * GB) == ()
    assert largest_context(fit, 64 * GB) == 0


# After loading


def test_what_a_loaded_model_told_replaces_what_was_expected():
    fit = predict(LLAMA, context=8192, metal=True)
    held = refine(fit, weights_bytes=5 * GB)
    assert held.weights_bytes == 5 * GB
    assert held.peak_bytes == fit.peak_bytes - fit.weights_bytes + 5 * GB
    assert held.read_weights / fit.read_weights == pytest.approx(5 * GB / fit.weights_bytes)
    assert fit.kv_bytes_per_token == {"growing": 32 * 2 * 8 * 128 * 2}
    wider = refine(fit, kv_bytes_per_token={"growing": 2 * fit.kv_bytes_per_token["growing"]})
    assert wider.kv_bytes == 2 * fit.kv_bytes
    assert wider.kv_bytes_per_token["growing"] == 2 * fit.kv_bytes_per_token["growing"]


def test_what_was_told_stays_when_the_plan_changes():
    fit = refine(predict(LLAMA, context=8192), weights_bytes=5 * GB, kv_bytes_per_token={"growing": 262_144})
    longer = change(fit, context=16_384)
    assert longer.weights_bytes == 5 * GB
    assert longer.kv_bytes == 2 * fit.kv_bytes == 262_144 * 16_384
    assert refine(fit, weights_bytes=6 * GB).kv_bytes == fit.kv_bytes


def test_activations_in_float32_double_what_is_made_of_them():
    fit = predict({**LLAMA, "quantization": FOUR_BITS}, context=8192)
    single = refine(fit, weights_bytes=fit.weights_bytes, element_bytes=4)
    assert single.kv_bytes == 2 * fit.kv_bytes
    assert terms(single, "prefill")["activations"] == 2 * terms(fit, "prefill")["activations"]


def test_a_kind_the_model_does_not_have_or_a_useless_figure_is_passed_over():
    fit = predict(LLAMA, context=8192)
    assert refine(fit, kv_bytes_per_token={"latent": 5.0, "growing": 0.0}) == fit


# Speed


def test_the_ceiling_counts_what_a_token_reads():
    fit = predict({**LLAMA, "quantization": FOUR_BITS}, context=8192)
    read = (8_030_261_248 - 128_256 * 4096 - 65 * 4096) * 4.5 / 8
    assert decode_ceiling(fit, 100e9) == pytest.approx(100e9 / (read + 8192 * 131_072), rel=1e-3)
    assert decode_ceiling(fit, None) is None


def test_a_long_context_slows_a_sliding_layer_no_further():
    fit = predict(published("gpt-oss-120b"), context=131_072)
    assert fit.read_kv == (18 * 131_072 + 18 * 128) * 2 * 8 * 64 * 2


def test_what_one_token_was_seen_to_take_counts_where_it_is_more():
    fit = predict(LLAMA, context=4096)
    expected = sum(fit.kv_bytes_per_token.values())
    assert as_seen(fit, 0) is fit
    assert as_seen(fit, round(expected)) is fit
    assert as_seen(fit, round(expected * 2)).kv_bytes == 2 * fit.kv_bytes


def test_an_indexer_scores_every_row_for_each_of_its_heads():
    config = {**published("deepseek-v3"), "model_type": "deepseek_v32", "index_head_dim": 128, "index_topk": 2048}
    one, many = (predict({**config, "index_n_heads": heads}, context=32_768, metal=True) for heads in (1, 64))
    scores = 63 * 2048 * 32_768 * 2
    assert many.peak_bytes - many.weights_bytes - (one.peak_bytes - one.weights_bytes) == pytest.approx(scores, rel=0.02)
    short = [predict({**config, "index_n_heads": heads}, context=2048, metal=True) for heads in (1, 64)]
    assert short[0].peak_bytes - short[0].weights_bytes == short[1].peak_bytes - short[1].weights_bytes


def test_twice_the_layers_take_no_more_than_twice_the_work(monkeypatch):
    asked = []
    monkeypatch.setattr(prefill_memory, "attention_kv", lambda *args, **how: asked.append(1) or attention_kv(*args, **how))
    work = []
    for layers in (100, 200):
        asked.clear()
        predict({**LLAMA, "num_hidden_layers": layers}, context=4096)
        work.append(len(asked))
    assert 0 < work[1] <= 2 * work[0]


def test_scores_with_sinks_are_put_together_and_taken_apart():
    plain, sinks = published("llama-3.1-8b"), published("gpt-oss-120b")
    for config, times in ((plain, 1), (sinks, 3)):
        fit = predict(config, context=32_768, element_bytes=4)
        scores = next(term for term in fit.terms if "scores" in term.name)
        heads = config["num_attention_heads"]
        assert scores.bytes == pytest.approx(times * heads * 2048 * 32_768 * 4, rel=0.01)
