"""A log of what went wrong, on this machine only, for whoever is asked to report it. It never holds what people wrote."""

import logging
import logging.handlers

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
    try:
        paths.cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        handler = logging.handlers.RotatingFileHandler(
            paths.cache / "flint.log", maxBytes=LOG_BYTES, backupCount=1, delay=True, encoding="utf-8"
        )
    except OSError:
        return
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)
