"""A Gemma 3 GGUF: its settings, its norms, and the logits of the very weights in the file."""

import array
import copy
import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import ModelBroken, ModelUnsupported
from engine.models.gguf import import_gguf
from engine.models.gguf_header import read_header
from engine.models.gguf_model import read_model
from engine.models.integrity import problem_of
from tests.engine.models.gemma3_reference import Gemma3Reference
from tests.models.tiny_gemma3 import KINDS, tiny_gemma3

IDS = [1, *range(20, 420, 17)]


def model(tmp_path, **options):
    return read_model(read_header(tiny_gemma3(tmp_path / "tiny.gguf", **options)))


def logits(folder, ids):
    import mlx.core as mx
    from mlx_lm.utils import load_model

    loaded, _ = load_model(folder)
    loaded.set_dtype(mx.float32)
    return np.array(loaded(mx.array([ids]))[0])


def log_probabilities(logits):
    shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def divergence(reference, others):
    """KL(reference ‖ others) of each token's distribution, in nats."""
    theirs, ours = log_probabilities(reference), log_probabilities(others)
    return (np.exp(theirs) * (theirs - ours)).sum(-1)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_gemma3(tmp_path_factory.mktemp("gemma3") / "Tiny Gemma.gguf")


def test_a_dense_import_gives_the_logits_of_numpy_on_the_files_own_weights(tiny, tmp_path):
    folder = import_gguf(tiny, tmp_path, bits=None)
    assert problem_of(folder) == ""
    expected = Gemma3Reference(tiny, half=("Q4_K", "Q6_K")).logits(IDS)
    assert expected.std() > 1
    np.testing.assert_allclose(logits(folder, IDS), expected, atol=1e-3)


def test_eight_bits_stay_near_and_fewer_do_not_come_nearer(tiny, tmp_path):
    expected = Gemma3Reference(tiny).logits(IDS)
    found = {bits: divergence(expected, logits(import_gguf(tiny, tmp_path, bits=bits), IDS)).mean() for bits in (None, 8, 6, 4)}
    assert found[None] < 1e-4
    assert found[8] < 0.01
    assert found[None] < found[8] < found[6] < found[4]


def test_the_reference_sees_the_window_and_both_bases(tiny):
    # What the comparison above would not notice if it made no difference here.
    reference = Gemma3Reference(tiny)
    ids = IDS[:12]
    expected = reference.logits(ids)
    for name, value in (("window", 9), ("local_base", reference.base), ("base", reference.local_base), ("pattern", 7)):
        changed = copy.copy(reference)
        setattr(changed, name, value)
        assert np.abs(changed.logits(ids) - expected).max() > 0.1, name


def test_norms_lose_the_one_that_the_file_added(tiny, tmp_path):
    import gguf
    import mlx.core as mx

    stored = {tensor.name: tensor.data for tensor in gguf.GGUFReader(tiny).tensors}
    weights = mx.load(str(import_gguf(tiny, tmp_path) / "model.safetensors"))
    for ours, theirs in {
        "model.norm": "output_norm",
        "model.layers.3.input_layernorm": "blk.3.attn_norm",
        "model.layers.3.pre_feedforward_layernorm": "blk.3.ffn_norm",
        "model.layers.3.post_feedforward_layernorm": "blk.3.post_ffw_norm",
        "model.layers.3.post_attention_layernorm": "blk.3.post_attention_norm",
        "model.layers.6.self_attn.q_norm": "blk.6.attn_q_norm",
        "model.layers.6.self_attn.k_norm": "blk.6.attn_k_norm",
    }.items():
        weight = np.array(weights[f"{ours}.weight"])
        assert weight.dtype == np.float32
        assert np.array_equal(weight, stored[f"{theirs}.weight"] - np.float32(1)), ours


def test_what_the_file_says_is_in_the_config(tiny, tmp_path):
    config = json.loads((import_gguf(tiny, tmp_path) / "config.json").read_text())
    expected = {
        "model_type": "gemma3_text",
        "hidden_size": 256,
        "num_hidden_layers": 7,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 128,
        "query_pre_attn_scalar": 128,
        "sliding_window": 8,
        "sliding_window_pattern": 6,
        "rope_theta": 1000000.0,
        "rope_local_base_freq": 10000.0,
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
    }
    assert {name: config[name] for name in expected} == expected
    assert "rope_scaling" not in config
    rule = config["quantization"]
    assert rule["model.layers.0.self_attn.o_proj"] == {"group_size": 32, "bits": 4, "mode": "affine"}
    assert rule["model.layers.0.mlp.down_proj"] == {"group_size": 64, "bits": 8, "mode": "affine"}
    assert rule["model.layers.0.self_attn.v_proj"] == {"group_size": 32, "bits": 8, "mode": "affine"}
    assert (rule["bits"], rule["group_size"]) == (5, 32)


def test_the_27b_scales_its_queries_by_the_width_for_a_head(tmp_path):
    # google/gemma-3-27b: hidden 5376, 32 heads of 128, query_pre_attn_scalar 168. Here: 256 / 4 with heads of 32.
    shapes = {}
    for layer in range(62):
        shapes |= {f"blk.{layer}.{name}": (32,) for name in ("attn_q_norm", "attn_k_norm")}
        shapes |= {f"blk.{layer}.{name}": (32, 256) for name in ("attn_k", "attn_v")}
        shapes |= {f"blk.{layer}.attn_q": (128, 256), f"blk.{layer}.attn_output": (256, 128)}
    size = {"gemma3.attention.key_length": 32, "gemma3.attention.value_length": 32}
    config = model(tmp_path, layers=62, kind="Q8_0", shapes=shapes, metadata=size).config
    assert (config["head_dim"], config["query_pre_attn_scalar"]) == (32, 64)


def test_stretched_positions_are_kept_for_the_layers_that_see_everything(tmp_path):
    config = model(tmp_path, metadata={"gemma3.rope.scaling.type": "linear", "gemma3.rope.scaling.factor": 8.0}).config
    assert config["rope_scaling"] == {"rope_type": "linear", "factor": 8.0}


@pytest.mark.parametrize(
    ("said", "pattern"),
    [
        (3, 3),
        ([True, False] * 3 + [True], 2),
        ([True] * 5 + [False, True], 6),
        ([False] * 7, 1),
    ],
)
def test_the_order_of_windows_may_be_a_number_or_a_list(tmp_path, said, pattern):
    config = model(tmp_path, metadata={"gemma3.attention.sliding_window_pattern": said}).config
    assert config["sliding_window_pattern"] == pattern


def test_without_a_window_every_layer_sees_everything(tmp_path):
    config = model(tmp_path, metadata={"gemma3.attention.sliding_window": None}).config
    assert (config["sliding_window"], config["sliding_window_pattern"]) == (512, 1)


def test_another_base_for_the_windows_is_kept(tmp_path):
    assert model(tmp_path, metadata={"gemma3.rope.freq_base_swa": 5000.0}).config["rope_local_base_freq"] == 5000.0


def test_an_output_matrix_of_its_own_is_used(tmp_path):
    path = tiny_gemma3(tmp_path / "untied.gguf", tied=False)
    assert read_model(read_header(path)).config["tie_word_embeddings"] is False
    tied = import_gguf(tiny_gemma3(tmp_path / "tied.gguf"), tmp_path / "models", bits=None)
    untied = import_gguf(path, tmp_path / "models", bits=None)
    assert np.abs(logits(tied, IDS) - logits(untied, IDS)).max() > 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"metadata": {"gemma3.final_logit_softcapping": 30.0}}, "final_logit_softcapping"),
        ({"metadata": {"gemma3.attn_logit_softcapping": 50.0}}, "attn_logit_softcapping"),
        ({"metadata": {"gemma3.attention.value_length": 32}}, "different lengths"),
        ({"metadata": {"gemma3.rope.dimension_count": 32}}, "only part of each head"),
        ({"metadata": {"gemma3.rope.scaling.type": "yarn"}}, "“yarn”"),
        (
            {"metadata": {"gemma3.attention.sliding_window_pattern": [True, False, False, True, True, True, True]}},
            "windows in an order",
        ),
        ({"metadata": {"gemma3.attention.sliding_window_pattern": [True, False]}}, "windows in an order"),
        ({"metadata": {"gemma3.attention.sliding_window_pattern": [True] * 7}}, "windows in an order"),
        ({"metadata": {"gemma3.attention.sliding_window_pattern": 8}}, "windows in an order"),
        ({"layers": 5}, "windows in an order"),
        ({"extra": {"mm.0.weight": np.ones((4, 4), np.float32)}}, "mm.0.weight"),
        ({"extra": {"rope_freqs.weight": np.ones(32, np.float32)}}, "rope_freqs"),
    ],
)
def test_a_variant_that_flint_does_not_know_is_refused_by_name(tmp_path, options, text):
    with pytest.raises(ModelUnsupported, match=text) as caught:
        model(tmp_path, **options)
    assert caught.value.hint


def test_millions_of_layers_take_no_memory_for_the_order_of_their_windows(tiny):
    header = read_header(tiny)
    claimed = {"gemma3.block_count": 10**7, "gemma3.attention.sliding_window_pattern": array.array("B", [1, 0])}
    tracemalloc.start()
    try:
        with pytest.raises(ModelUnsupported, match="windows in an order"):
            read_model(replace(header, metadata={**header.metadata, **claimed}))
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"drop": ["blk.2.attn_q_norm"]}, "lacks model.layers.2.self_attn.q_norm.weight"),
        ({"drop": ["blk.6.post_ffw_norm"]}, "lacks model.layers.6.post_feedforward_layernorm"),
        ({"drop": ["token_embd"]}, "lacks token_embd.weight, which a Gemma 3 model needs"),
        ({"metadata": {"gemma3.block_count": 2**31 - 1}}, "lacks model.layers.7"),
        ({"metadata": {"gemma3.block_count": 6}}, "no place for: model.layers.6"),
        ({"metadata": {"gemma3.attention.key_length": 64, "gemma3.attention.value_length": 64}}, "shape"),
        ({"metadata": {"gemma3.attention.sliding_window_pattern": 0}}, "unusable"),
        ({"metadata": {"gemma3.attention.sliding_window_pattern": "six"}}, "unusable"),
        ({"metadata": {"gemma3.attention.sliding_window": -1.5}}, "unusable"),
        ({"metadata": {"gemma3.attention.layer_norm_rms_epsilon": None}}, "lacks gemma3.attention.layer_norm"),
        ({"shapes": {"blk.0.ffn_up": (256, 512)}}, "shape"),
        ({"shapes": {"output_norm": (1, 256)}, "kind": "Q8_0"}, "shape"),
    ],
)
def test_what_is_missing_or_does_not_fit_is_said(tmp_path, options, text):
    with pytest.raises(ModelBroken, match=text) as caught:
        model(tmp_path, **options)
    assert caught.value.hint


@pytest.mark.parametrize("name", KINDS)
def test_blocks_whose_scales_are_not_numbers_are_refused(tiny, tmp_path, name):
    info = next(info for info in read_header(tiny).tensors if name in info.name)
    at = info.offset + (208 if info.kind == "Q6_K" else 0)
    data = bytearray(tiny.read_bytes())
    data[at : at + 2] = np.float16(np.inf).tobytes()
    (tmp_path / "damaged.gguf").write_bytes(data)
    with pytest.raises(ModelBroken, match=r"(weights|scales) that are not numbers"):
        import_gguf(tmp_path / "damaged.gguf", tmp_path / "models")
    assert [path for path in (tmp_path / "models").iterdir() if path.is_dir()] == []
