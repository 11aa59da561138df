"""The note that Flint leaves in a folder it made."""

import dataclasses

import pytest

from engine.models.record import FILE_NAME, Record, read_record, write_record

RECORD = Record("Größe 7B", "größe.gguf", 123, "ab" * 32)


def test_what_is_written_is_read(tmp_path):
    write_record(tmp_path, RECORD)
    assert read_record(tmp_path) == RECORD


def test_what_was_rounded_is_kept(tmp_path):
    write_record(tmp_path, dataclasses.replace(RECORD, rounded_to="6-bit"))
    assert read_record(tmp_path).rounded_to == "6-bit"


def test_a_record_of_before_there_was_rounding_rounded_nothing(tmp_path):
    (tmp_path / FILE_NAME).write_text('{"name": "a", "source_name": "b", "source_size": 1, "source_sha256": "c"}')
    assert read_record(tmp_path) == Record("a", "b", 1, "c", "")


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        "{",
        "[]",
        '{"name": "x"}',
        '{"name": 1, "source_name": "", "source_size": 1, "source_sha256": ""}',
        '{"name": "", "source_name": "", "source_size": 1, "source_sha256": "", "rounded_to": 8}',
        "[" * 100_000,
    ],
)
def test_a_folder_without_a_readable_record_has_none(tmp_path, content):
    if content is not None:
        (tmp_path / FILE_NAME).write_text(content)
    assert read_record(tmp_path) is None
