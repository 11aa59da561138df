"""The system's trash: the Finder's on a Mac, the one that desktops share elsewhere."""

import errno
import os
import sys
import time
import urllib.parse
from collections.abc import Mapping
from pathlib import Path

from engine.core.disk import disk_errors
from engine.core.errors import FlintError


class TrashRefused(FlintError):
    """Something can't be moved to the trash."""

    code = "trash-refused"
    exit_code = 28
    http_status = 409
    default_hint = "`flint models rm --now` deletes it for good."


def move_to_trash(path: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Move a file or a folder to the trash of the user and return where it is now.

    Raises `TrashRefused` where the trash is on another disk or may not be written, `DiskFull` or `ReadOnly`.
    """
    trash = _folder(environ)
    with disk_errors(trash):
        trash.mkdir(parents=True, exist_ok=True)
    target, number = trash / path.name, 1
    while os.path.lexists(target):
        number += 1
        target = trash / f"{path.stem} {number}{path.suffix}"
    note = None if sys.platform == "darwin" else _note(path, target)
    try:
        path.rename(target)
    except OSError as error:
        if note is not None:
            note.unlink(missing_ok=True)
        if error.errno == errno.EXDEV:
            raise TrashRefused(f"{path.name} is on another disk than the trash.") from error
        if error.errno in (errno.EACCES, errno.EPERM):
            raise TrashRefused(f"{path.name} may not be moved to the trash.") from error
        raise
    return target


def _folder(environ: Mapping[str, str]) -> Path:
    home = Path(environ.get("HOME") or "~").expanduser()
    if sys.platform == "darwin":
        return home / ".Trash"
    return Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "Trash" / "files"


def _note(path: Path, target: Path) -> Path:
    """Write what a desktop needs to put it back."""
    folder = target.parent.with_name("info")
    note = folder / f"{target.name}.trashinfo"
    with disk_errors(note):
        folder.mkdir(parents=True, exist_ok=True)
        where = urllib.parse.quote(str(path.absolute()))
        note.write_text(f"[Trash Info]\nPath={where}\nDeletionDate={time.strftime('%Y-%m-%dT%H:%M:%S')}\n", "utf-8")
    return note
