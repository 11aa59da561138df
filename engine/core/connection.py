"""One consumer's end of the engine: commands go in, events wait to be drained."""

import queue
from collections.abc import Callable, Iterator

from engine.core.messages import TERMINALS, Command, Event


class Connection:
    """One consumer's end of the engine: its commands' events, and those that concern everybody.

    `wake` is called from the engine thread when events wait and the consumer said, by `rest`, that it stopped looking.
    """

    def __init__(self, route: Callable[[Command, "Connection"], None], wake: Callable[[], None] | None = None) -> None:
        self._route = route
        self._wake = wake
        self._resting = False
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def send(self, command: Command) -> None:
        """Hand a command to the engine; returns at once."""
        self._route(command, self)

    def put(self, event: Event) -> None:
        """Take an event in; called on the engine's threads."""
        self.events.put(event)
        if self._resting and self._wake:
            self._resting = False
            self._wake()

    def rest(self) -> None:
        """Ask to be woken by the next event."""
        self._resting = True
        if not self.events.empty() and self._wake and self._resting:
            self._resting = False
            self._wake()

    def drain(self) -> Iterator[Event]:
        """Yield the events that wait now."""
        while True:
            try:
                yield self.events.get_nowait()
            except queue.Empty:
                return

    def wait(self, request_id: str, timeout: float | None = None) -> Iterator[Event]:
        """Yield the events of one request up to and with its end; raise `TimeoutError` when none comes in `timeout` seconds."""
        while True:
            try:
                event = self.events.get(timeout=timeout)
            except queue.Empty:
                raise TimeoutError(f"the engine said nothing for {timeout} s") from None
            if event.request_id == request_id:
                yield event
                if isinstance(event, TERMINALS):
                    return
