"""Files written whole or not at all, and the system's complaints about a disk, told as Flint's errors."""

import contextlib
import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.core.errors import DiskFull, ReadOnly
from engine.core.presence import closed_at
from engine.core.sizes import size_text

RESERVE = 500_000_000
"""Bytes of the disk that no model takes: without them the system and other programs fail."""


def lack_of_room(name: str, needed: int, free: int) -> str:
    """Return why `needed` bytes for a model may not go to a disk with `free` ones; "" where they may."""
    if needed <= 0 or free >= needed + RESERVE:
        return ""
    needs, stays = size_text(needed), size_text(RESERVE)
    return f"The disk is too full for {name}: it needs {needs}, {stays} have to stay free, and {size_text(free)} are free."


def check_disk(name: str, needed: int, folder: Path) -> None:
    """Raise `DiskFull` where `needed` bytes for a model may not go into a folder."""
    lack = lack_of_room(name, needed, shutil.disk_usage(folder).free)
    if lack:
        raise DiskFull(lack)


@contextlib.contextmanager
def disk_errors(path: Path, read_only: str | None = None) -> Iterator[None]:
    """Turn “no space” and “may not write” while working on `path` into `DiskFull` and `ReadOnly`; let the rest pass.

    A file where a folder should be counts as “may not write”. `read_only` is what to do about that, where it is not to set
    FLINT_HOME.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"The disk is full: {path.name} could not be written to {path.parent}.") from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise ReadOnly(f"Flint may not write to {closed_at(path.parent) or path.parent}.", read_only) from error
        if error.errno in (errno.ENOTDIR, errno.EEXIST) and not path.parent.is_dir():
            raise ReadOnly(f"Flint can't write to {path.parent}: it, or a folder above it, is a file.", read_only) from error
        raise


@contextlib.contextmanager
def may_read(path: Path) -> Iterator[None]:
    """Turn “may not read” while reading `path`, a file of Flint's own, into `ReadOnly`; let the rest pass.

    It names the folder that may not be looked into, where that is the reason.
    """
    try:
        yield
    except PermissionError as error:
        closed = next((folder for folder in reversed(path.parents) if not os.access(folder, os.X_OK)), path)
        hint = "Give yourself the right to read and write it, or set FLINT_HOME to another folder."
        raise ReadOnly(f"Flint may not read {closed}.", hint) from error


def check_readable(path: Path) -> None:
    """Raise `ReadOnly` where `path`, of Flint's own, is there or may be, and may not be read."""
    with may_read(path):
        if path.exists() and not os.access(path, os.R_OK):
            raise PermissionError


def write_whole(path: Path, texts: Iterable[str], *, private: bool = False) -> None:
    """Write texts to a file as UTF-8: one that was there is replaced by the whole new one, or stays as it was.

    Where `path` is a link, the link stays. A lone surrogate becomes an escape, as JSON has it. Only its owner may read a
    `private` file. Raises `DiskFull`, `ReadOnly`, `OSError` for the rest, and what `texts` raises.
    """
    target = path.resolve()
    part = target.with_name(f".flint-{os.urandom(8).hex()}.part")
    with disk_errors(target):
        try:
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.writelines(texts)
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
