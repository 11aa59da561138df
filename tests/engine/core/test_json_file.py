import pytest

from engine.core.json_file import read_object


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_an_object_is_read_with_a_byte_order_mark_or_without(tmp_path, start):
    (tmp_path / "file").write_text(start + '{"name": "東京"}', "utf-8")
    assert read_object(tmp_path / "file") == {"name": "東京"}


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[1]", b"null", b"7", b'"text"', b'{"name": "\xff"}', b"[" * 200_000, b'{"a":' * 200_000, b"\0" * 64]
)
def test_whatever_else_a_file_holds_is_a_value_error(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(ValueError):
        read_object(tmp_path / "file")


def test_what_is_not_there_is_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_object(tmp_path / "file")
    with pytest.raises(OSError):
        read_object(tmp_path)
