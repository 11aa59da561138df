"""The system's complaints about a disk, told as Flint's errors."""

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from engine.core.errors import DiskFull, ReadOnly


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn “no space” and “may not write” while working on `path` into `DiskFull` and `ReadOnly`; let the rest pass.

    A file where a folder should be counts as “may not write”.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"The disk is full: {path.name} could not be written to {path.parent}.") from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise ReadOnly(f"Flint may not write to {path.parent}.") from error
        if error.errno in (errno.ENOTDIR, errno.EEXIST) and not path.parent.is_dir():
            raise ReadOnly(f"Flint can't write to {path.parent}: it, or a folder above it, is a file.") from error
        raise
