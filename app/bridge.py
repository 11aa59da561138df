"""Between the engine's threads and the window: commands go out, events come in on the GUI thread."""

import itertools
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from engine.core.errors import EngineStopped
from engine.core.messages import Cancel, Command, Event, Failed, TextDelta

if TYPE_CHECKING:
    from engine.core.connection import Connection
    from engine.host import Host

DRAIN_EVERY_MS = 33
"""Two frames: often enough to look like writing, seldom enough to leave the engine alone. Never a signal per token."""
SWITCH_S = 0.001
"""How long the engine's thread may keep Python's lock from the GUI's; Python's own 5 ms are a third of a frame."""


class Bridge(QObject):
    """Owns the host. `received` carries every event, text of one drain joined; the timer runs only while events come.

    `make_host` is called by `start`, on the GUI thread: the engine's code is then imported after the first paint. What is sent
    before waits until then.
    """

    received = Signal(object)
    started = Signal()
    _woken = Signal()

    def __init__(self, make_host: "Callable[[], Host]", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._make_host = make_host
        self._host: Host | None = None
        self._connection: Connection | None = None
        self._early: list[Command] = []
        self._numbers = itertools.count(1)
        self._closed = False
        self._timer = QTimer(self)
        self._timer.setInterval(DRAIN_EVERY_MS)
        self._timer.timeout.connect(self.drain)
        self._woken.connect(self._timer.start, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Make the host, start the engine's threads and hand them what was sent before."""
        sys.setswitchinterval(SWITCH_S)
        self._host = self._make_host()
        self._connection = self._host.connect(self._woken.emit)
        self._host.start()
        for command in self._early:
            self._connection.send(command)
        self._early.clear()
        self._timer.start()
        self.started.emit()

    def new_id(self, what: str) -> str:
        """Return a request id that was not used before, as `reply-7`."""
        return f"{what}-{next(self._numbers)}"

    def send(self, command: Command) -> None:
        """Hand a command to the engine; its events come with `received`."""
        if self._connection is None:
            self._early.append(command)
            if self._closed:
                self._refuse_early()
            return
        self._connection.send(command)
        self._timer.start()

    def cancel(self, request_id: str) -> None:
        """Ask the engine to stop a request."""
        self.send(Cancel(self.new_id("cancel"), request_id))

    def drain(self) -> None:
        """Deliver what waits; where nothing did, stop looking until the engine wakes us."""
        if self._connection is None:
            return
        quiet = True
        for event in joined(self._connection.drain()):
            quiet = False
            self.received.emit(event)
        if quiet:
            self._timer.stop()
            self._connection.rest()

    def close(self) -> None:
        """Stop and join the engine, then deliver the last events, so that every request is seen to end."""
        if self._closed:
            return
        self._closed = True
        self._timer.stop()
        if self._host is not None:
            self._host.close()
        self.drain()
        self._refuse_early()
        self._timer.stop()
        if self._connection is not None:
            self._connection.leave()  # What the hub is asked may end later, and must not wake who is gone.

    def _refuse_early(self) -> None:
        """End what was sent to an engine that never started."""
        early, self._early = self._early, []
        for command in early:
            self.received.emit(Failed(command.request_id, EngineStopped("Flint is closing.").info()))


def joined(events: Iterable[Event]) -> Iterable[Event]:
    """Yield the events with consecutive `TextDelta`s of one request made one: the view then lays out once a drain."""
    held: TextDelta | None = None
    for event in events:
        if isinstance(event, TextDelta) and held and event.request_id == held.request_id:
            held = replace(event, text=held.text + event.text, reasoning=held.reasoning + event.reasoning)
            continue
        if held:
            yield held
            held = None
        if isinstance(event, TextDelta):
            held = event
        else:
            yield event
    if held:
        yield held
