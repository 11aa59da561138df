"""Where chats are imported from: files, the JSON files in a folder, and those in an archive of ChatGPT's, as bytes."""

import contextlib
import itertools
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from engine.core.errors import UsageError
from engine.core.record import Record

MOST_BYTES = 4 << 30
"""A file that is larger than this, or unpacks to more, is refused."""
MOST_FILES = 20_000
"""A folder with more of them is not one of chats."""
HINT = "Choose JSON that Flint, ChatGPT or LM Studio exported, or ChatGPT's .zip."

_UNPACK = "Unpack it, then import conversations.json."
_KNOWN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_LOCKED = 0x41
"""The flags of a member that takes a password."""


class Source(Record):
    """One file to read chats from. `folder` is the name of the folder it is in, below the one that was chosen."""

    name: str
    size: int
    modified: float
    open: Callable[[], contextlib.AbstractContextManager[Callable[[int], bytes]]]
    folder: str = ""
    chosen: bool = True
    """Whether somebody chose this very file: then it has to hold chats."""


def sources(paths: Sequence[Path]) -> list[Source]:
    """Return what is to be read at `paths`. Raises `UsageError` for what is not there, too large, or no such file."""
    return [source for path in paths for source in _at(path)]


def _at(path: Path) -> Iterator[Source]:
    with _readable(path):
        if path.is_dir():
            found = list(itertools.islice(path.rglob("*.json"), MOST_FILES + 1))
            if len(found) > MOST_FILES:
                raise UsageError(f"{path.name} holds more than {MOST_FILES:,} files.", "Choose the folder of the chats itself.")
            for inner in sorted(found):
                folder = "" if inner.parent == path else inner.parent.name
                yield _file(inner, folder=folder, chosen=False)
        elif path.suffix.lower() == ".zip":
            yield from _archive(path)
        else:
            yield _file(path)


def _file(path: Path, folder: str = "", *, chosen: bool = True) -> Source:
    found = path.stat()
    _check_size(path.name, found.st_size)

    @contextlib.contextmanager
    def opened() -> Iterator[Callable[[int], bytes]]:
        with _readable(path), path.open("rb") as file:
            yield file.read

    return Source(path.name, found.st_size, found.st_mtime, opened, folder, chosen)


def _archive(path: Path) -> Iterator[Source]:
    with _opened(path) as archive:
        members = [info for info in archive.infolist() if _holds_conversations(info.filename)]
    if not members:
        raise UsageError(f"{path.name} holds no conversations.json.", HINT)
    for member in sorted(members, key=lambda info: info.filename):
        _check_size(member.filename, member.file_size)
        if member.flag_bits & _LOCKED:
            raise UsageError(f"{path.name} is locked with a password.", _UNPACK)
        if member.compress_type not in _KNOWN:
            raise UsageError(f"{path.name} is packed in a way that Flint does not know.", _UNPACK)
        yield Source(PurePosixPath(member.filename).name, member.file_size, path.stat().st_mtime, _member(path, member))


def _member(path: Path, member: zipfile.ZipInfo) -> Callable[[], contextlib.AbstractContextManager[Callable[[int], bytes]]]:
    @contextlib.contextmanager
    def opened() -> Iterator[Callable[[int], bytes]]:
        with _opened(path) as archive, archive.open(member) as file:
            yield file.read

    return opened


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive. What is wrong with it, or with a member that is read meanwhile, is told as a `UsageError`."""
    try:
        with _readable(path), zipfile.ZipFile(path) as archive:
            yield archive
    except NotImplementedError as error:  # A newer form of archive, or a patch to one.
        raise UsageError(f"{path.name} is packed in a way that Flint does not know.", _UNPACK) from error
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError) as error:
        raise UsageError(f"{path.name} is not an archive, or it is damaged.", "Download it again.") from error


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path.name} can't be read: {error.strerror or error}.", HINT) from error


def _holds_conversations(name: str) -> bool:
    last = PurePosixPath(name).name.lower()
    return last.startswith("conversations") and last.endswith(".json")


def _check_size(name: str, size: int) -> None:
    if size > MOST_BYTES:
        raise UsageError(f"{name} is too large to be read ({size / 1e9:.1f} GB).", HINT)
