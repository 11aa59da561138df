"""One file of the hub, fetched into a partial file that survives whatever happens, and checked before it counts."""

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from engine.core.errors import Stopped
from engine.core.hub_errors import ChangedUpstream, FileDamaged, NoNetwork
from engine.core.hub_facts import HubFile
from engine.core.presence import file_there, there
from engine.models.huggingface_cache import cache_errors

CHUNK = 8 << 20
"""Bytes after which what was fetched is on the disk for sure; a crash costs at most that much of a file."""
TRIES = 3
"""How often a file is fetched whole before it is called damaged."""
OWN = ".flint."
PARTIAL, SURE = f"{OWN}incomplete", f"{OWN}sure"
_PIECE = 1 << 20
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_SHA256_LENGTH = 64


class Source(Protocol):
    """Where bytes come from; `Hub` is one."""

    def opened(
        self, model_id: str, path: str, revision: str, headers: Mapping[str, str]
    ) -> contextlib.AbstractContextManager[Any]:
        """Open a file for streaming, with request headers."""


@dataclass(frozen=True)
class Watch:
    """Who looks on: `moved` is told of bytes gained (or lost, where a file starts anew), `stopped` says when to end."""

    moved: Callable[[int], object]
    stopped: Callable[[], bool]


class Transfer:
    """Fetches one `file` of a repository at a commit into `blobs`, under the name of its hash.

    The partial file grows beside it; after each chunk it is forced to the disk, and how far that was is noted in a second
    file. Only so much is trusted after a crash: a disk may have grown a file before its bytes arrived.
    """

    def __init__(self, source: Source, model_id: str, commit: str, file: HubFile, blobs: Path, watch: Watch) -> None:
        self._source, self._watch = source, watch
        self._model_id, self._commit, self._file = model_id, commit, file
        self._partial = blobs / f"{file.etag}{PARTIAL}"
        self._sure = blobs / f"{file.etag}{SURE}"
        self.blob = blobs / file.etag

    @property
    def size_bytes(self) -> int:
        """The file's size when it is whole."""
        return self._file.size_bytes

    @property
    def done_bytes(self) -> int:
        """What of the file is here for sure."""
        if self.complete:
            return self._file.size_bytes
        return sure_bytes(self._partial)

    @property
    def complete(self) -> bool:
        """Whether the file is here, whole."""
        return file_there(self.blob) and _size(self.blob) == self._file.size_bytes

    def run(self) -> None:
        """Fetch what is missing; a file whose hash is wrong is fetched again, whole.

        Raises a `HubError`, also one that will pass (the next `run` goes on); `DiskFull`, `ReadOnly`; and `Stopped`.
        """
        for _ in range(TRIES):
            if self.complete:
                return
            with cache_errors(self._partial):
                self._fetch()
                if self._right():
                    self._partial.replace(self.blob)
                    self._sure.unlink(missing_ok=True)
                    return
                self._start_anew()
        raise FileDamaged(f"{self._file.path} did not arrive as the hub describes it, {TRIES} times over.")

    def _fetch(self) -> None:
        done = sure_bytes(self._partial)
        with self._partial.open("r+b" if there(self._partial) else "w+b") as target:
            target.truncate(done)
            target.seek(done)
            try:
                while done < self._file.size_bytes:
                    done = self._stream(target, done)
            finally:
                if target.tell() or not self._file.size_bytes:
                    self._save(target, target.tell())
                else:  # Refused, or cut before the first byte: nothing is there to go on with.
                    self._partial.unlink(missing_ok=True)
                    self._sure.unlink(missing_ok=True)

    def _stream(self, target: BinaryIO, done: int) -> int:
        """Append what one request brings; return how far the file is now. Short answers are asked for again."""
        before = done
        asked = {"Range": f"bytes={done}-"} if done else {}
        with self._source.opened(self._model_id, self._file.path, self._commit, asked) as response:
            start = self._start_of(response, done)
            if start != done:
                target.truncate(start)
                target.seek(start)
                self._watch.moved(start - done)
                done = start
            saved = done
            for piece in response.iter_bytes():
                wanted = piece[: self._file.size_bytes - done]
                target.write(wanted)
                done += len(wanted)
                self._watch.moved(len(wanted))
                if done - saved >= CHUNK:
                    self._save(target, done)
                    saved = done
                if self._watch.stopped():
                    raise Stopped
                if len(wanted) < len(piece):
                    break
        if done <= before and done < self._file.size_bytes:
            raise FileDamaged(f"{self._file.path} is shorter on the hub than its page says.")
        return done

    def _start_of(self, response: Any, done: int) -> int:
        """Return where the body begins: where we asked for, or 0 where the whole file comes.

        Raises `ChangedUpstream`, and `NoNetwork` where somebody else answers.
        """
        named = _named(response)
        if not named:  # The hub names every file.
            raise NoNetwork.by_another()
        if named != self._file.etag:
            raise ChangedUpstream(f"{self._file.path} changed on the hub while it was fetched.")
        if response.status_code == 416:
            return 0
        found = _RANGE.match(response.headers.get("Content-Range", ""))
        return done if response.status_code == 206 and found and int(found[1]) == done else 0

    def _save(self, target: BinaryIO, done: int) -> None:
        target.flush()
        os.fsync(target.fileno())
        note = self._sure.with_suffix(".new")
        note.write_text(str(done), "ascii")
        note.replace(self._sure)

    def _right(self) -> bool:
        """Whether the partial file has the hash that names it."""
        large = len(self._file.etag) == _SHA256_LENGTH
        digest = hashlib.sha256() if large else hashlib.sha1(f"blob {self._file.size_bytes}\0".encode())
        with self._partial.open("rb") as written:
            while piece := written.read(_PIECE):
                digest.update(piece)
                if self._watch.stopped():
                    raise Stopped
        return digest.hexdigest() == self._file.etag

    def _start_anew(self) -> None:
        self._watch.moved(-_size(self._partial))
        self._partial.unlink(missing_ok=True)
        self._sure.unlink(missing_ok=True)


def _named(response: Any) -> str:
    """Return the hash that the hub names a file by: a large file's is told where the hub sends on to the storage."""
    answers = (*response.history, response)
    told = [answer.headers.get(header) for header in ("X-Linked-ETag", "ETag") for answer in answers]
    return next((name for name in told if name), "").removeprefix("W/").strip('"')


def sure_bytes(partial: Path) -> int:
    """Return how much of a partial file is known to be on the disk."""
    try:
        noted = int(partial.with_name(partial.name.removesuffix(PARTIAL) + SURE).read_text("ascii"))
    except (OSError, ValueError):
        return 0
    return max(0, min(noted, _size(partial)))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
