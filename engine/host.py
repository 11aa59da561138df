"""Composes the engine: the MLX thread, an I/O thread for the library, and who is connected to them."""

from collections.abc import Callable
from pathlib import Path

from engine.cache.disk import DiskCache, prefix_folder
from engine.cache.upkeep import Upkeep
from engine.core.connection import Connection
from engine.core.keep_messages import CheckForUpdate
from engine.core.messages import Command, Event
from engine.core.paths import Paths
from engine.core.preferences import Preferences
from engine.core.setting import GB
from engine.keeper import Keeper
from engine.librarian import Librarian
from engine.models.library import Library
from engine.pool import CommandPool
from engine.worker import Worker

SECONDS_A_MINUTE = 60


class Host:
    """The whole engine of one process. `close` must be called before the process ends."""

    def __init__(self, paths: Paths, preferences: Preferences) -> None:
        folder = str(preferences.get("models_folder") or "")
        self.models_folder = Path(folder).expanduser() if folder else paths.models
        self.library = Library(paths, self.models_folder)
        unload_after = float(preferences.get("unload_after") or 0) * SECONDS_A_MINUTE
        memory, disk = (int(float(preferences.get(f"prefix_cache_{where}") or 0) * GB) for where in ("memory", "disk"))
        upkeep = Upkeep(DiskCache(prefix_folder(paths), disk), memory)
        self._worker = Worker(self.library, self.models_folder, unload_after, upkeep)
        self._connections: list[Connection] = []
        self._librarian = Librarian(paths, self._announce)
        self._keeper = Keeper(self.library, self._librarian.hub, self._worker.let_go)
        self._librarian.serve(CheckForUpdate, self._keeper.carry_out)
        self._io = CommandPool(1, "flint-io")

    def start(self) -> None:
        """Start the engine's threads. Nothing heavy is imported until a command asks for it."""
        self._worker.start()

    def connect(self, wake: Callable[[], None] | None = None) -> Connection:
        """Return a consumer's end; `wake` is called on an engine thread when events wait for a consumer that rests."""
        connection = Connection(self._route, wake)
        self._worker.join(connection)
        self._connections.append(connection)
        return connection

    def close(self) -> None:
        """Cancel what runs, end every request and join the threads, but those that a hub keeps waiting.

        A second call does nothing.
        """
        self._librarian.close()
        self._worker.close()
        self._io.close(wait=True)
        self._librarian.join()

    def _announce(self, event: Event) -> None:
        for connection in self._connections:
            connection.put(event)

    def _route(self, command: Command, connection: Connection) -> None:
        if self._librarian.handles(command):
            self._librarian.post(command, connection)
        elif self._keeper.handles(command):
            self._io.post(command, connection, self._keeper.carry_out)
        else:
            self._worker.post(command, connection)
