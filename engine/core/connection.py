"""One consumer's end of the engine: commands go in, events wait to be drained."""

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator

from engine.core.messages import TERMINALS, Command, Event

logger = logging.getLogger("flint.engine")


class Connection:
    """One consumer's end of the engine: its commands' events, and those that concern everybody.

    `wake` is called from the engine thread when events wait and the consumer said, by `rest`, that it stopped looking.
    """

    def __init__(self, route: Callable[[Command, "Connection"], None], wake: Callable[[], None] | None = None) -> None:
        self._route = route
        self._wake = wake
        self._resting = False
        self._gate = threading.Lock()
        self._aside: deque[Event] = deque()
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def send(self, command: Command) -> None:
        """Hand a command to the engine; returns at once."""
        self._route(command, self)

    def put(self, event: Event) -> None:
        """Take an event in; called on the engine's threads."""
        self.events.put(event)
        self._wake_if_resting()

    def rest(self) -> None:
        """Ask to be woken by the next event, or at once where one waits already."""
        self._resting = True
        if not self.events.empty():
            self._wake_if_resting()

    def leave(self) -> None:
        """Be woken no more; once this returns no thread is at it either, and what `wake` leads to may go."""
        with self._gate:
            self._wake = None

    def drain(self) -> Iterator[Event]:
        """Yield the events that wait now."""
        while self._aside:
            yield self._aside.popleft()
        while True:
            try:
                yield self.events.get_nowait()
            except queue.Empty:
                return

    def wait(self, request_id: str, timeout: float | None = None) -> Iterator[Event]:
        """Yield the events of one request up to and with its end.

        Events of other requests are kept for whoever waits for those, or drains, later; those of no request (memory, an idle
        unload) are dropped. Raises `TimeoutError` when nothing at all comes in `timeout` seconds.
        """
        while True:
            event = self._kept(request_id) or self._next(timeout)
            if event.request_id == request_id:
                yield event
                if isinstance(event, TERMINALS):
                    return
            elif event.request_id:
                self._aside.append(event)

    def _kept(self, request_id: str) -> Event | None:
        """Take the first event that an earlier wait kept for this request."""
        for event in self._aside:
            if event.request_id == request_id:
                self._aside.remove(event)
                return event
        return None

    def _next(self, timeout: float | None) -> Event:
        try:
            return self.events.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(f"the engine said nothing for {timeout} s") from None

    def _wake_if_resting(self) -> None:
        if not self._resting:
            return
        with self._gate:
            wake, self._resting = self._wake if self._resting else None, False
            try:
                if wake is not None:
                    wake()
            except Exception:  # The engine has others to serve.
                logger.exception("a consumer could not be woken")
