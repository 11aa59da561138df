"""The same numbers in other places: what MLX's own GGUF reader makes, without holding the file in memory."""

import numpy as np
import pytest

from engine.models import gguf_weights
from engine.models.gguf_header import read_header
from engine.models.gguf_llama import read_model
from engine.models.gguf_weights import convert, quantization, specs
from tests.models.tiny_gguf import gguf_name, tiny_gguf


def converted(path):
    """Return every tensor of a GGUF as `convert` gives it, as one array of bytes by name."""
    header = read_header(path)
    data = path.read_bytes()
    found = {}
    for planned in read_model(header).tensors:
        parts = b"".join(convert(header, planned, lambda offset, size: data[offset : offset + size]))
        for spec in specs(planned):
            found[spec.name], parts = (spec, parts[: spec.size]), parts[spec.size :]
        assert parts == b""
    return found


DTYPES = {"U32": np.uint32, "F16": np.float16, "F32": np.float32}


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


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q8_0"])
def test_q_and_k_stand_in_the_order_of_the_original_weights(tmp_path, kind):
    import mlx.core as mx

    weights = tiny_gguf(tmp_path / "tiny.gguf", kind=kind)
    ours = converted(tmp_path / "tiny.gguf")
    for name in ("model.layers.0.self_attn.q_proj", "model.layers.1.self_attn.k_proj"):
        triple = [mx.array(array(ours[f"{name}.{part}"])) for part in ("weight", "scales", "biases")]
        back = mx.dequantize(
            *(triple[0], *(part.astype(mx.float32) for part in triple[1:])), group_size=32, bits=4 if "4" in kind else 8
        )
        np.testing.assert_allclose(np.array(back), weights[f"{name}.weight"], atol=1e-6)


@pytest.mark.parametrize("chunk", [1, 3000])
def test_the_size_of_the_chunks_makes_no_difference(tmp_path, monkeypatch, chunk):
    tiny_gguf(tmp_path / "tiny.gguf", kinds={"model.embed_tokens": "F16"}, biases=("q_proj", "k_proj", "v_proj", "o_proj"))
    whole = converted(tmp_path / "tiny.gguf")
    monkeypatch.setattr(gguf_weights, "CHUNK_BYTES", chunk)
    assert converted(tmp_path / "tiny.gguf") == whole


def test_the_rule_follows_most_tensors_and_names_the_others(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf", kind="Q8_0", kinds={"model.embed_tokens": "Q4_0", "model.layers.0.mlp.up_proj": "F32"})
    assert quantization(read_model(read_header(tmp_path / "tiny.gguf")).tensors) == {
        "group_size": 32,
        "bits": 8,
        "mode": "affine",
        "model.embed_tokens": {"group_size": 32, "bits": 4, "mode": "affine"},
        "model.layers.0.mlp.up_proj": False,
    }


def test_a_model_without_quantized_tensors_has_no_rule(tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf", kind="F16")
    assert quantization(read_model(read_header(tmp_path / "tiny.gguf")).tensors) is None
