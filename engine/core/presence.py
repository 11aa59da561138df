"""Whether something is there, asked of folders that may be closed: what may not be looked for is not found, nothing is raised.

`Path.exists` and its like raise `PermissionError` in a closed folder, and so does `Path.glob`.
"""

import os
from pathlib import Path


def there(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a file or a folder at `path`; False for a link that leads nowhere."""
    return os.path.exists(path)  # noqa: PTH110


def folder_there(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a folder at `path`."""
    return os.path.isdir(path)  # noqa: PTH112


def file_there(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a file at `path`: no folder, no pipe."""
    return os.path.isfile(path)  # noqa: PTH113


def matching(folder: Path, pattern: str) -> list[Path]:
    """Return what is in `folder` and matches `pattern`, as `Path.glob` has it, by name."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def closed_at(folder: Path) -> Path | None:
    """Return which folder keeps one from looking into `folder`, it or one above it; None where none does."""
    above = (each for each in reversed(folder.parents) if folder_there(each) and not os.access(each, os.X_OK))
    itself = folder if folder_there(folder) and not os.access(folder, os.R_OK | os.X_OK) else None
    return next(above, itself)
