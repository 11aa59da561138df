"""The same numbers in other places: what MLX's own GGUF reader makes, without holding the file in memory."""

import tracemalloc

import numpy as np
import pytest

from engine.models import gguf_weights
from engine.models.gguf_header import read_header
from engine.models.gguf_model import read_model
from engine.models.gguf_weights import convert, quantization, specs
from tests.models.tiny_gguf import gguf_name, tiny_gguf

EXACT = {"Q4_0": 4, "Q4_1": 4, "Q5_0": 5, "Q5_1": 5, "Q8_0": 8}
NEAR = {"Q4_K": 4, "Q5_K": 5}
ROUNDED = ("Q2_K", "Q3_K", "Q6_K")


def converted(path, bits=8):
    """Return every tensor of a GGUF as `convert` gives it, as one array of bytes by name."""
    header = read_header(path)
    data = path.read_bytes()
    found = {}
    for planned in read_model(header).tensors:
        parts = b"".join(convert(header, planned, lambda offset, size: data[offset : offset + size], bits))
        for spec in specs(planned, bits):
            found[spec.name], parts = (spec, parts[: spec.size]), parts[spec.size :]
        assert parts == b""
    return found


DTYPES = {"U8": np.uint8, "U32": np.uint32, "F16": np.float16, "F32": np.float32}


def array(entry):
    spec, data = entry
    return np.frombuffer(data, DTYPES[spec.dtype]).reshape(spec.shape)


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q8_0"])
def test_quantized_tensors_become_what_mlx_reads_from_the_file(tmp_path, kind):
    import mlx.core as mx

    tiny_gguf(tmp_path / "tiny.gguf", kind=kind)
    theirs = mx.load(str(tmp_path / "tiny.gguf"))
    ours = converted(tmp_path / "tiny.gguf")
    compared = 0
    for name, entry in ours.items():
        if "q_proj" in name or "k_proj" in name:
            continue  # MLX leaves these permuted.
        module, _, part = name.rpartition(".")
        stored = gguf_name(f"{module}.weight").removesuffix("weight") + part
        assert np.array_equal(array(entry), np.array(theirs[stored])), name
        compared += 1
    assert compared == 2 * (3 * 5 + 2) + 3 + 1


def matrices(weights):
    return {name.removesuffix(".weight"): values for name, values in weights.items() if values.ndim == 2}


@pytest.mark.parametrize(("kind", "bits"), EXACT.items())
def test_mlx_reads_every_weight_that_it_has_a_form_for_bit_for_bit(tmp_path, kind, bits):
    import mlx.core as mx

    weights = matrices(tiny_gguf(tmp_path / "tiny.gguf", kind=kind))
    ours = converted(tmp_path / "tiny.gguf")
    assert len(weights) == 15
    for name, expected in weights.items():
        packed, scales, biases = (array(ours[f"{name}.{part}"]) for part in ("weight", "scales", "biases"))
        halves = [mx.array(part.astype(np.float32)) for part in (scales, biases)]
        back = np.array(mx.dequantize(mx.array(packed), *halves, group_size=32, bits=bits))
        assert np.array_equal(back, expected), name


@pytest.mark.parametrize("kind", [*ROUNDED, *NEAR])
def test_other_kinds_are_dequantized_bit_for_bit_and_kept_as_float16(tmp_path, kind):
    weights = matrices(tiny_gguf(tmp_path / "tiny.gguf", kind=kind, hidden=256, inner=512))
    ours = converted(tmp_path / "tiny.gguf", bits=None)
    assert len(weights) == 15
    for name, expected in weights.items():
        assert f"{name}.scales" not in ours
        assert np.array_equal(array(ours[f"{name}.weight"]), expected.astype(np.float16)), name


@pytest.mark.parametrize(("kind", "bits"), [*((kind, bits) for kind in ROUNDED for bits in (8, 6, 4)), ("Q5_K", 4)])
def test_other_kinds_are_quantized_from_exactly_what_the_gguf_package_reads(tmp_path, kind, bits):
    import mlx.core as mx

    weights = matrices(tiny_gguf(tmp_path / "tiny.gguf", kind=kind, hidden=256, inner=512, layers=1))
    ours = converted(tmp_path / "tiny.gguf", bits)
    for name, expected in weights.items():
        theirs = [np.array(part) for part in mx.quantize(mx.array(expected), group_size=64, bits=bits)]
        packed, scales, biases = (array(ours[f"{name}.{part}"]) for part in ("weight", "scales", "biases"))
        assert np.array_equal(packed, theirs[0]), name
        assert np.array_equal(scales, theirs[1].astype(np.float16))
        halves = [mx.array(part.astype(np.float32)) for part in (scales, biases)]
        back = np.array(mx.dequantize(mx.array(packed), *halves, group_size=64, bits=bits))
        groups = expected.reshape(len(expected), -1, 64)
        step = np.repeat((groups.max(-1) - groups.min(-1)) / (2**bits - 1), 64, axis=-1)
        # Half a step, up to one more at the far edge where MLX puts zero on the grid, and float16’s part.
        assert (np.abs(back - expected) <= 1.5 * step + 1e-3 * np.abs(expected).max()).all()


@pytest.mark.parametrize("asked", [8, 6])
@pytest.mark.parametrize(("kind", "bits"), NEAR.items())
def test_integers_that_mlx_can_hold_are_kept_nearer_than_eight_bits_come(tmp_path, kind, bits, asked):
    import mlx.core as mx

    weights = matrices(tiny_gguf(tmp_path / "tiny.gguf", kind=kind, hidden=256, inner=512, layers=1))
    ours = converted(tmp_path / "tiny.gguf", asked)
    assert len(weights) == 8
    for name, expected in weights.items():
        packed, *halves = (array(ours[f"{name}.{part}"]) for part in ("weight", "scales", "biases"))
        scales, biases = (mx.array(part.astype(np.float32)) for part in halves)
        back = np.array(mx.dequantize(mx.array(packed), scales, biases, group_size=32, bits=bits))
        # A scale and a bias are each off by half of float16's last bit; so small that they have fewer bits, by 2⁻²⁵.
        reach = np.repeat((2**bits - 1) * np.abs(np.array(scales)) + np.abs(np.array(biases)), 32, axis=-1)
        assert (np.abs(back - expected) <= reach * 2.0**-11 + 2**bits * 2.0**-25).all(), name
        eight = [
            part.astype(mx.float16) if part.dtype == mx.float32 else part for part in mx.quantize(mx.array(expected), 64, 8)
        ]
        rounded = np.array(mx.dequantize(eight[0], *(part.astype(mx.float32) for part in eight[1:]), group_size=64, bits=8))
        assert np.square(back - expected).mean() < np.square(rounded - expected).mean() / 4, name


def test_mxfp4_keeps_every_bit(tmp_path):
    import mlx.core as mx

    weights = matrices(tiny_gguf(tmp_path / "tiny.gguf", kind="MXFP4"))
    ours = converted(tmp_path / "tiny.gguf")
    for name, expected in weights.items():
        packed, scales = (array(ours[f"{name}.{part}"]) for part in ("weight", "scales"))
        back = np.array(
            mx.dequantize(mx.array(packed), mx.array(scales), group_size=32, bits=4, mode="mxfp4").astype(mx.float32)
        )
        assert np.array_equal(back, expected), name
        assert f"{name}.biases" not in ours
    rule = quantization(read_model(read_header(tmp_path / "tiny.gguf")).tensors, 8)
    assert rule == {"group_size": 32, "bits": 4, "mode": "mxfp4"}


def test_a_row_that_no_group_of_64_fits_is_quantized_in_groups_of_32(tmp_path):
    import mlx.core as mx

    weights = matrices(tiny_gguf(tmp_path / "tiny.gguf", kind="IQ4_NL", hidden=96, inner=160, layers=1))
    ours = converted(tmp_path / "tiny.gguf")
    packed, scales, biases = mx.quantize(mx.array(weights["model.embed_tokens"]), group_size=32, bits=8)
    assert np.array_equal(array(ours["model.embed_tokens.weight"]), np.array(packed))
    assert array(ours["model.embed_tokens.scales"]).shape == scales.shape == biases.shape


@pytest.mark.parametrize("chunk", [1, 3000])
@pytest.mark.parametrize("kind", ["Q4_0", "Q5_1", "Q4_K"])
def test_the_size_of_the_chunks_makes_no_difference(tmp_path, monkeypatch, kind, chunk):
    tiny_gguf(
        tmp_path / "tiny.gguf",
        kind=kind,
        kinds={"model.embed_tokens": "F16"},
        biases=("q_proj", "k_proj", "v_proj", "o_proj"),
        hidden=256,
        inner=256,
        layers=1,
    )
    whole = converted(tmp_path / "tiny.gguf")
    monkeypatch.setattr(gguf_weights, "CHUNK_WEIGHTS", chunk)
    assert converted(tmp_path / "tiny.gguf") == whole


def test_a_conversion_holds_a_chunk_not_a_tensor(tmp_path, monkeypatch):
    monkeypatch.setattr(gguf_weights, "CHUNK_WEIGHTS", 2**16)
    path = tmp_path / "wide.gguf"
    tiny_gguf(path, kind="Q4_K", hidden=256, inner=4096, layers=1)
    header, data = read_header(path), np.memmap(path, mode="r")
    large = next(planned for planned in read_model(header).tensors if planned.path.endswith("up_proj"))
    tracemalloc.start()
    try:
        for part in convert(header, large, lambda offset, size: data[offset : offset + size].tobytes(), None):
            del part
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert large.info.shape[0] * large.info.shape[1] == 16 * gguf_weights.CHUNK_WEIGHTS
    # A chunk as float32 and what dequantizing it takes besides; the whole tensor would take 16 of these for itself.
    assert peak < 5 * 4 * gguf_weights.CHUNK_WEIGHTS


def test_the_rule_follows_most_tensors_and_names_the_others(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf", kind="Q8_0", kinds={"model.embed_tokens": "Q4_0", "model.layers.0.mlp.up_proj": "F32"})
    assert quantization(read_model(read_header(tmp_path / "tiny.gguf")).tensors, 8) == {
        "group_size": 32,
        "bits": 8,
        "mode": "affine",
        "model.embed_tokens": {"group_size": 32, "bits": 4, "mode": "affine"},
        "model.layers.0.mlp.up_proj": False,
    }


def test_a_model_without_quantized_tensors_has_no_rule(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf", kind="F16")
    assert quantization(read_model(read_header(tmp_path / "tiny.gguf")).tensors, 8) is None


def test_what_is_rounded_follows_the_bits_asked_for(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf", kind="Q6_K", kinds={"model.embed_tokens": "Q5_1"}, hidden=256, inner=256)
    tensors = read_model(read_header(tmp_path / "tiny.gguf")).tensors
    five = {"group_size": 32, "bits": 5, "mode": "affine"}
    assert quantization(tensors, 6) == {"group_size": 64, "bits": 6, "mode": "affine", "model.embed_tokens": five}
    dense = quantization(tensors, None)
    assert {name: value for name, value in dense.items() if not name.startswith("model.layers")} == five
    assert dense["model.layers.1.mlp.up_proj"] is False
