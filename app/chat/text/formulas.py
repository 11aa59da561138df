"""Formulas drawn on a thread of their own, each once: whoever shows one asks, and hears when it is there."""

import queue
import threading
import time
from collections import OrderedDict
from enum import Enum
from functools import cache

from PySide6.QtCore import QObject, Signal

from app.chat.text.formula import MOST_S, Formula, draw_formula

_KEPT = 2_000
# So often at most is told of new ones: each time, texts are laid out again.
_TELL_S = 0.06
# After so much processor time for nothing, the next ones get a tenth of it: a message may hold a thousand that can't be drawn.
_WASTED_S, _SPARE = 6.0, 0.1


class Drawing(Enum):
    """Why there is no picture: not yet, or never."""

    PENDING = "pending"
    FAILED = "failed"


class Formulas(QObject):
    """Draws formulas off the GUI thread (ziamath takes 3 to 30 ms for one, and half a second to import) and keeps them.

    `drawn` says that some that were asked for are there, or never will be.
    """

    drawn = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kept: OrderedDict[tuple[str, bool], Formula | Drawing] = OrderedDict()
        self._asked: queue.Queue[tuple[str, bool]] = queue.Queue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def get(self, content: str, display: bool) -> Formula | Drawing:
        """Return the picture of LaTeX without delimiters; one that is pending is being drawn from now on."""
        key = (content, display)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
            self._kept[key] = Drawing.PENDING
            self._forget_old()
        self._asked.put(key)
        if self._thread is None:
            self._thread = threading.Thread(target=self._draw, name="formulas", daemon=True)
            self._thread.start()
        return Drawing.PENDING

    def wait(self) -> None:
        """Block until all that was asked for is drawn; for tests and pictures."""
        self._asked.join()

    def _forget_old(self) -> None:
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def _draw(self) -> None:
        told = wasted = 0.0
        while True:
            content, display = self._asked.get()
            begun = time.thread_time()
            formula = draw_formula(content, display, MOST_S if wasted < _WASTED_S else MOST_S * _SPARE)
            wasted += time.thread_time() - begun if formula is None else 0.0
            with self._lock:
                self._kept[(content, display)] = formula or Drawing.FAILED
            if self._asked.empty() or time.monotonic() - told > _TELL_S:
                told = time.monotonic()
                self.drawn.emit()
            self._asked.task_done()


@cache
def formulas() -> Formulas:
    """Return the application's formulas: the same are shown in many messages."""
    return Formulas()
