"""Files that somebody chose to write, as an export: what goes wrong names the file and says to choose another place."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.core.disk import disk_errors, write_whole
from engine.core.errors import ReadOnly, UsageError

_ELSEWHERE = "Choose another place."


def write_chosen(path: Path, texts: Iterable[str]) -> None:
    """Write texts to a file as `write_whole`. Raises `DiskFull`, `ReadOnly`, `UsageError` for the rest."""
    with writing_to(path):
        write_whole(path, texts)


@contextlib.contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Turn what the system says while `path` is written, or written into, to errors as `write_chosen` raises."""
    try:
        with disk_errors(path):
            yield
    except ReadOnly as error:
        raise ReadOnly(error.text, _ELSEWHERE) from error
    except OSError as error:
        raise UsageError(f"{path.name} could not be written: {error.strerror or error}.", _ELSEWHERE) from error
