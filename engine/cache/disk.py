"""The prefix cache's folder: what every conversation left in a model's KV cache, kept across restarts within a bound.

Below it one folder for everything that decides what the numbers mean (`identity`): the weights, their precision, the cache's
precision, the template. Files in it never change; several processes may use it at once, and what one of them removes the
others find missing. It holds what people wrote, so it is theirs alone (0700).
"""

import hashlib
import json
import logging
import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.cache.stored_file import SUFFIX, UNFINISHED, abandoned
from engine.core.paths import Paths

logger = logging.getLogger("flint.engine")

PATH_STEP_NS = 1_000_000
"""How much older each file of a path is made than the one before it: without its beginning the rest is of no use."""
ABANDONED_AFTER_S = 60.0


@dataclass(frozen=True)
class DiskUse:
    """What the folder takes on the disk."""

    files: int
    size_bytes: int


@dataclass(frozen=True)
class _Found:
    path: Path
    size: int
    used_ns: int


def prefix_folder(paths: Paths) -> Path:
    """Return the prefix cache's folder."""
    return paths.cache / "prefix"


class DiskCache:
    """The folder `root`, bounded to `limit` bytes over everything in it; 0 writes nothing."""

    def __init__(self, root: Path, limit: int) -> None:
        self.root = root
        self.limit = limit

    def use(self) -> DiskUse:
        """Return how much is in the folder."""
        sizes = [found.size for found in self._all()]
        return DiskUse(len(sizes), sum(sizes))

    def folder(self, identity: Mapping[str, Any]) -> Path:
        """Return the folder of one identity; it may not be there."""
        text = json.dumps(dict(identity), sort_keys=True)
        return self.root / hashlib.sha256(text.encode()).hexdigest()[:24]

    def ready(self, folder: Path) -> Path:
        """Make the folder of an identity, for its owner alone, where it is not there. Raises `OSError`."""
        self.root.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for each in (self.root, folder):
            each.mkdir(exist_ok=True, mode=0o700)
            mode = stat.S_IMODE(each.stat().st_mode)
            if mode & 0o077:
                each.chmod(mode & 0o700)
        return folder

    def folders(self) -> list[Path]:
        """Return the folder of every identity."""
        try:
            return [Path(entry.path) for entry in os.scandir(self.root) if entry.is_dir(follow_symlinks=False)]
        except OSError:
            return []

    def make_room(self, size: int, spared: Collection[Path] = ()) -> bool:
        """Remove the files used longest ago, but none of `spared`, until one of `size` bytes fits; return whether it does.

        Nothing is removed where it can't be made to fit.
        """
        found = self._all()
        over = sum(each.size for each in found) + size - self.limit
        if over > 0:
            spare = set(spared)
            going = []
            for each in sorted(found, key=lambda each: each.used_ns):
                if over <= 0:
                    break
                if each.path not in spare and (each.path.suffix == SUFFIX or _left_behind(each)):
                    going.append(each.path)
                    over -= each.size
            if over > 0:
                return False
            remove(going)
        return True

    def tidy(self) -> None:
        """Remove what a killed process left unfinished, and what is over the limit."""
        remove(each.path for each in self._all() if _left_behind(each))
        self.make_room(0)

    def clear(self) -> None:
        """Remove everything."""
        remove(each.path for each in self._all() if each.path.suffix == SUFFIX or _left_behind(each))
        for folder in self.folders():
            with suppress(OSError):
                folder.rmdir()

    def _all(self) -> list[_Found]:
        return [found for folder in self.folders() for found in _files(folder)]


def stored_paths(folder: Path) -> list[Path]:
    """Return the finished files of a folder, those used longest ago first."""
    return [found.path for found in sorted(_files(folder), key=lambda found: found.used_ns) if found.path.suffix == SUFFIX]


def touch(paths: Sequence[Path]) -> None:
    """Note that the files of a path of tokens, its beginning first, are in use."""
    now = time.time_ns()
    for index, path in enumerate(paths):
        with suppress(OSError):
            os.utime(path, ns=(now, now - index * PATH_STEP_NS))


def remove(paths: Iterable[Path]) -> None:
    """Remove files; one that is gone already, or can't be removed, is passed over."""
    for path in paths:
        try:
            path.unlink()
        except FileNotFoundError:
            pass
        except OSError as error:
            logger.warning("A file of the prefix cache could not be removed: %s", error)


def _files(folder: Path) -> Iterator[_Found]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith((SUFFIX, UNFINISHED)):
            with suppress(OSError):
                about = entry.stat(follow_symlinks=False)
                yield _Found(Path(entry.path), about.st_size, about.st_mtime_ns)


def _left_behind(found: _Found) -> bool:
    """Return whether an unfinished file's writer is gone. One just made may not be locked yet."""
    if found.path.suffix != UNFINISHED or time.time() - found.used_ns / 1e9 < ABANDONED_AFTER_S:
        return False
    return abandoned(found.path)
