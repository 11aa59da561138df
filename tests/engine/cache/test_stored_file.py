"""A file of the cache: any reader of safetensors can open it, it comes back as it was, and it is locked while it is written."""

import mlx.core as mx
import numpy as np
import pytest

from engine.cache.stored_file import (
    UNFINISHED,
    StoredBroken,
    Tensor,
    abandoned,
    read_header,
    read_tensors,
    stored_size,
    write_stored,
)
from engine.core.errors import Stopped
from engine.models.safetensors_file import TensorSpec, check_safetensors

IDS = [5, 70_000, 3]
FACTS = {"identity": {"a": "é"}, "owners": []}
ROWS = np.arange(24, dtype=np.float16).reshape(1, 2, 3, 4)
TENSORS = [
    Tensor(TensorSpec("rows", "F16", ROWS.shape), lambda: memoryview(ROWS)),
    Tensor(TensorSpec("nothing", "F32", (0,)), lambda: b""),
]


def write(folder, stop=lambda: False, tensors=TENSORS):
    return write_stored(folder, FACTS, IDS, tensors, stop)


def test_it_comes_back_as_it_was(tmp_path):
    path = write(tmp_path)
    header = read_header(path, FACTS["identity"])
    assert header.tokens.tolist() == IDS
    assert header.facts["owners"] == []
    assert header.size == path.stat().st_size == stored_size(FACTS, IDS, TENSORS)
    assert header.names == ["tokens", "rows", "nothing"]
    rows, nothing = read_tensors(path, [header.place("rows"), header.place("nothing")])
    assert (rows, nothing) == (ROWS.tobytes(), b"")
    with pytest.raises(StoredBroken, match="no tensor"):
        header.place("other")


def test_any_reader_of_safetensors_can_open_it(tmp_path):
    path = write(tmp_path)
    assert check_safetensors(path)["rows"].shape == ROWS.shape
    arrays = mx.load(str(path))
    np.testing.assert_array_equal(np.array(arrays["rows"]), ROWS)
    assert arrays["tokens"].tolist() == IDS


def test_the_same_contents_have_the_same_name(tmp_path):
    assert write(tmp_path) == write(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_it_is_locked_while_it_is_written_and_given_up_without_a_trace(tmp_path):
    seen = []

    def stop():
        (unfinished,) = tmp_path.iterdir()
        seen.append((unfinished.suffix, abandoned(unfinished)))
        return len(seen) == 3

    with pytest.raises(Stopped):
        write(tmp_path, stop)
    assert seen == [(UNFINISHED, False)] * 3
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_are_not_what_a_shape_says_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="2 bytes"):
        write(tmp_path, tensors=[Tensor(TensorSpec("rows", "F16", (2,)), lambda: b"ab")])
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_file_of_the_cache_is_told(tmp_path):
    for name, data in (("a", b""), ("b", b"\x02" + b"\0" * 7 + b"{}"), ("c", b"\xff" * 100)):
        path = tmp_path / f"{name}.safetensors"
        path.write_bytes(data)
        with pytest.raises(StoredBroken):
            read_header(path)
    with pytest.raises(StoredBroken):
        read_header(tmp_path / "gone.safetensors")
