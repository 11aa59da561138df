"""Writing safetensors as a stream, and checking one without reading a tensor."""

import json
import struct

import numpy as np
import pytest

from engine.core.errors import ModelBroken
from engine.models.safetensors_file import TensorSpec, check_safetensors, write_safetensors

SPECS = [TensorSpec("a.weight", "U32", (2, 3)), TensorSpec("a.scales", "F16", (2, 1)), TensorSpec("norm", "F32", (5,))]
VALUES = [np.arange(6, dtype=np.uint32), np.array([1, -2], np.float16), np.linspace(0, 1, 5, dtype=np.float32)]


def write(path, specs=SPECS, values=VALUES):
    with path.open("wb") as file:
        write_safetensors(file, specs, [value.tobytes() for value in values])
    return path


def raw(path, header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def test_what_is_written_is_read_by_mlx_and_by_safetensors(tmp_path):
    import mlx.core as mx
    from safetensors import safe_open

    path = write(tmp_path / "model.safetensors")
    arrays, metadata = mx.load(str(path), return_metadata=True)
    assert metadata == {"format": "mlx"}
    for spec, value in zip(SPECS, VALUES, strict=True):
        assert np.array_equal(np.array(arrays[spec.name]), value.reshape(spec.shape))
    with safe_open(path, "numpy") as file:
        assert np.array_equal(file.get_tensor("norm"), VALUES[2])


def test_parts_that_do_not_fill_the_header_are_refused(tmp_path):
    with pytest.raises(ValueError, match="do not fill"):
        write(tmp_path / "model.safetensors", values=VALUES[:2])


def test_a_whole_file_is_described(tmp_path):
    assert check_safetensors(write(tmp_path / "model.safetensors")) == {spec.name: spec for spec in SPECS}


def test_a_file_that_mlx_wrote_is_whole(tmp_path):
    import mlx.core as mx

    mx.save_safetensors(str(tmp_path / "m.safetensors"), {"x": mx.zeros((3, 4), mx.bfloat16), "y": mx.zeros((0,))})
    assert check_safetensors(tmp_path / "m.safetensors")["x"] == TensorSpec("x", "BF16", (3, 4))


def test_every_cut_is_found(tmp_path):
    whole = write(tmp_path / "model.safetensors").read_bytes()
    for cut in range(len(whole)):
        (tmp_path / "cut.safetensors").write_bytes(whole[:cut])
        with pytest.raises(ModelBroken, match=r"cut short|not a safetensors"):
            check_safetensors(tmp_path / "cut.safetensors")


def entry(**changed):
    return {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changed}}


@pytest.mark.parametrize(
    "header",
    [
        b"not json",
        b"[" * 100_000,
        b"\xff\xff",
        [],
        {"x": 1},
        entry(shape=[3]),
        entry(shape=[-2]),
        entry(shape="two"),
        entry(data_offsets=[0]),
        entry(data_offsets=[8, 0]),
        entry(data_offsets=[0, 1e300]),
        {"x": {"dtype": "F32"}},
    ],
)
def test_a_header_that_makes_no_sense_is_refused(tmp_path, header):
    with pytest.raises(ModelBroken, match="damaged"):
        check_safetensors(raw(tmp_path / "model.safetensors", header, bytes(64)))


def test_a_header_longer_than_the_format_allows_is_not_read(tmp_path):
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", 2**30))
        file.truncate(2**31)  # Sparse: it takes no space.
    with pytest.raises(ModelBroken, match="longer than the format allows"):
        check_safetensors(tmp_path / "model.safetensors")


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(ModelBroken, match="could not be read"):
        check_safetensors(tmp_path / "none.safetensors")
