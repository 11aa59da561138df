"""What an update leaves of the version before it: it goes, unless another tool names it, and not while somebody reads it.

What is to go later is noted beside the snapshots, where nothing of the hub's lies, for whoever lets go of it, or for the next
start.
"""

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from engine.core.disk import write_whole
from engine.core.errors import UsageError
from engine.core.presence import file_there, folder_there, matching
from engine.models.in_use import unused

_NOTE = ".flint-superseded-"


def supersede(snapshot: Path, names: Iterable[str]) -> str:
    """Remove the files of an older snapshot that `names` lists, by their paths in it; return why they stay, "" where they went.

    The right to fetch into its repository has to be held.
    """
    if ref := _ref_to(snapshot):
        return f"The version before stays on the disk: another tool goes by it ({ref})."
    there = [name for name in names if os.path.lexists(snapshot / name)]
    write_whole(_note(snapshot), [json.dumps(there)])
    return "" if sweep(snapshot) else "The version before goes as soon as it is no longer in use."


def sweep(snapshot: Path) -> bool:
    """Remove what was noted to go of a snapshot; say whether nothing of that is left. Never raises for the disk's sake."""
    try:
        names = json.loads(_note(snapshot).read_text("utf-8"))
    except (OSError, ValueError):
        return True
    if _ref_to(snapshot):
        return False
    links = [snapshot / name for name in names if os.path.lexists(snapshot / name)]
    try:
        with unused([snapshot, *links], snapshot.name):
            _remove(snapshot, links)
    except (UsageError, OSError):
        return False
    return True


def _remove(snapshot: Path, links: list[Path]) -> None:
    others = {each for each in snapshot.parent.rglob("*") if not folder_there(each)} - set(links)
    kept = {os.path.realpath(each) for each in others}
    blobs = {os.path.realpath(link) for link in links} - kept
    for link in links:
        link.unlink(missing_ok=True)
    for blob in blobs:
        Path(blob).unlink(missing_ok=True)
    _note(snapshot).unlink()
    for folder in sorted((each for each in snapshot.rglob("*") if folder_there(each)), reverse=True):
        with contextlib.suppress(OSError):
            folder.rmdir()
    with contextlib.suppress(OSError):
        snapshot.rmdir()


def noted_in(cache: Path) -> list[Path]:
    """Return the snapshots of a cache of which something is noted to go."""
    notes = matching(cache, f"models--*/{_NOTE}*")
    return [note.parent / "snapshots" / note.name.removeprefix(_NOTE) for note in notes]


def _note(snapshot: Path) -> Path:
    return snapshot.parent.parent / f"{_NOTE}{snapshot.name}"


def _ref_to(snapshot: Path) -> str:
    """Return what of `refs/` names a snapshot; "" where nothing does."""
    repository = snapshot.parent.parent
    for ref in matching(repository, "refs/**/*"):
        with contextlib.suppress(OSError, ValueError):
            if file_there(ref) and ref.read_text("utf-8").strip() == snapshot.name:
                return str(ref.relative_to(repository))
    return ""
