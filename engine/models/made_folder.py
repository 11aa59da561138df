"""A model folder that Flint makes: written under a hidden name, flushed, and given its own name in one step."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from engine.core.disk import disk_errors
from engine.core.errors import UsageError
from engine.models.names import folder_name

PREFIX, LOCK_NAME = ".quantize-", ".quantize.lock"


@contextlib.contextmanager
def folder_to_make(root: Path) -> Iterator[Path]:
    """Give a hidden folder under `root` to work in; it is gone afterwards unless `place` renamed it.

    One at a time, whatever process it runs in: what is found half-made is of one that died, and is removed. Raises
    `UsageError` while another works, `DiskFull` or `ReadOnly`.
    """
    lock = root / LOCK_NAME
    with disk_errors(lock):
        root.mkdir(parents=True, exist_ok=True)
        with lock.open("w") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError("Another Flint is quantizing a model.", "Wait until it is done.") from None
            for left in root.glob(f"{PREFIX}*/"):
                shutil.rmtree(left, ignore_errors=True)
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)


def place(folder: Path, root: Path, name: str) -> Path:
    """Give a finished folder a free name made of the model's, and return where it is now."""
    for path in (*folder.iterdir(), folder):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    wanted = root / folder_name(name)
    target, number = wanted, 1
    while os.path.lexists(target):
        number += 1
        target = wanted.with_name(f"{wanted.name}-{number}")
    folder.rename(target)
    return target
