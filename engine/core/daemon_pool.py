"""Threads for work that may wait for a network: the program's end does not wait for them."""

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any


class DaemonPool(Executor):
    """Carries work out on at most `threads` threads, as Python's own pool does, whose threads are joined at the program's end.

    What is under way then is cut off: give it nothing that a sudden end would harm, or `join` it first.
    """

    def __init__(self, threads: int, name: str) -> None:
        self._most, self._name = threads, name
        self._work: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._gate = threading.Lock()

    def submit[**P, T](self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Let `fn` be called on one of the threads. Raises `RuntimeError` after `shutdown`."""
        future: Future[T] = Future()
        with self._gate:
            if self._closed:
                raise RuntimeError("The pool takes nothing any more.")
            self._work.put((future, partial(fn, *args, **kwargs)))
            if len(self._threads) < self._most:
                name = f"{self._name}-{len(self._threads)}"
                self._threads.append(threading.Thread(target=self._run, name=name, daemon=True))
                self._threads[-1].start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work; with `cancel_futures` nothing is begun any more. `wait` until all is done."""
        with self._gate:
            self._closed = True
            if cancel_futures:
                self._cancel_what_waits()
            for _ in self._threads:
                self._work.put(None)
        if wait:
            self.join(None)

    def _cancel_what_waits(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                if item := self._work.get_nowait():
                    item[0].cancel()

    def join(self, seconds: float | None) -> None:
        """Wait for the threads to end after `shutdown`, for so long at most; None: however long it takes."""
        end = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if end is None else max(0.0, end - time.monotonic()))

    def _run(self) -> None:
        while item := self._work.get():
            future, work = item
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work())
                except BaseException as error:
                    future.set_exception(error)
            del item, future, work  # An idle thread keeps nothing alive.
