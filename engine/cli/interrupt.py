"""Ctrl-C as a wish to stop, not as an exception that may hit anywhere."""

import signal
import threading
from collections.abc import Callable
from types import FrameType


class StopOnInterrupt:
    """While it lasts, the first Ctrl-C calls `stop`, which may run between any two steps of the main thread.

    A second one interrupts as always. Outside the main thread, or where Ctrl-C is ignored, nothing changes.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._before: Callable[[int, FrameType | None], object] | None = None

    def __enter__(self) -> "StopOnInterrupt":
        before = signal.getsignal(signal.SIGINT)
        if callable(before) and threading.current_thread() is threading.main_thread():
            self._before = before
            signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _interrupted(self, _number: int, _frame: FrameType | None) -> None:
        self._restore()
        self._stop()

    def _restore(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
