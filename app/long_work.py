"""Work with chats that takes longer than a frame: on a thread of its own, with progress, and to be stopped."""

import threading
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal

from engine.core.errors import Stopped, describe

_TOLD_EVERY_S = 0.05

type Progress = Callable[[int, int], object]


class LongWork(QObject):
    """Does one thing at a time. Its signals come on the GUI thread.

    `progressed` carries what is done and how much there is, `finished` the result, `failed` an `ErrorInfo`; `ended` comes after
    either, or alone where the work was stopped.
    """

    progressed = Signal(int, int)
    finished = Signal(object)
    failed = Signal(object)
    ended = Signal()
    _told = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._told.connect(lambda tell: tell(), Qt.ConnectionType.QueuedConnection)

    @property
    def running(self) -> bool:
        """Whether something is being done."""
        return self._thread is not None

    def start(self, work: Callable[[Progress], object]) -> None:
        """Call `work` on another thread, with what it is to report its progress to; nothing while something is being done."""
        if self._thread is not None:
            return
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, args=(work,), name="flint-chats")
        self._thread.start()

    def stop(self) -> None:
        """Have the work end soon: its next report raises `Stopped`."""
        self._stop.set()

    def close(self) -> None:
        """Stop the work and wait for its end; nothing is told any more."""
        self.stop()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _run(self, work: Callable[[Progress], object]) -> None:
        last = time.monotonic()

        def report(done: int, total: int) -> None:
            nonlocal last
            if self._stop.is_set():
                raise Stopped
            now = time.monotonic()
            if now - last >= _TOLD_EVERY_S:
                last = now
                self._told.emit(lambda: self.progressed.emit(done, total))

        try:
            result = work(report)
            self._told.emit(lambda: self._end(lambda: self.finished.emit(result)))
        except Stopped:
            self._told.emit(lambda: self._end(lambda: None))
        except Exception as error:
            info = describe(error)
            self._told.emit(lambda: self._end(lambda: self.failed.emit(info)))

    def _end(self, tell: Callable[[], object]) -> None:
        thread, self._thread = self._thread, None
        if thread is None:
            return  # It was closed meanwhile.
        thread.join()
        tell()
        self.ended.emit()
