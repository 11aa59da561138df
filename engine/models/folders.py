"""The folders that models lie in."""

import os
from pathlib import Path


def is_closed(folder: Path) -> bool:
    """Return whether a folder is there and may not be looked into."""
    return folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK)


def visible_folders(root: Path) -> list[Path]:
    """Return the visible folders in `root`, by name; none when it does not exist or may not be read."""
    try:
        return sorted(path for path in root.iterdir() if not path.name.startswith(".") and path.is_dir())
    except OSError:
        return []
