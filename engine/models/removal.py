"""Taking a model off this machine: what is Flint's or the Hugging Face cache's goes, what another app keeps stays."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from engine.core.disk import disk_errors
from engine.core.errors import ReadOnly, UsageError
from engine.core.facts import ModelEntry
from engine.core.presence import file_there, folder_there, matching, there
from engine.core.system_trash import move_to_trash
from engine.models.gguf_header import parts_there
from engine.models.huggingface_cache import PREFIX
from engine.models.in_use import unused
from engine.models.repository_download import alone

_WEIGHTS = (".safetensors", ".gguf")
_HIDDEN, _GATHERED = ".removed-", ".to-the-trash-"


class NotFlints(UsageError):
    """A model that another app or a person keeps."""

    code = "not-flints"
    exit_code = 29
    http_status = 409


def refusal(entry: ModelEntry) -> NotFlints | None:
    """Return why Flint does not delete a model; None where it may."""
    if entry.origin == "lmstudio":
        return NotFlints(f"{entry.name} is LM Studio's.", "Delete it in LM Studio, under My Models.")
    if entry.origin == "ollama":
        return NotFlints(f"{entry.name} is Ollama's.", f"Delete it there: ollama rm {entry.id}")
    if entry.origin == "folder":
        return NotFlints(f"{entry.name} is in a folder of your own.", f"Delete it yourself: {entry.path}")
    if entry.origin == "starter" and entry.kind == "gguf":
        return NotFlints(f"{entry.name} comes with Flint.", "It goes when Flint does.")
    return None


def remove(entry: ModelEntry, *, for_good: bool = False) -> tuple[int, str]:
    """Move a model to the trash, or delete it; return the bytes that this frees, and where in the trash it is ("" deleted).

    Raises `NotFlints`, `TrashRefused`, `UsageError` while it is being downloaded or in use, `DiskFull` or `ReadOnly`.
    """
    refused = refusal(entry)
    if refused is not None:
        raise refused
    path = Path(entry.path)
    with disk_errors(path):
        if entry.origin == "huggingface":
            return _remove_cached(path, entry.name, for_good)
        parts = parts_there(path) if file_there(path) else [path]
        with unused(parts, entry.name):
            return _remove_own(path, parts, for_good)


def sweep(roots: Iterable[Path]) -> None:
    """Remove what a deletion that was cut short left hidden in folders of models. Never raises for the disk's sake.

    Whoever deletes has what is hidden locked until it is gone: what another Flint is at is left to it.
    """
    for left in [path for root in roots for path in matching(root, f"{_HIDDEN}*/")]:
        with contextlib.suppress(UsageError, OSError), unused([left], left.name):
            if any(left.iterdir()):  # An empty one may be so new that it is not locked yet.
                shutil.rmtree(left)


def _remove_own(path: Path, parts: list[Path], for_good: bool) -> tuple[int, str]:
    if folder_there(path) and not path.is_symlink():
        return _dispose(path, for_good)
    return _gathered({part.name: part for part in parts}, path.parent, path.stem, for_good)


def _remove_cached(path: Path, name: str, for_good: bool) -> tuple[int, str]:
    """Remove a model of the cache in every version that is there: an older one would come back under its name."""
    repository = next(folder for folder in (path, *path.parents) if folder.name.startswith(PREFIX))
    snapshots = [folder for folder in repository.glob("snapshots/*") if folder_there(folder)]
    with alone(repository.parent, repository.name.removeprefix(PREFIX).replace("--", "/")):
        if folder_there(path):
            with unused([repository, *snapshots], name):
                return _dispose(repository, for_good)
        names = {path.name, *(part.name for part in parts_there(path))}
        links = {folder / each for folder in snapshots for each in names if os.path.lexists(folder / each)}
        with unused([repository, *links], name):
            return _remove_links(repository, path, links, snapshots, for_good)


def _remove_links(repository: Path, path: Path, links: set[Path], snapshots: list[Path], for_good: bool) -> tuple[int, str]:
    """Remove the files of one of a repository's models, by the links to them in all snapshots; what others name stays."""
    others = {each for folder in snapshots for each in folder.rglob("*") if not folder_there(each)} - links
    if not any(each.suffix in _WEIGHTS for each in others):
        return _dispose(repository, for_good)
    kept = {os.path.realpath(each) for each in others}
    going: dict[str, Path] = {}
    for link in sorted(links):
        blob = Path(os.path.realpath(link))
        if str(blob) not in kept and file_there(blob) and blob not in going.values():
            name = link.name if link.parent == path.parent else f"{link.parent.name[:7]}-{link.name}"
            going[name] = blob
    freed, trash = _gathered(going, repository.parent, repository.name.removeprefix(PREFIX), for_good)
    for link in links:
        link.unlink(missing_ok=True)
    _tidy(repository, snapshots)
    return freed, trash


def _tidy(repository: Path, snapshots: Iterable[Path]) -> None:
    """Take away the snapshots' folders that are empty now, and what names them."""
    for snapshot in snapshots:
        for folder in sorted((each for each in snapshot.rglob("*") if folder_there(each)), reverse=True):
            with contextlib.suppress(OSError):
                folder.rmdir()
        with contextlib.suppress(OSError):
            snapshot.rmdir()
            for ref in repository.glob("refs/*"):
                if ref.read_text("utf-8").strip() == snapshot.name:
                    ref.unlink()


def _gathered(files: dict[str, Path], root: Path, name: str, for_good: bool) -> tuple[int, str]:
    """Dispose of single files, together in one folder that has the model's name. Where the trash refuses, they go back."""
    if not files:
        return 0, ""
    temporary = Path(tempfile.mkdtemp(prefix=_HIDDEN if for_good else _GATHERED, dir=root))
    folder = temporary / name
    moved: list[tuple[Path, Path]] = []
    with unused([temporary], name):
        folder.mkdir()
        try:
            for file_name, path in files.items():
                path.rename(folder / file_name)
                moved.append((folder / file_name, path))
            return _dispose(folder, for_good)
        except BaseException:
            for now, before in moved:
                if there(now):
                    now.rename(before)
            raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _dispose(path: Path, for_good: bool) -> tuple[int, str]:
    _check_rights(path, for_good)
    freed = _bytes(path)
    if not for_good:
        return freed, str(move_to_trash(path))
    # Out of sight in one step: a deletion that is cut short leaves no half model in the list.
    hidden = path.with_name(f"{_HIDDEN}{path.name}")
    shutil.rmtree(hidden, ignore_errors=True)  # Of one that was.
    path.rename(hidden)
    shutil.rmtree(hidden)
    return freed, ""


def _check_rights(path: Path, for_good: bool) -> None:
    """Raise `ReadOnly`, with the folder that is in the way, where one can't be taken from its place, or emptied `for_good`."""
    inside = [each for each in path.rglob("*") if folder_there(each) and not each.is_symlink()] if for_good else []
    for folder in (path.parent, path, *inside):
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            hint = "Give yourself the right to read and change that folder, then try again. Nothing was removed."
            raise ReadOnly(f"{path.name} can't be removed: Flint may not change {folder}.", hint)


def _bytes(folder: Path) -> int:
    """Return what the files under a folder take, each once however many links name it; what a link names elsewhere not."""
    sizes = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        if file_there(path) and not path.is_symlink():
            sizes[status.st_dev, status.st_ino] = status.st_size
    return sum(sizes.values())
