"""What is known of a download that is not finished, wherever it runs: how far it is, and whether somebody is at it.

The files that are wanted are noted in the repository's folder while it lasts; whoever fetches them holds its lock.
"""

import contextlib
import fcntl
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.core.disk import write_whole
from engine.core.errors import FlintError
from engine.core.hub_facts import HubFile
from engine.core.presence import file_there, matching
from engine.models.transfer import PARTIAL, sure_bytes

NOTE = ".flint-download"


@dataclass(frozen=True)
class Arriving:
    """How much of a download is here, in bytes, of how much (0 where nobody noted that), and whether it is `running`."""

    done: int
    total: int
    running: bool

    @property
    def text(self) -> str:
        """How far it is: “44%”; "" where that is not known."""
        return f"{self.done / self.total:.0%}" if self.total else ""


def lock_of(folder: Path) -> Path:
    """Return the file that is locked while a repository is fetched into `folder`."""
    return folder.parent / ".locks" / folder.name / "flint.lock"


def write_note(folder: Path, files: Iterable[HubFile]) -> None:
    """Note what is to be fetched into a repository's folder. Where that can't be written, nobody is told how far it is."""
    with contextlib.suppress(OSError, FlintError):
        write_whole(folder / NOTE, [json.dumps({file.etag: file.size_bytes for file in files})])


def wanted(folder: Path) -> dict[str, int]:
    """Return what is to be fetched into a repository's folder: bytes by the files' hashes; nothing where nobody noted that."""
    try:
        return {Path(etag).name: int(size) for etag, size in json.loads((folder / NOTE).read_text("utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def arriving(folder: Path) -> Arriving:
    """Return how far the download into a repository's folder is."""
    blobs, sizes = folder / "blobs", wanted(folder)
    if not sizes:
        here = sum(path.stat().st_size for path in matching(blobs, "*") if file_there(path))
        return Arriving(here, 0, _running(lock_of(folder)))
    whole = sum(size for etag, size in sizes.items() if file_there(blobs / etag))
    parts = sum(sure_bytes(blobs / f"{etag}{PARTIAL}") for etag in sizes if not file_there(blobs / etag))
    return Arriving(whole + parts, sum(sizes.values()), _running(lock_of(folder)))


def _running(lock: Path) -> bool:
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
