"""A GGUF in several files is one model, whichever of them is chosen; what is missing is named."""

import hashlib
import json
import struct

import pytest

from engine.core.errors import ModelBroken, ModelUnsupported
from engine.core.paths import locate
from engine.models.gguf import import_gguf
from engine.models.gguf_header import first_parts, read_header, size_of_parts
from engine.models.gguf_source import ImportCancelled
from engine.models.integrity import problem_of
from engine.models.library import Library
from engine.models.record import read_record
from tests.models.tiny_families import family_gguf

NAMES = [f"Big-{number:05}-of-00003.gguf" for number in (1, 2, 3)]


@pytest.fixture
def parts(tmp_path):
    """The three files of a tiny Phi-3, whose factors for long contexts are in one of them."""
    family_gguf(tmp_path / "parts" / "Big.gguf", "phi3, long, partly rotated", "Q8_0", parts=3)
    paths = sorted((tmp_path / "parts").iterdir())
    assert [path.name for path in paths] == NAMES
    return paths


@pytest.fixture
def whole(tmp_path):
    """The same model in one file."""
    family_gguf(tmp_path / "whole" / "Big.gguf", "phi3, long, partly rotated", "Q8_0")
    return tmp_path / "whole" / "Big.gguf"


def set_number(path, key, value):
    """Write another whole number of the same width over the one of `key`."""
    data = bytearray(path.read_bytes())
    at = data.index(key.encode()) + len(key)
    width = {2: "H", 4: "I", 5: "i"}[struct.unpack_from("<I", data, at)[0]]
    struct.pack_into(f"<{width}", data, at + 4, value)
    path.write_bytes(data)


def test_the_parts_give_the_same_model_as_one_file(parts, whole, tmp_path):
    one, joined = import_gguf(whole, tmp_path / "one"), import_gguf(parts[0], tmp_path / "joined")
    assert joined.name == "big"
    assert problem_of(joined) == ""
    assert (joined / "model.safetensors").stat().st_size == (one / "model.safetensors").stat().st_size
    import mlx.core as mx

    ours, theirs = mx.load(str(joined / "model.safetensors")), mx.load(str(one / "model.safetensors"))
    assert ours.keys() == theirs.keys()
    assert all(mx.array_equal(ours[name], theirs[name]).item() for name in theirs)
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"):
        assert (joined / name).read_text() == (one / name).read_text()
    assert len(json.loads((joined / "config.json").read_text())["rope_scaling"]["long_factor"]) == 6


def test_any_part_stands_for_all_and_is_imported_once(parts, tmp_path):
    first = import_gguf(parts[2], tmp_path / "models")
    assert import_gguf(parts[0], tmp_path / "models") == import_gguf(parts[1], tmp_path / "models") == first
    record = read_record(first)
    assert (record.name, record.source_name) == ("Big", NAMES[0])
    data = b"".join(path.read_bytes() for path in parts)
    assert (record.source_size, record.source_sha256) == (len(data), hashlib.sha256(data).hexdigest())


def test_progress_counts_the_bytes_of_all_parts(parts, tmp_path):
    seen = []
    import_gguf(parts[0], tmp_path / "models", progress=lambda done, total: seen.append((done, total)))
    size = sum(path.stat().st_size for path in parts)
    assert {total for _, total in seen} == {size}
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert seen[-1][0] == size


def test_an_import_can_be_cancelled_in_any_part(parts, tmp_path):
    sizes, seen = [path.stat().st_size for path in parts], []
    with pytest.raises(ImportCancelled):
        import_gguf(
            parts[0],
            tmp_path / "models",
            progress=lambda done, total: seen.append(done),
            cancelled=lambda: bool(seen) and seen[-1] > sizes[0] + sizes[1],
        )
    assert sizes[0] + sizes[1] < seen[-1] < sum(sizes)
    assert [path for path in (tmp_path / "models").iterdir() if path.is_dir()] == []


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ([1], "Big is in 3 files, of which Big-00002-of-00003.gguf is missing"),
        ([1, 2], "Big is in 3 files, of which Big-00002-of-00003.gguf and Big-00003-of-00003.gguf are missing"),
        ([0], "Big is in 3 files, of which Big-00001-of-00003.gguf is missing"),
    ],
)
def test_parts_that_are_missing_are_named(parts, gone, said):
    for index in gone:
        parts[index].unlink()
    left = next(path for path in parts if path.exists())
    with pytest.raises(ModelBroken) as caught:
        read_header(left)
    assert caught.value.text.startswith(said)
    assert str(left.parent) in caught.value.hint


def test_of_many_missing_parts_the_first_is_named(parts):
    path = parts[0].rename(parts[0].with_name("Big-00001-of-00090.gguf"))
    set_number(path, "split.count", 90)
    with pytest.raises(ModelBroken, match=r"Big-00002-of-00090\.gguf and 88 more parts are missing"):
        read_header(path)


def test_a_part_that_is_cut_short_or_damaged_is_named(parts):
    whole = parts[1].read_bytes()
    parts[1].write_bytes(whole[:-1000])
    with pytest.raises(ModelBroken, match=r"Big-00002-of-00003\.gguf is cut short"):
        read_header(parts[0])
    parts[1].write_bytes(b"PK" + whole[2:])
    with pytest.raises(ModelBroken, match=r"Big-00002-of-00003\.gguf is not a GGUF"):
        read_header(parts[0])


def test_a_part_in_the_place_of_another_is_refused(parts):
    parts[1].write_bytes(parts[2].read_bytes())
    with pytest.raises(ModelBroken, match=r"Big-00002-of-00003\.gguf is not part 2 of 3"):
        read_header(parts[0])


def test_a_tensor_that_two_parts_hold_is_refused(parts):
    parts[1].write_bytes(parts[2].read_bytes())
    set_number(parts[1], "split.no", 1)
    with pytest.raises(ModelBroken, match=r"Big-00003-of-00003\.gguf holds .*, as another part does"):
        read_header(parts[0])


def test_parts_that_do_not_hold_as_many_tensors_as_the_first_says_are_refused(parts):
    set_number(parts[0], "split.tensors.count", 7)
    with pytest.raises(ModelBroken, match="do not hold all its tensors"):
        read_header(parts[2])


@pytest.mark.parametrize(("count", "said"), [(2, "which its name contradicts"), (60000, "one of 60000 parts")])
def test_a_count_of_parts_that_cannot_be_is_refused(parts, count, said):
    set_number(parts[0], "split.count", count)
    with pytest.raises(ModelBroken, match=said):
        read_header(parts[0])


def test_a_file_that_says_it_is_the_only_part_stands_alone(parts):
    set_number(parts[0], "split.count", 0)
    assert [part.path for part in read_header(parts[0]).parts] == parts[:1]


def test_a_part_under_another_name_says_how_parts_are_named(parts):
    path = parts[0].rename(parts[0].with_name("model.gguf"))
    with pytest.raises(ModelUnsupported, match="one part of a model in 3 files") as caught:
        read_header(path)
    assert "-00001-of-00003.gguf" in caught.value.hint


def test_a_part_that_vanishes_during_the_import_is_named(parts, tmp_path):
    def shrink(done, total):
        parts[2].write_bytes(parts[2].read_bytes()[:-64])

    with pytest.raises(ModelBroken, match=r"Big-00003-of-00003\.gguf became shorter"):
        import_gguf(parts[0], tmp_path / "models", progress=shrink)


def test_of_the_parts_of_a_model_one_stands_for_all(parts, tmp_path):
    other = parts[0].with_name("Other.gguf")
    assert first_parts([other, *reversed(parts)]) == [parts[0], other]
    assert first_parts(parts[1:]) == [parts[1]]
    total = sum(path.stat().st_size for path in parts)
    assert size_of_parts(parts[0]) == size_of_parts(parts[2]) == total
    missing = parts[1].stat().st_size
    parts[1].unlink()
    assert size_of_parts(parts[0]) == total - missing
    with pytest.raises(FileNotFoundError):
        size_of_parts(parts[1])


def test_a_model_in_parts_is_one_entry_of_the_library(parts):
    found = Library(locate(), models_folder=parts[0].parent)
    last = parts[2].rename(parts[2].with_suffix(".downloading"))
    (entry,) = [entry for entry in found.entries() if entry.kind == "gguf" and entry.origin == "flint"]
    assert (entry.name, entry.path) == ("Big", str(parts[0]))
    assert "Big-00003-of-00003.gguf is missing" in entry.problem
    last.rename(parts[2])
    (entry,) = [entry for entry in found.entries() if entry.kind == "gguf" and entry.origin == "flint"]
    assert (entry.problem, entry.size_bytes) == ("", sum(path.stat().st_size for path in parts))
    assert (entry.architecture, entry.context, entry.quantization) == ("phi3", 512, "Q8_0")
