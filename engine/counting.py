"""The counts of prompts that were asked for, served step by step wherever the engine thread has a moment."""

import functools
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.core.connection import Connection
from engine.core.errors import FlintError, describe
from engine.core.messages import Cancelled, CountPrompt, Event, Failed, Finished, Generate

if TYPE_CHECKING:
    from engine.inference.prompt_count import Steps
    from engine.session import Session

logger = logging.getLogger("flint.engine")


class Counting:
    """Holds at most one count of each consumer: a newer one takes the place of what it asked before.

    `session_of` returns the session that would answer a request, if it is loaded; `idle` tells whether no reply is being made.
    Used on the engine thread.
    """

    def __init__(self, session_of: "Callable[[Generate], Session | None]", idle: Callable[[], bool]) -> None:
        self._session_of = session_of
        self._idle = idle
        self._asked: dict[Connection, CountPrompt] = {}
        self._steps: dict[Connection, Steps[Event]] = {}

    def ask(self, command: CountPrompt, connection: Connection) -> None:
        """Take a count on."""
        self._end(connection, Cancelled)
        self._asked[connection] = command

    def cancel(self, target: str) -> bool:
        """Cancel the count of that id; return whether there was one."""
        found = [connection for connection, command in self._asked.items() if command.request_id == target]
        for connection in found:
            self._end(connection, Cancelled)
        return bool(found)

    def drop(self) -> None:
        """Cancel every count, and let go of the model."""
        for connection in list(self._asked):
            self._end(connection, Cancelled)

    def step(self) -> bool:
        """Go one step on; return whether more is to be done."""
        for connection, command in list(self._asked.items())[:1]:
            try:
                self._go_on(connection, command)
            except Exception as error:
                if not isinstance(error, FlintError):
                    logger.exception("a prompt could not be counted")
                self._end(connection, functools.partial(Failed, error=describe(error)))
        return bool(self._asked)

    def _go_on(self, connection: Connection, command: CountPrompt) -> None:
        if connection not in self._steps:
            session = self._session_of(command.request)
            if session is None:
                self._end(connection, Finished)
                return
            self._steps[connection] = session.count(command, idle=self._idle)
        try:
            next(self._steps[connection])
        except StopIteration as done:
            connection.put(done.value)
            self._end(connection, Finished)

    def _end(self, connection: Connection, ending: Callable[[str], Event]) -> None:
        self._steps.pop(connection, None)
        command = self._asked.pop(connection, None)
        if command:
            connection.put(ending(command.request_id))
