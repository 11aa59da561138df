"""Work that takes longer than a frame, done on one thread beside the window's."""

import contextlib
import itertools
import logging
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

logger = logging.getLogger("flint.app")

_LOOK_MS = 33

type _Results = SimpleQueue[tuple[str, int, object]]


class Background(QObject):
    """`done` carries a key and what its newest work returned, None where it failed; older work of that key is dropped.

    The thread touches no Qt object, for those can be gone before it ends: results are looked for while some are awaited.
    """

    done = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False
        self._newest: dict[str, int] = {}
        self._numbers = itertools.count(1)
        self._results: _Results = SimpleQueue()
        self._awaited = 0
        self._timer = QTimer(self, interval=_LOOK_MS)
        self._timer.timeout.connect(self._look)

    def run(self, key: str, work: Callable[[], object]) -> None:
        """Do `work` after what was asked before it; nothing once closed."""
        if self._closed:
            return
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # Not before it is wanted: the window itself comes sooner.

            self._pool = ThreadPoolExecutor(1, thread_name_prefix="flint-background")
        number = next(self._numbers)
        self._newest[key] = number
        self._pool.submit(_carry_out, self._newest, self._results, key, number, work)
        self._awaited += 1
        self._timer.start()

    def forget(self) -> None:
        """Drop what waits, and what is being done."""
        self._newest.clear()

    def close(self) -> None:
        """Drop everything and end the thread, without waiting for what it does."""
        self._closed = True
        self._newest.clear()
        self._timer.stop()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _look(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                key, number, result = self._results.get_nowait()
                self._awaited -= 1
                if self._newest.get(key) == number:
                    self.done.emit(key, result)
        if not self._awaited:
            self._timer.stop()


def _carry_out(newest: dict[str, int], results: _Results, key: str, number: int, work: Callable[[], object]) -> None:
    result = None
    if newest.get(key) == number:
        try:
            result = work()
        except Exception:
            logger.exception("work for %s failed", key)
    results.put((key, number, result))
