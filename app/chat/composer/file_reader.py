"""Reads files on a thread of its own: a large PDF must not stop the window."""

import contextlib
import functools
import queue
import threading
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from engine.chats.reading import read_file
from engine.core.errors import Stopped, describe


@dataclass
class _Job:
    number: int
    path: Path
    cancelled: threading.Event = field(default_factory=threading.Event)


class FileReader(QObject):
    """Reads one file after the other. Every `read` that is not cancelled ends in `done` (an `Attachment`) or in `failed`.

    The signals carry the number that `read` returned, and come on the thread that this object lives on.
    """

    progressed = Signal(int, float)
    done = Signal(int, object)
    failed = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._inbox: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._jobs: dict[int, _Job] = {}
        self._count = 0
        self._thread: threading.Thread | None = None
        self.destroyed.connect(functools.partial(_let_go, self._jobs, self._inbox))

    def read(self, path: Path) -> int:
        """Read a file soon; return the number that its signals carry."""
        self._count += 1
        job = _Job(self._count, path)
        self._jobs[job.number] = job
        self._inbox.put(job)
        if self._thread is None:
            # A daemon: the program may end in the middle of a PDF, of which nothing is kept then.
            self._thread = threading.Thread(target=self._run, name="flint-files", daemon=True)
            self._thread.start()
        return job.number

    def cancel(self, number: int) -> None:
        """Let go of a file; nothing more is heard of it."""
        job = self._jobs.pop(number, None)
        if job:
            job.cancelled.set()

    def _run(self) -> None:
        while job := self._inbox.get():
            with contextlib.suppress(RuntimeError):  # The window is gone.
                self._read(job)

    def _read(self, job: _Job) -> None:
        def progress(fraction: float) -> None:
            if not job.cancelled.is_set():
                self.progressed.emit(job.number, fraction)

        try:
            if job.cancelled.is_set():
                return
            attachment = read_file(job.path, progress, job.cancelled.is_set)
        except Stopped:
            return
        except Exception as error:
            if not job.cancelled.is_set():
                self.failed.emit(job.number, describe(error))
            return
        finally:
            self._jobs.pop(job.number, None)
        if not job.cancelled.is_set():
            self.done.emit(job.number, attachment)


def _let_go(jobs: dict[int, _Job], inbox: "queue.SimpleQueue[_Job | None]", *_gone: object) -> None:
    for job in list(jobs.values()):
        job.cancelled.set()
    inbox.put(None)
