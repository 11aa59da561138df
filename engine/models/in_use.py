"""Who uses a model: a lock on the model itself, shared by all who read it, so that nobody removes it meanwhile.

It is on the folder or the file, not beside it: nothing is left over, it needs no right to write, and it ends with its process.
"""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.core.errors import UsageError


@contextlib.contextmanager
def in_use(path: Path, name: str) -> Iterator[None]:
    """Say that a model's folder or file is being read. Raises `UsageError` while it is being removed."""
    refused = UsageError(f"{name} is being removed by another Flint.", "Choose another model.")
    with contextlib.closing(_locked(path, fcntl.LOCK_SH, refused)):
        yield


@contextlib.contextmanager
def unused(paths: Iterable[Path], name: str) -> Iterator[None]:
    """Keep everybody from beginning to read a model. Raises `UsageError` where somebody does."""
    refused = UsageError(
        f"{name} is in use by another Flint.", "Close it there, unload the model, or wait until its copy is made."
    )
    with contextlib.ExitStack() as stack:
        # Links of several versions may lead to one file, and a second lock of one's own would wait for the first.
        for path in {os.path.realpath(path) for path in paths}:
            stack.enter_context(contextlib.closing(_locked(Path(path), fcntl.LOCK_EX, refused)))
        yield


class _Handle:
    """An open file that holds a lock; none where there is nothing to lock."""

    def __init__(self, handle: int | None) -> None:
        self._handle = handle

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)


def _locked(path: Path, kind: int, refused: UsageError) -> _Handle:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # A pipe must not be waited for.
    except OSError:  # Whoever reads it says better what is wrong with it.
        return _Handle(None)
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN):
            os.close(handle)
            raise refused from None
        # A disk without locks, as some of a network's are: nobody else can ask there either.
    return _Handle(handle)
