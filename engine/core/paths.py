"""Where Flint keeps things, and the one reader of `resources/`."""

import os
from collections.abc import Mapping
from pathlib import Path

from engine.core.record import Record


class Paths(Record):
    """The folders of one user. Nothing here is created until something is written."""

    data: Path
    cache: Path
    config: Path

    @property
    def models(self) -> Path:
        """Folder of the models Flint imported or downloaded."""
        return self.data / "models"

    @property
    def chats(self) -> Path:
        """The chat database."""
        return self.data / "chats.sqlite3"

    @property
    def settings(self) -> Path:
        """The settings file."""
        return self.config / "settings.json"

    @property
    def window_socket(self) -> Path:
        """The lock that says which process owns the window."""
        return self.data / "window.lock"


def locate(environ: Mapping[str, str] = os.environ) -> Paths:
    """Return the folders: all under `FLINT_HOME` where it is set, else where the platform keeps such things."""
    home = environ.get("FLINT_HOME")
    if home:
        root = Path(os.path.expanduser(home)).absolute()  # noqa: PTH111 - Path.expanduser raises for a user that is not there.
        return Paths(data=root, cache=root / "cache", config=root)
    import platformdirs  # Here: with a folder of one's own it is not needed.

    dirs = platformdirs.PlatformDirs("Flint", appauthor=False)
    return Paths(data=dirs.user_data_path, cache=dirs.user_cache_path, config=dirs.user_config_path)


def resource(*parts: str) -> Path:
    """Return the path of a file that ships with Flint, as `resource("icons", "send.svg")`.

    Raises `FileNotFoundError` when the installation lacks it.
    """
    packaged = Path(__file__).parents[1] / "resources"
    root = packaged if packaged.is_dir() else Path(__file__).parents[2] / "resources"
    path = root.joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(f"Flint's own file {'/'.join(parts)} is missing; install Flint again.")
    return path
