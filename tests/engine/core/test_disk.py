import errno
import os
import stat

import pytest

from engine.core.disk import RESERVE, disk_errors, lack_of_room, write_whole
from engine.core.errors import DiskFull, ReadOnly


def raised(code, path):
    with disk_errors(path):
        raise OSError(code, os.strerror(code), str(path))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_no_space_is_a_full_disk(code, tmp_path):
    with pytest.raises(DiskFull, match=r"chats\.sqlite3"):
        raised(code, tmp_path / "chats.sqlite3")


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_no_permission_is_read_only(code, tmp_path):
    with pytest.raises(ReadOnly) as caught:
        raised(code, tmp_path / "file")
    assert str(tmp_path) in caught.value.text
    assert isinstance(caught.value.__cause__, OSError)


def test_a_file_in_place_of_a_folder_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ReadOnly, match="is a file"), disk_errors(tmp_path / "file" / "deep" / "new"):
        (tmp_path / "file" / "deep").mkdir(parents=True)


def test_other_complaints_pass_as_they_are(tmp_path):
    with pytest.raises(FileNotFoundError), disk_errors(tmp_path / "file"):
        (tmp_path / "missing").read_text()
    (tmp_path / "there").write_text("")
    with pytest.raises(FileExistsError), disk_errors(tmp_path / "there"):
        (tmp_path / "there").open("x")
    with pytest.raises(ZeroDivisionError), disk_errors(tmp_path / "file"):
        raise ZeroDivisionError


def test_nothing_happens_when_all_is_well(tmp_path):
    with disk_errors(tmp_path / "file"):
        (tmp_path / "file").write_text("kept")
    assert (tmp_path / "file").read_text() == "kept"


def test_a_file_is_replaced_by_the_whole_new_one_and_nothing_stays_beside_it(tmp_path):
    path = tmp_path / "file"
    for texts in (["one\n", "東京\u2028"], iter(["two"]), []):
        kept = list(texts)
        write_whole(path, kept)
        assert path.read_bytes() == "".join(kept).encode()
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_file_stays_as_it_was_where_its_new_texts_end_in_an_error(tmp_path):
    path = tmp_path / "file"
    path.write_text("before")

    def texts():
        yield "half"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_whole(path, texts())
    assert path.read_text() == "before"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_private_file_is_its_owners_and_another_one_as_the_system_makes_them(tmp_path):
    (tmp_path / "usual").write_text("")
    write_whole(tmp_path / "file", ["open"])
    write_whole(tmp_path / "secret", ["hidden"], private=True)
    modes = {found.name: stat.S_IMODE(found.stat().st_mode) for found in tmp_path.iterdir()}
    assert modes["file"] == modes["usual"]
    assert modes["secret"] == 0o600


def test_a_link_stays_and_leads_to_what_was_written(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "file")
    write_whole(tmp_path / "link", ["kept"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere" / "file").read_text() == "kept"


def test_half_a_character_is_written_as_json_escapes_it(tmp_path):
    write_whole(tmp_path / "file", ['"\ud83d"'])
    assert (tmp_path / "file").read_text() == r'"\ud83d"'


def test_what_can_not_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ReadOnly):
        write_whole(tmp_path / "file" / "new", ["text"])
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "gone" / "new", ["text"])


@pytest.mark.parametrize(("needed", "free"), [(60_000_000, 94_000_000), (1, RESERVE), (140 * 10**9, 140 * 10**9)])
def test_what_lacks_room_is_told_with_what_has_to_stay_free(needed, free):
    told = lack_of_room("Slow 1B", needed, free)
    assert told.startswith("The disk is too full for Slow 1B: it needs ")
    assert "500 MB have to stay free" in told


def test_what_has_room_or_is_there_already_lacks_none():
    assert lack_of_room("Slow 1B", 60_000_000, 60_000_000 + RESERVE) == ""
    assert lack_of_room("Slow 1B", 0, 0) == ""
