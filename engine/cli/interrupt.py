"""Ctrl-C, and the wish of another program to end, as a wish to stop, not as what may hit anywhere."""

import signal
import threading
from collections.abc import Callable
from types import FrameType


class StopOnInterrupt:
    """While it lasts, the first Ctrl-C or SIGTERM calls `stop`, which may run between any two steps of the main thread.

    A second one ends the process as always. Outside the main thread, or for a signal that is ignored, nothing changes.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._before: dict[int, Callable[[int, FrameType | None], object] | int] = {}

    def __enter__(self) -> "StopOnInterrupt":
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if before not in (signal.SIG_IGN, None):  # None: not set from Python, so it could not be set back.
                self._before[number] = before
                signal.signal(number, self._interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _interrupted(self, _number: int, _frame: FrameType | None) -> None:
        self._restore()
        self._stop()

    def _restore(self) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before = {}
