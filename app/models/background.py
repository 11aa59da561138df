"""Work that takes longer than a frame, done on one thread beside the window's."""

import contextlib
import itertools
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from PySide6.QtCore import QObject, Qt, Signal

logger = logging.getLogger("flint.app")


class Background(QObject):
    """`done` carries a key and what its newest work returned, None where it failed; older work of that key is dropped."""

    done = Signal(str, object)
    _ready = Signal(str, int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="flint-fit")
        self._newest: dict[str, int] = {}
        self._numbers = itertools.count(1)
        self._ready.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def run(self, key: str, work: Callable[[], object]) -> None:
        """Do `work` after what was asked before it; nothing once closed."""
        number = next(self._numbers)
        self._newest[key] = number
        with contextlib.suppress(RuntimeError):
            self._pool.submit(self._carry_out, key, number, work)

    def forget(self) -> None:
        """Drop what waits, and what is being done."""
        self._newest.clear()

    def close(self) -> None:
        """Drop everything and end the thread."""
        self._newest.clear()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _carry_out(self, key: str, number: int, work: Callable[[], object]) -> None:
        if self._newest.get(key) != number:
            return
        try:
            result = work()
        except Exception:
            logger.exception("work for %s failed", key)
            result = None
        with contextlib.suppress(RuntimeError):  # The window may be gone by now.
            self._ready.emit(key, number, result)

    def _tell(self, key: str, number: int, result: object) -> None:
        if self._newest.get(key) == number:
            self.done.emit(key, result)
