"""Composes the engine: the MLX thread, an I/O thread for the library, and who is connected to them."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engine.cache.disk import DiskCache, prefix_folder
from engine.cache.upkeep import Upkeep
from engine.core.connection import Connection
from engine.core.errors import EngineStopped, FlintError, describe
from engine.core.messages import Command, Event, Failed, Finished, ListModels, ModelsListed
from engine.core.paths import Paths
from engine.core.preferences import Preferences
from engine.core.setting import GB
from engine.keeper import Keeper
from engine.librarian import Librarian
from engine.models.library import Library
from engine.worker import Worker

logger = logging.getLogger("flint.engine")

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
        self._keeper = Keeper(self.library, self._librarian.hub)
        self._io = ThreadPoolExecutor(max_workers=1, thread_name_prefix="flint-io")

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
        """Cancel what runs, end every request and join the threads. A second call does nothing."""
        self._librarian.close()
        self._worker.close()
        self._io.shutdown(wait=True, cancel_futures=True)

    def _announce(self, event: Event) -> None:
        for connection in self._connections:
            connection.put(event)

    def _route(self, command: Command, connection: Connection) -> None:
        if self._librarian.handles(command):
            self._librarian.post(command, connection)
            return
        if not isinstance(command, ListModels) and not self._keeper.handles(command):
            self._worker.post(command, connection)
            return
        closing = Failed(command.request_id, EngineStopped("Flint is closing.").info())
        try:
            future = self._io.submit(self._carry_out, command, connection)
        except RuntimeError:  # The pool takes nothing after `close`.
            connection.put(closing)
            return
        # `close` drops what still waits in the pool, and that request must end too.
        future.add_done_callback(lambda ended: connection.put(closing) if ended.cancelled() else None)

    def _carry_out(self, command: Command, connection: Connection) -> None:
        try:
            if isinstance(command, ListModels):
                connection.put(ModelsListed(command.request_id, self.library.entries()))
            else:
                for event in self._keeper.carry_out(command):
                    connection.put(event)
            connection.put(Finished(command.request_id))
        except FlintError as error:
            connection.put(Failed(command.request_id, error.info()))
        except Exception as error:
            logger.exception("%s failed", type(command).__name__)
            connection.put(Failed(command.request_id, describe(error)))
