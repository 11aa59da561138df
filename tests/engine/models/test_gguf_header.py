"""The header of a GGUF, checked by hand before anything trusts it."""

import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.core.errors import FlintError, ModelBroken, ModelNotFound, ModelUnsupported
from engine.models.gguf_header import read_header
from engine.models.gguf_kinds import KINDS
from tests.models.tiny_gguf import tiny_gguf

START = b"GGUF" + struct.pack("<I", 3)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    tiny_gguf(path, kind="Q4_0", kinds={"model.embed_tokens": "Q8_0", "model.layers.0.mlp.up_proj": "F16"})
    return path


def text(value):
    return struct.pack("<Q", len(value)) + value


def test_every_kind_has_the_size_that_ggml_gives_it():
    import gguf

    assert {number: (name, block, width) for number, (name, block, width) in KINDS.items()} == {
        int(kind): (kind.name, *gguf.GGML_QUANT_SIZES[kind]) for kind in gguf.GGML_QUANT_SIZES
    }


def test_it_reads_what_the_gguf_package_reads(tiny):
    import gguf

    ours, theirs = read_header(tiny), gguf.GGUFReader(tiny)
    assert ours.architecture == "llama"
    assert ours.file_size == tiny.stat().st_size
    assert set(ours.metadata) == {name for name in theirs.fields if not name.startswith("GGUF.")}
    for name, value in ours.metadata.items():
        expected = theirs.fields[name].contents()
        assert (list(value) if isinstance(expected, list) else value) == expected, name
    assert len(ours.tensors) == len(theirs.tensors)
    for info, tensor in zip(ours.tensors, theirs.tensors, strict=True):
        assert info.name == tensor.name
        assert info.kind == tensor.tensor_type.name
        assert info.shape == tuple(int(length) for length in tensor.shape[::-1])
        assert (info.offset, info.size) == (tensor.data_offset, tensor.n_bytes)


def test_every_cut_of_a_file_is_refused(tiny, tmp_path):
    whole = tiny.read_bytes()
    cuts = {*range(4, 200, 7), *np.linspace(200, len(whole) - 1, 60, dtype=int).tolist(), len(whole) - 1}
    for cut in sorted(cuts):
        (tmp_path / "cut.gguf").write_bytes(whole[:cut])
        with pytest.raises(ModelBroken, match="cut short"):
            read_header(tmp_path / "cut.gguf")


@pytest.mark.parametrize("content", [b"", b"GG", b"PK\x03\x04 something else", b"\x80\x02}q\x00."])
def test_what_does_not_begin_as_a_gguf_is_refused(tmp_path, content):
    (tmp_path / "file.gguf").write_bytes(content)
    with pytest.raises(ModelBroken, match="is not a GGUF file"):
        read_header(tmp_path / "file.gguf")


def test_a_missing_file_and_a_folder_are_said(tmp_path):
    with pytest.raises(ModelNotFound, match="There is no file"):
        read_header(tmp_path / "none.gguf")
    with pytest.raises(ModelBroken, match="is a folder"):
        read_header(tmp_path)


@pytest.mark.parametrize("version", [1, 4, 0x03000000])
def test_another_version_or_byte_order_is_refused(tmp_path, version):
    (tmp_path / "file.gguf").write_bytes(b"GGUF" + struct.pack("<IQQ", version, 0, 0))
    with pytest.raises(ModelUnsupported, match="GGUF version"):
        read_header(tmp_path / "file.gguf")


HOSTILE = {
    "2^63 tensors": START + struct.pack("<QQ", 2**63, 0),
    "2^60 entries": START + struct.pack("<QQ", 0, 2**60),
    "a key of 2^62 bytes": START + struct.pack("<QQ", 0, 1) + struct.pack("<Q", 2**62),
    "a text of 2^40 bytes": START + struct.pack("<QQ", 0, 1) + text(b"k") + struct.pack("<IQ", 8, 2**40),
    "a list of 2^61 numbers": START + struct.pack("<QQ", 0, 1) + text(b"k") + struct.pack("<IIQ", 9, 10, 2**61),
    "a list of 2^50 texts": START + struct.pack("<QQ", 0, 1) + text(b"k") + struct.pack("<IIQ", 9, 8, 2**50),
    "lists in lists": START + struct.pack("<QQ", 0, 1) + text(b"k") + struct.pack("<IIQ", 9, 9, 1) * 50,
    "a kind of value that is none": START + struct.pack("<QQ", 0, 1) + text(b"k") + struct.pack("<I", 77),
    "a key that is no text": START + struct.pack("<QQ", 0, 1) + text(b"\xff\xfe") + struct.pack("<IB", 0, 1),
    "an alignment of 0": START + struct.pack("<QQ", 0, 1) + text(b"general.alignment") + struct.pack("<II", 4, 0),
    "a tensor of 2^32 dimensions": START + struct.pack("<QQ", 1, 0) + text(b"t") + struct.pack("<I", 2**32 - 1),
    "a tensor of 2^120 weights": START + struct.pack("<QQ", 1, 0) + text(b"t") + struct.pack("<IQQIQ", 2, 2**60, 2**60, 0, 0),
    "a tensor without weights": START + struct.pack("<QQ", 1, 0) + text(b"t") + struct.pack("<IQQIQ", 2, 0, 4, 0, 0),
    "half a block": START + struct.pack("<QQ", 1, 0) + text(b"t") + struct.pack("<IQIQ", 1, 33, 2, 0),
    "a tensor past the end": START + struct.pack("<QQ", 1, 0) + text(b"t") + struct.pack("<IQIQ", 1, 32, 2, 2**63),
    "a tensor off its place": START + struct.pack("<QQ", 1, 0) + text(b"t") + struct.pack("<IQIQ", 1, 32, 2, 3),
    "the same key twice": START + struct.pack("<QQ", 0, 2) + (text(b"k") + struct.pack("<IB", 0, 1)) * 2,
    "the same tensor twice": START + struct.pack("<QQ", 2, 0) + (text(b"t") + struct.pack("<IQIQ", 1, 32, 2, 0)) * 2,
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_header_is_refused_without_taking_memory(tmp_path, content):
    (tmp_path / "hostile.gguf").write_bytes(content + bytes(512))
    tracemalloc.start()
    try:
        with pytest.raises(ModelBroken):
            read_header(tmp_path / "hostile.gguf")
        assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
    finally:
        tracemalloc.stop()


def test_lengths_that_fit_the_file_but_no_header_are_refused_without_taking_memory(tmp_path):
    path = tmp_path / "large.gguf"
    for start in (
        text(b"k") + struct.pack("<IIQ", 9, 0, 900 * 2**20),
        text(b"k") + struct.pack("<IIQ", 9, 8, 100 * 2**20),
        text(b"k") + struct.pack("<IQ", 8, 900 * 2**20),
    ):
        with path.open("wb") as file:
            file.write(START + struct.pack("<QQ", 0, 1) + start)
            file.truncate(2**30)  # Sparse: it takes no space.
        tracemalloc.start()
        try:
            with pytest.raises(ModelBroken, match="longer than any"):
                read_header(path)
            assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
        finally:
            tracemalloc.stop()


def test_an_unknown_tensor_kind_is_named(tmp_path):
    content = START + struct.pack("<QQ", 1, 0) + text(b"t") + struct.pack("<IQIQ", 1, 32, 99, 0)
    (tmp_path / "new.gguf").write_bytes(content + bytes(512))
    with pytest.raises(ModelUnsupported, match="kind number 99"):
        read_header(tmp_path / "new.gguf")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_damage_to_the_header_is_refused_or_harmless(tiny, tmp_path, data):
    whole = bytearray(tiny.read_bytes())
    end = min(info.offset for info in read_header(tiny).tensors)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(4, end - 9))
        change = data.draw(st.binary(min_size=1, max_size=8))
        whole[at : at + len(change)] = change
    (tmp_path / "damaged.gguf").write_bytes(whole)
    try:
        header = read_header(tmp_path / "damaged.gguf")
    except FlintError:
        return
    assert all(info.offset + info.size <= header.file_size for info in header.tensors)
