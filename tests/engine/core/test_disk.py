import errno
import os

import pytest

from engine.core.disk import disk_errors
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
