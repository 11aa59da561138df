"""Models that LM Studio keeps, found in place and left as they are.

Layout: `models/<publisher>/<repository>/` holds the files of a repository, an MLX folder or GGUFs; what is still being fetched
ends in `.part`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.core.json_file import read_object
from engine.core.presence import folder_there
from engine.models.folders import visible_folders
from engine.models.gguf_header import first_parts

PARTIAL = ".part"


@dataclass(frozen=True)
class LmStudioRepository:
    """One repository: its `id` (“publisher/repository”), its folder, its GGUFs, and how many files are unfinished."""

    id: str
    folder: Path
    ggufs: tuple[Path, ...]
    unfinished: int


def model_folders(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the folders that LM Studio keeps models in: where its settings put them, its home's, and an earlier version's.

    `LMSTUDIO_HOME` overrides where its home is. A folder that is not there is left out, and none comes twice.
    """
    home = Path(environ.get("HOME") or "~").expanduser()
    homes = [Path(environ["LMSTUDIO_HOME"])] if environ.get("LMSTUDIO_HOME") else [_home(home), home / ".cache" / "lm-studio"]
    wanted = [folder for each in homes for folder in (_downloads(each), each / "models") if folder is not None]
    found: dict[Path, Path] = {}
    for folder in wanted:
        try:
            if folder_there(folder):
                found.setdefault(folder.resolve(), folder)
        except (OSError, RuntimeError):  # A link that leads to itself.
            continue
    return tuple(found.values())


def repositories(root: Path) -> Iterator[LmStudioRepository]:
    """Yield the repositories under a models folder; nothing deeper than LM Studio itself looks."""
    for publisher in visible_folders(root):
        for folder in visible_folders(publisher):
            try:
                files = [path for path in folder.iterdir() if not path.name.startswith(".")]
            except OSError:
                continue
            # What lets a model see pictures lies beside it, and is no model.
            ggufs = first_parts(
                path for path in files if path.suffix.lower() == ".gguf" and not path.name.lower().startswith("mmproj")
            )
            unfinished = sum(path.name.endswith(PARTIAL) for path in files)
            if ggufs or unfinished or any(path.name == "config.json" or path.suffix == ".safetensors" for path in files):
                yield LmStudioRepository(f"{publisher.name}/{folder.name}", folder, tuple(ggufs), unfinished)


def _home(home: Path) -> Path:
    """Return LM Studio's home, which a file in the user's own may name."""
    try:
        named = (home / ".lmstudio-home-pointer").read_text("utf-8-sig").strip().splitlines()
    except (OSError, ValueError):
        named = []
    return Path(named[0]) if named and folder_there(named[0]) else home / ".lmstudio"


def _downloads(home: Path) -> Path | None:
    """Return the models folder that people chose in LM Studio's settings."""
    try:
        folder = read_object(home / "settings.json").get("downloadsFolder")
    except (OSError, ValueError):
        return None
    return Path(folder) if isinstance(folder, str) and Path(folder).is_absolute() and "\0" not in folder else None
