import os

import pytest

from app.models.source import model_source
from engine.core.errors import FlintError, ModelBroken, ModelNotFound, ModelUnsupported, UsageError


def write(path, content=b"x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_gguf_is_taken_by_its_first_bytes_whatever_it_is_called(tmp_path):
    for name in ("a.gguf", "B.GGUF", "a model with spaces und Umläute", "blob.bin"):
        path = write(tmp_path / name, b"GGUF\x03\0\0\0")
        assert model_source(path) == path


def test_a_model_folder_is_taken(tmp_path):
    write(tmp_path / "mine/config.json", b"{}")
    write(tmp_path / "mine/model.safetensors")
    assert model_source(tmp_path / "mine") == tmp_path / "mine"


def test_a_folder_with_one_gguf_stands_for_it(tmp_path):
    path = write(tmp_path / "mine/a.gguf", b"GGUF")
    write(tmp_path / "mine/README.md")
    assert model_source(tmp_path / "mine") == path


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("a.gguf", ModelBroken, "not one"),
        ("model.safetensors", UsageError, "one part"),
        ("config.json", UsageError, "one part"),
        ("pytorch_model.bin", ModelUnsupported, "does not open"),
        ("model.zip", UsageError, "archive"),
        ("notes.txt", UsageError, "not a model"),
        ("empty", UsageError, "not a model"),
    ],
)
def test_another_file_is_told_in_plain_words(tmp_path, name, kind, text):
    with pytest.raises(kind, match=text) as caught:
        model_source(write(tmp_path / name, b""))
    assert name in caught.value.text
    assert caught.value.hint


@pytest.mark.parametrize(
    ("files", "kind", "text"),
    [
        ((), UsageError, "not a model folder"),
        (("notes.txt",), UsageError, "not a model folder"),
        (("config.json",), ModelBroken, "no weights"),
        (("config.json", "pytorch_model.bin"), ModelUnsupported, "does not open"),
        (("model.safetensors",), ModelBroken, "no config.json"),
        (("a.gguf", "b.gguf"), UsageError, "2 GGUF files"),
        (("a.gguf",), ModelBroken, "not one"),
    ],
)
def test_another_folder_is_told_in_plain_words(tmp_path, files, kind, text):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in files:
        write(folder / name)
    with pytest.raises(kind, match=text) as caught:
        model_source(folder)
    assert caught.value.hint


def test_a_path_that_is_gone_is_told(tmp_path):
    with pytest.raises(ModelNotFound, match="not there any more"):
        model_source(tmp_path / "gone.gguf")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_told(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir(mode=0)
    with pytest.raises(FlintError, match="could not be read"):
        model_source(folder)


def test_a_name_that_is_too_long_for_the_disk_is_told(tmp_path):
    with pytest.raises(FlintError):
        model_source(tmp_path / ("x" * 5000))
