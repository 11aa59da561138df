"""Files made to do harm are refused with a clear error, after reading at most their header and without taking memory."""

import array
import io
import struct
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.core.errors import FlintError, ModelBroken
from engine.models.gguf_file import MAX_HEADER_BYTES, MAX_ITEMS, read_open
from engine.models.gguf_header import read_header
from engine.models.gguf_model import read_model
from engine.models.gguf_tokenizer import build_tokenizer
from tests.models.tiny_families import family_gguf
from tests.models.tiny_gemma3 import tiny_gemma3

START = b"GGUF" + struct.pack("<I", 3)
TRILLION = 10**12


class CountedFile:
    """A file that counts the bytes it was asked for and those it gave."""

    def __init__(self, file):
        self.file, self.asked, self.given = file, 0, 0

    def read(self, count):
        data = self.file.read(count)
        self.asked, self.given = self.asked + count, self.given + len(data)
        return data


def text(value):
    return struct.pack("<Q", len(value)) + value


def tensor(name, shape, kind=0, offset=0):
    return (
        text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", kind, offset)
    )


def entry(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def counts(tensors, entries):
    return START + struct.pack("<QQ", tensors, entries)


HOSTILE = {
    "a trillion tensors": counts(TRILLION, 0),
    "a trillion entries": counts(0, TRILLION),
    "a text of a trillion bytes": counts(0, 1) + entry(b"k", 8, struct.pack("<Q", TRILLION)),
    "a list of a trillion numbers": counts(0, 1) + entry(b"k", 9, struct.pack("<IQ", 4, TRILLION)),
    "a list of a trillion texts": counts(0, 1) + entry(b"k", 9, struct.pack("<IQ", 8, TRILLION)),
    "a list whose bytes overflow": counts(0, 1) + entry(b"k", 9, struct.pack("<IQ", 10, 2**61 + 1)),
    "a name of a trillion bytes": counts(1, 0) + struct.pack("<Q", TRILLION),
    "a shape that comes to 0 in 64 bits": counts(1, 0) + tensor(b"t", (2**32, 2**32)),
    "a shape that comes to 32 in 64 bits": counts(1, 0) + tensor(b"t", (2**63 + 16, 2)),
    "a length of -1": counts(1, 0) + tensor(b"t", (2**64 - 1,)),
    "no dimensions": counts(1, 0) + tensor(b"t", ()),
    "five dimensions": counts(1, 0) + tensor(b"t", (1, 1, 1, 1, 1)),
    "an offset that overflows": counts(1, 0) + tensor(b"t", (8,), offset=2**64 - 32),
    "two tensors in one place": counts(2, 0) + tensor(b"a", (8,)) + tensor(b"b", (8,)),
    "tensors that reach into each other": counts(3, 0) + tensor(b"a", (8,), offset=64) + tensor(b"b", (32,)) + tensor(b"c", (8,), offset=128),
    "an alignment past the end": counts(1, 1) + entry(b"general.alignment", 4, struct.pack("<I", 2**31)) + tensor(b"t", (8,)),
    "an alignment that is no number": counts(1, 1) + entry(b"general.alignment", 7, b"\x01") + tensor(b"t", (8,)),
    "a tensor's name that is not UTF-8": counts(1, 0) + tensor(b"\xc3\x28", (8,)),
    "a text that is half a surrogate": counts(0, 1) + entry(b"k", 8, text(b"\xed\xa0\x80")),
    "a list in a list in a list": counts(0, 1) + entry(b"k", 9, struct.pack("<IQ", 9, 1) * 1000),
}  # fmt: skip


def refused(path):
    """Read the header of `path`, which must be refused; return the error, the bytes given and the most memory that was taken."""
    tracemalloc.start()
    try:
        with path.open("rb") as file:
            counted = CountedFile(file)
            with pytest.raises(ModelBroken) as caught:
                read_open(counted, path, path.stat().st_size)
        return caught.value, counted, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_header_is_refused_for_what_it_is(tmp_path, content):
    path = tmp_path / "hostile.gguf"
    path.write_bytes(content + bytes(4096))
    error, counted, memory = refused(path)
    assert error.text.startswith("hostile.gguf is ")
    assert error.hint
    assert counted.asked <= len(content) + 8
    assert memory < 2**20


@pytest.mark.parametrize(
    "start",
    [
        counts(2**24, 0),
        counts(0, 2**24),
        counts(0, 1) + entry(b"k", 8, struct.pack("<Q", 2**30)),
        counts(0, 1) + entry(b"k", 9, struct.pack("<IQ", 8, 2**27)),
        counts(0, 1) + entry(b"k", 9, struct.pack("<IQ", 0, 2**30)),
        counts(0, 1) + struct.pack("<Q", 2**20),
        counts(1, 0) + struct.pack("<Q", 2**20),
    ],
    ids=["tensors", "entries", "a text of 1 GB", "texts", "numbers", "a key of 1 MB", "a name of 1 MB"],
)
def test_what_would_fit_a_large_file_but_no_header_is_refused_unread(tmp_path, start):
    path = tmp_path / "large.gguf"
    with path.open("wb") as file:
        file.write(start)
        file.truncate(2**31)  # Sparse: it takes no space.
    error, counted, memory = refused(path)
    assert "is damaged" in error.text
    assert counted.asked <= len(start) + 8
    assert memory < 2**20


def test_many_texts_come_to_no_more_than_a_header_may_have(tmp_path):
    path, length = tmp_path / "texts.gguf", 15 * 2**20
    with path.open("wb") as file:
        file.write(counts(0, 40))
        for number in range(40):
            file.write(entry(f"k{number}".encode(), 8, struct.pack("<Q", length)))
            file.seek(length, 1)
        file.truncate()
    error, counted, memory = refused(path)
    assert "longer than any model's" in error.text
    assert counted.given <= MAX_HEADER_BYTES
    # What was read, and the text that is being made of its bytes.
    assert memory < MAX_HEADER_BYTES + 3 * length


def test_many_lists_come_to_no_more_than_the_longest_may_have(tmp_path):
    path, length = tmp_path / "lists.gguf", 2**19
    with path.open("wb") as file:
        file.write(counts(0, 100))
        for number in range(100):
            file.write(entry(f"k{number}".encode(), 9, struct.pack("<IQ", 0, length)))
            file.seek(length, 1)
        file.truncate()
    error, counted, memory = refused(path)
    assert "longer than any vocabulary" in error.text
    assert counted.given <= MAX_ITEMS + 2**12
    assert memory < 2 * MAX_ITEMS


def test_many_parts_take_no_more_memory_than_one(tmp_path):
    length, count = 2**20, 12
    for number in range(count):
        split = entry(b"split.no", 2, struct.pack("<H", number)) + entry(b"split.count", 2, struct.pack("<H", count))
        long = entry(b"k", 8, text(bytes(length)))
        (tmp_path / f"long-{number + 1:05}-of-{count:05}.gguf").write_bytes(counts(0, 3) + split + long)
    tracemalloc.start()
    try:
        header = read_header(tmp_path / f"long-00001-of-{count:05}.gguf")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(header.parts) == count
    # The first's text, those of one part and of the next, and the bytes that it is made of.
    assert peak < 5 * length


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    """A file of each of four architectures, and where its header ends."""
    folder = tmp_path_factory.mktemp("families")
    paths = []
    for family, kind in (("llama", "Q4_0"), ("qwen3moe", "Q8_0"), ("phi3, long, partly rotated", "F16"), ("gpt-oss", "MXFP4")):
        paths.append(folder / f"{len(paths)}.gguf")
        family_gguf(paths[-1], family, kind)
    paths.append(tiny_gemma3(folder / "gemma.gguf"))
    return [(path.read_bytes(), min(info.offset for info in read_header(path).tensors)) for path in paths]


def test_no_byte_after_the_header_is_read(families, tmp_path):
    for whole, end in families:
        (tmp_path / "whole.gguf").write_bytes(whole)
        with (tmp_path / "whole.gguf").open("rb") as file:
            counted = CountedFile(file)
            header = read_open(counted, tmp_path / "whole.gguf", len(whole))
        assert header.tensors
        assert end - 32 < counted.given <= end
        assert counted.asked == counted.given


def test_a_file_cut_at_any_hundredth_of_its_header_is_said_to_be_cut_short(families, tmp_path):
    for whole, end in families:
        for percent in range(1, 100):
            cut = whole[: end * percent // 100]
            counted = CountedFile(io.BytesIO(cut))
            with pytest.raises(ModelBroken, match=r"cut\.gguf is cut short"):
                read_open(counted, tmp_path / "cut.gguf", len(cut))
            assert counted.given <= len(cut)


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_is_changed_in_a_header_is_refused_by_name_or_does_no_harm(families, tmp_path, data):
    whole, end = data.draw(st.sampled_from(families))
    changed = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(8, end - 9))
        change = data.draw(
            st.one_of(st.binary(min_size=1, max_size=8), st.sampled_from([b"\xff" * 8, bytes(8), struct.pack("<Q", TRILLION)]))
        )
        changed[at : at + len(change)] = change
    (tmp_path / "changed.gguf").write_bytes(changed)
    try:
        header = read_header(tmp_path / "changed.gguf")
        model = read_model(header)
        build_tokenizer(header, model.config["vocab_size"])
    except FlintError:
        return
    assert all(info.offset + info.size <= header.file_size for info in header.tensors)


STRANGE = ("", "x", "\x00", -1, 0, 1, 3, 2**31, 2**64 - 1, True, float("nan"), float("inf"), -0.5, 1e300, [], ["a"], ["", ""])
STRANGE_LISTS = (
    array.array("i"),
    array.array("i", [-1]),
    array.array("f", [float("nan")] * 3),
    array.array("Q", [2**64 - 1] * 5),
)


def test_no_setting_that_is_of_another_kind_or_size_is_stumbled_over(families, tmp_path):
    for whole, _ in families:
        (tmp_path / "tiny.gguf").write_bytes(whole)
        header = read_header(tmp_path / "tiny.gguf")
        for key in header.metadata:
            for value in (None, *STRANGE, *STRANGE_LISTS):
                changed = {**header.metadata, key: value}
                if value is None:
                    del changed[key]
                try:
                    model = read_model(replace(header, metadata=changed))
                    if key.startswith("tokenizer."):
                        build_tokenizer(replace(header, metadata=changed), model.config["vocab_size"])
                except FlintError:
                    continue
                assert model.tensors
