"""A log of what went wrong, on this machine only, for whoever is asked to report it. It never holds what people wrote."""

import logging
from pathlib import Path

from engine.core.paths import Paths

LOG_BYTES = 1_000_000


def keep_log(paths: Paths) -> None:
    """Write warnings and errors to `flint.log` in the cache folder, at most two files of 1 MB; do without where it can't."""
    logger = logging.getLogger("flint")
    for earlier in list(logger.handlers):
        logger.removeHandler(earlier)
        earlier.close()
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    logging.raiseExceptions = False  # A line that can't be written is no reason to write a traceback to the terminal.
    try:
        paths.cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return
    handler = _LateFile(paths.cache / "flint.log")
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)


class _LateFile(logging.Handler):
    """A rotating file that is opened, and its code imported, with the first line: mostly nothing goes wrong."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        if self._file is None:
            from logging.handlers import RotatingFileHandler

            self._file = RotatingFileHandler(self._path, maxBytes=LOG_BYTES, backupCount=1, delay=True, encoding="utf-8")
            self._file.setFormatter(self.formatter)
        self._file.handle(record)

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._file is not None:
            self._file.close()
        super().close()
