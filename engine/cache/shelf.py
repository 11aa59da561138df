"""The files on disk that one loaded model can use: what is new there, writing another, reading one."""

import errno
import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.cache.disk import DiskCache, remove, stored_paths, touch
from engine.cache.forwards import Run, read
from engine.cache.stored import Contents, OpenFile, StoredFile, StoredPiece, StoredState, stand_ins
from engine.cache.stored_file import Header, StoredBroken, read_header, stored_size, write_stored
from engine.core.errors import Stopped

logger = logging.getLogger("flint.engine")

REST_S = 300.0
"""How long nothing is written after a write failed."""
SETTLED_S = 2.0
"""Age from which on a folder's time tells that nothing has come since; clocks of file systems tick slowly."""


class Arrival:
    """A file that was not known yet: its path's `tokens`, who owns it, and what stands for what it holds."""

    def __init__(self, file: StoredFile, header: Header) -> None:
        self.file = file
        self.pieces, self.states = stand_ins(file, header)
        self.tokens: list[int] = header.tokens.tolist()
        self.owners = [str(owner) for owner in header.facts["owners"]]
        context = header.facts["context"]
        self.context = None if context is None else int(context)
        self.pinned = int(header.facts.get("pinned", 0))
        self.forwards = read(header.facts.get("forwards"), len(self.tokens))


class Shelf:
    """The folder of one identity. `identity` is everything that decides what the numbers mean, as JSON takes it."""

    def __init__(self, disk: DiskCache, identity: Mapping[str, Any]) -> None:
        self.disk = disk
        self.identity = dict(identity)
        self.folder = disk.folder(identity)
        self._known: dict[Path, StoredFile | None] = {}
        self._looked_at = 0
        self._rest_until = 0.0

    @property
    def writable(self) -> bool:
        """Whether anything may be written now."""
        return self.disk.limit > 0 and time.monotonic() >= self._rest_until

    def look(self) -> tuple[list[Arrival], list[StoredFile]]:
        """Return the files that came since the last look, those used longest ago first, and those that went.

        Only their beginnings are read, and nothing where nothing came or went.
        """
        changed = self._changed_at()
        if changed and changed == self._looked_at:
            return [], []
        paths = stored_paths(self.folder)
        self._looked_at = changed if time.time() - changed / 1e9 > SETTLED_S else 0
        there = set(paths)
        gone = [path for path in self._known if path not in there]
        went = [file for file in map(self._known.pop, gone) if file is not None]
        arrivals = [self._arrival(path) for path in paths if path not in self._known]
        return [arrival for arrival in arrivals if arrival is not None], went

    def write(
        self,
        tokens: Sequence[int],
        contents: Contents,
        owners: Iterable[str],
        context: int | None,
        spared: Collection[StoredFile],
        stop: Callable[[], bool],
        pinned: int = 0,
        forwards: Sequence[Run] = (),
    ) -> StoredFile | None:
        """Write a file of what belongs to the path `tokens`; return it, or None where it could not be or `stop` said so.

        Room is made for it, but not by removing `spared`. A disk that is full or can't be written is a warning in the log,
        and then nothing is tried for a while.
        """
        path_facts = {"context": context, "pinned": pinned, "forwards": [list(run) for run in forwards]}
        facts = {"identity": self.identity, "owners": sorted(owners), **path_facts, **contents.facts()}
        tensors = contents.tensors()
        try:
            self.disk.ready(self.folder)
            size = stored_size(facts, tokens, tensors)
            if not self.disk.make_room(size, [file.path for file in spared]):
                self._rest_until = time.monotonic() + REST_S
                return None
            path = write_stored(self.folder, facts, tokens, tensors, stop)
        except Stopped:
            return None
        except OSError as error:
            why = "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror or str(error)
            logger.warning("The prefix cache could not be written: %s", why)
            self._rest_until = time.monotonic() + REST_S
            return None
        file = StoredFile(path, size, len(tokens))
        self._known[path] = file
        return file

    def open(self, file: StoredFile) -> OpenFile:
        """Open a file to read from it. Raises `StoredBroken`."""
        return OpenFile(file, self.identity)

    def discard(self, file: StoredFile, why: Exception) -> None:
        """Remove a file that turned out not to be usable."""
        logger.info("Left out of the prefix cache: %s", why)
        self.remove([file])

    def remove(self, files: Sequence[StoredFile]) -> None:
        """Remove files that nothing needs any more."""
        for file in files:
            self._known[file.path] = None
        remove(file.path for file in files)

    def used(self, files: Iterable[StoredFile]) -> None:
        """Note that files are in use, those of a path's beginning first."""
        touch([file.path for file in files])

    def forget(self) -> None:
        """Look at everything anew next time."""
        self._known.clear()
        self._looked_at = 0
        self._rest_until = 0.0

    def _arrival(self, path: Path) -> Arrival | None:
        self._known[path] = None
        try:
            header = read_header(path, self.identity)
            arrival = Arrival(StoredFile(path, header.size, len(header.tokens)), header)
        except (StoredBroken, KeyError, TypeError, ValueError) as error:
            logger.info("Left out of the prefix cache: %s", error)
            return None
        self._known[path] = arrival.file
        return arrival

    def _changed_at(self) -> int:
        try:
            return self.folder.stat().st_mtime_ns
        except OSError:
            return 0


def files_of(stood: Iterable[StoredPiece | StoredState]) -> list[StoredFile]:
    """Return the files of stand-ins, each once, in their order."""
    return list(dict.fromkeys(each.file for each in stood))
