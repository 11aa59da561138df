"""The folders that models lie in."""

from pathlib import Path

from engine.core.presence import folder_there


def visible_folders(root: Path) -> list[Path]:
    """Return the visible folders in `root`, by name; none when it does not exist or may not be read."""
    try:
        return sorted(path for path in root.iterdir() if not path.name.startswith(".") and folder_there(path))
    except OSError:
        return []
