"""Models in the Hugging Face cache, found in place and left as they are.

Layout: `models--org--name/refs/main` holds a commit, `snapshots/<commit>/` links to files under `blobs/`; a download that
was not finished leaves `blobs/*.incomplete`.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.core.disk import disk_errors
from engine.core.presence import file_there, folder_there, matching

PREFIX = "models--"
CACHE_VARIABLES = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")


@dataclass(frozen=True)
class CachedRepository:
    """One model repository of the cache: its `id` (“org/name”), its snapshots, the one in force first, and how many files are
    unfinished."""

    id: str
    folder: Path
    snapshots: tuple[Path, ...]
    unfinished: int

    @property
    def snapshot(self) -> Path | None:
        """The snapshot in force; None where there is none yet."""
        return next(iter(self.snapshots), None)

    def older_bytes(self, used: Iterable[Path] = ()) -> int:
        """Return what the other snapshots hold that this one does not, without the files of theirs that are `used` still."""
        if len(self.snapshots) < 2:
            return 0
        here, *others = self.snapshots
        kept = {os.path.realpath(path) for path in (*here.rglob("*"), *used)}
        older = {os.path.realpath(path) for other in others for path in other.rglob("*")} - kept
        with contextlib.suppress(OSError):  # Somebody takes them away just now.
            return sum(Path(path).stat().st_size for path in older if file_there(path))
        return 0


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return the cache's folder, by the variables that huggingface_hub honours."""
    for name in CACHE_VARIABLES:
        if environ.get(name):
            return Path(environ[name]).expanduser()
    if environ.get("HF_HOME"):
        return Path(environ["HF_HOME"]).expanduser() / "hub"
    base = Path(environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or "~").expanduser() / ".cache")
    return base.expanduser() / "huggingface" / "hub"


def cache_errors(path: Path) -> contextlib.AbstractContextManager[None]:
    """Tell a disk's complaints about the cache as `disk_errors` does, and which variable would move it."""
    named = next((name for name in CACHE_VARIABLES if os.environ.get(name)), "HF_HOME")
    return disk_errors(path, f"Make the folder writable, or set {named} to one that is.")


def cached_repositories(cache: Path) -> Iterator[CachedRepository]:
    """Yield the model repositories of a cache; nothing when there is none or it may not be read."""
    try:
        folders = sorted(folder for folder in cache.iterdir() if folder.name.startswith(PREFIX) and folder_there(folder))
    except OSError:
        return
    for folder in folders:
        name = folder.name.removeprefix(PREFIX).replace("--", "/")
        try:
            unfinished = sum(1 for _ in folder.glob("blobs/*.incomplete"))
            snapshots = snapshots_of(folder)
        except OSError:
            continue
        if snapshots or unfinished:
            yield CachedRepository(name, folder, tuple(snapshots), unfinished)


def repository_of(path: str) -> tuple[str, str] | None:
    """Return the repository's id and the commit of a path into a cache's snapshot; None for any other path."""
    parts = Path(path).parts
    for repository, folder, commit in zip(parts, parts[1:], parts[2:], strict=False):
        if repository.startswith(PREFIX) and folder == "snapshots":
            return repository.removeprefix(PREFIX).replace("--", "/"), commit
    return None


def main_commit(folder: Path) -> str:
    """Return the commit that `refs/main` of a repository's folder names; "" where it names none."""
    try:
        return (folder / "refs" / "main").read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""


def snapshots_of(folder: Path) -> list[Path]:
    """Return the snapshots of a repository's folder: the one that `refs/main` names, then the others, the newest first."""
    commit = main_commit(folder)
    found = [path for path in matching(folder, "snapshots/*") if folder_there(path)]
    return sorted(found, key=lambda path: (path.name == commit, path.stat().st_mtime), reverse=True)
