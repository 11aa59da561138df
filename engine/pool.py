"""Carries commands out on threads of their own: each ends once, also where the pool is closed before its turn."""

import logging
from collections.abc import Callable, Iterable

from engine.core.connection import Connection
from engine.core.daemon_pool import DaemonPool
from engine.core.errors import EngineStopped, FlintError, describe
from engine.core.messages import Command, Event, Failed, Finished

logger = logging.getLogger("flint.engine")


class CommandPool:
    """At most `threads` commands are carried out side by side; the others wait."""

    def __init__(self, threads: int, name: str) -> None:
        self._pool = DaemonPool(threads, name)

    def post(self, command: Command, connection: Connection, work: Callable[[Command], Iterable[Event]]) -> None:
        """Send what `work` makes of a command to `connection`, then its end. After `close` it fails at once."""
        try:
            future = self._pool.submit(_carry_out, command, connection, work)
        except RuntimeError:  # The pool takes nothing after `close`.
            connection.put(closing(command))
            return
        future.add_done_callback(lambda ended: connection.put(closing(command)) if ended.cancelled() else None)

    def close(self, *, wait: bool) -> None:
        """End what still waits; `wait` for what is at work, too."""
        self._pool.shutdown(wait=wait, cancel_futures=True)

    def join(self, seconds: float) -> None:
        """Wait after `close` for what is at work, for so long at most: the program's end cuts it off."""
        self._pool.join(seconds)


def closing(command: Command) -> Failed:
    """Return the end of a command that came too late."""
    return Failed(command.request_id, EngineStopped("Flint is closing.").info())


def _carry_out(command: Command, connection: Connection, work: Callable[[Command], Iterable[Event]]) -> None:
    try:
        for event in work(command):
            connection.put(event)
        connection.put(Finished(command.request_id))
    except Exception as error:
        if not isinstance(error, FlintError):
            logger.exception("%s failed", type(command).__name__)
        connection.put(Failed(command.request_id, describe(error)))
