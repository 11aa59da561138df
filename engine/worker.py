"""The engine thread: commands in, events out. MLX is imported, used and let go on this one thread."""

import atexit
import gc
import logging
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.connection import Connection
from engine.core.errors import EngineStopped, ModelNotFound, describe
from engine.core.messages import (
    TERMINALS,
    Cancel,
    Cancelled,
    Command,
    Event,
    Failed,
    Finished,
    Generate,
    ImportModel,
    ImportProgress,
    LoadModel,
    LoadProgress,
    MemoryMeasured,
    ModelEntry,
    ModelImported,
    ModelLoaded,
    ModelUnloaded,
    SetUnloadAfter,
    Shutdown,
    TextDelta,
    UnloadModel,
    Weights,
)
from engine.hardware.meters import mlx_counters, read_memory
from engine.inference.blas import prefer_system_blas
from engine.models.choice import preferred
from engine.models.integrity import check_folder
from engine.models.library import Library

if TYPE_CHECKING:
    from engine.session import Session

logger = logging.getLogger("flint.engine")

MEMORY_EVERY_S = 0.5
IDLE_MEMORY_EVERY_S = 2.0
SPARE_BUFFERS_BYTES = 512 << 20
"""What MLX may keep of freed buffers; without a limit it keeps all."""


@dataclass
class _Job:
    """A command that waits or runs, whom to answer, and whether somebody asked to stop it."""

    command: Command
    connection: Connection
    cancelled: bool = False
    ended: bool = False


class _Stopped(Exception):
    """Raised out of a load or an import when its request was cancelled."""


@dataclass
class Worker:
    """Owns the engine thread. It must be closed before the process ends: MLX aborts in a thread that outlives `exit`."""

    library: Library
    models_folder: Path
    unload_after_s: float = 0.0
    _inbox: "queue.SimpleQueue[tuple[Command, Connection]]" = field(default_factory=queue.SimpleQueue)
    _connections: list[Connection] = field(default_factory=list)
    _waiting: deque[_Job] = field(default_factory=deque)
    _running: _Job | None = None
    _session: "Session | None" = None
    _weights: Weights = "auto"
    _stopping: bool = False
    _closed: bool = False
    _last_used: float = 0.0
    _last_memory: float = 0.0
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the engine thread. It is joined when the program ends, also where nobody called `close`.

        A plain thread would keep a program alive whose owner forgot it, and a daemon left alone aborts inside MLX.
        """
        self._thread = threading.Thread(target=self._run, name="flint-engine", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def connect(self, wake: Callable[[], None] | None = None) -> Connection:
        """Return a consumer's end; `wake` as `Connection` says."""
        connection = Connection(self.post, wake)
        self.join(connection)
        return connection

    def join(self, connection: Connection) -> None:
        """Let a consumer hear what concerns everybody: memory, a model loaded or dropped."""
        self._connections.append(connection)

    def post(self, command: Command, connection: Connection) -> None:
        """Queue a command; its events go to `connection`. After `close` it fails at once."""
        if self._closed:
            connection.put(Failed(command.request_id, EngineStopped("Flint is closing.").info()))
        else:
            self._inbox.put((command, connection))

    def close(self) -> None:
        """Cancel what runs, end every request, free the model and join the thread. A second call does nothing."""
        if self._thread and self._thread.is_alive():
            self.post(Shutdown("shutdown"), Connection(self.post))
            self._thread.join()
        self._closed = True
        atexit.unregister(self.close)

    # -- the loop ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        prefer_system_blas()
        self._last_used = time.monotonic()
        while not self._stopping:
            self._take(block_s=IDLE_MEMORY_EVERY_S)
            while self._waiting and not self._stopping:
                self._run_job(self._waiting.popleft())
                self._last_used = time.monotonic()
            if not self._stopping:
                self._tick()
        self._closed = True
        self._take()
        for job in self._waiting:
            self._end(job, Failed(job.command.request_id, EngineStopped("Flint is closing.").info()))
        self._waiting.clear()
        self._drop_session()

    def _take(self, block_s: float = 0.0) -> None:
        """Sort what the inbox holds: stops take effect now, everything else waits its turn."""
        try:
            item = self._inbox.get(timeout=block_s) if block_s else self._inbox.get_nowait()
            while True:
                self._sort(_Job(*item))
                item = self._inbox.get_nowait()
        except queue.Empty:
            return

    def _sort(self, job: _Job) -> None:
        command = job.command
        if isinstance(command, Cancel):
            self._cancel(command.target)
            self._end(job, Finished(command.request_id))
        elif isinstance(command, SetUnloadAfter):
            self.unload_after_s = command.seconds
            self._end(job, Finished(command.request_id))
        elif isinstance(command, Shutdown):
            self._stopping = True
            if self._running:
                self._running.cancelled = True
            self._end(job, Finished(command.request_id))
        else:
            self._waiting.append(job)

    def _cancel(self, target: str) -> None:
        if self._running and self._running.command.request_id == target:
            self._running.cancelled = True
        for job in [job for job in self._waiting if job.command.request_id == target]:
            self._waiting.remove(job)
            self._end(job, Cancelled(target))

    def _asked_to_stop(self) -> bool:
        self._take()
        return self._running is not None and self._running.cancelled

    def _run_job(self, job: _Job) -> None:
        self._running = job
        try:
            self._execute(job)
        except _Stopped:
            self._end(job, Cancelled(job.command.request_id))
        except BaseException as error:
            logger.exception("%s failed", type(job.command).__name__)
            self._end(job, Failed(job.command.request_id, describe(error)))
        finally:
            self._end(job, Finished(job.command.request_id))
            self._running = None

    def _end(self, job: _Job, event: Event) -> None:
        """Send the one event that ends a job; later ones are dropped."""
        if not job.ended:
            job.ended = True
            job.connection.put(event)

    def _execute(self, job: _Job) -> None:
        match job.command:
            case ImportModel(request_id, source, name):
                entry = self._import(job, Path(source), name)
                job.connection.put(ModelImported(request_id, entry))
            case LoadModel(_, model_id, weights):
                self._load(job, model_id, weights)
            case UnloadModel(request_id):
                self._drop_session()
                self._broadcast(ModelUnloaded(request_id))
                self._measure(job.connection, request_id)
            case Generate() as command:
                self._generate(job, command)

    # -- jobs -------------------------------------------------------------------------------------------------------

    def _import(self, job: _Job, source: Path, name: str) -> ModelEntry:
        from engine.models.gguf import import_gguf

        request_id = job.command.request_id

        def progress(done: int, total: int) -> None:
            job.connection.put(ImportProgress(request_id, done, total))
            if self._asked_to_stop():
                raise _Stopped

        folder = import_gguf(source, self.models_folder, name=name, progress=progress)
        return self.library.find(str(folder))

    def _load(self, job: _Job, model_id: str, weights: Weights) -> "Session":
        from engine.inference.loader import load
        from engine.session import Session

        if self._session and not model_id:
            return self._session
        entry = self.library.find(model_id) if model_id else self._preferred()
        if self._session and self._session.loaded.facts.id == entry.id and self._weights == weights:
            self._broadcast(ModelLoaded(job.command.request_id, self._session.loaded.facts))
            return self._session
        if entry.kind == "gguf":
            entry = self._import(job, Path(entry.path), "")
        check_folder(Path(entry.path))
        self._drop_session()

        def progress(fraction: float, stage: str) -> None:
            job.connection.put(LoadProgress(job.command.request_id, entry.id, fraction, stage))
            if self._asked_to_stop():
                raise _Stopped

        import mlx.core as mx

        mx.set_cache_limit(SPARE_BUFFERS_BYTES)
        try:
            self._session = Session(load(entry, weights, progress))
        except BaseException:
            self._drop_session()
            raise
        self._weights = weights
        self._broadcast(ModelLoaded(job.command.request_id, self._session.loaded.facts))
        self._measure(job.connection, job.command.request_id)
        return self._session

    def _preferred(self) -> ModelEntry:
        entry = preferred(self.library.entries())
        if entry is None:
            raise ModelNotFound("There is no model on this machine.", "Import a GGUF file first.")
        return entry

    def _generate(self, job: _Job, command: Generate) -> None:
        session = self._load(job, command.model_id, command.weights)
        for event in session.generate(command, self._asked_to_stop):
            if isinstance(event, TERMINALS):
                self._measure(job.connection, command.request_id)
                self._end(job, event)
                return
            job.connection.put(event)
            if isinstance(event, TextDelta) and time.monotonic() - self._last_memory > MEMORY_EVERY_S:
                self._measure(job.connection, command.request_id)

    # -- memory -----------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        idle = time.monotonic() - self._last_used
        if self._session and self.unload_after_s and idle >= self.unload_after_s:
            self._drop_session()
            self._broadcast(ModelUnloaded("", idle=True))
        for connection in self._connections:
            self._measure(connection, "")

    def _measure(self, connection: Connection, request_id: str) -> None:
        self._last_memory = time.monotonic()
        session = self._session
        reading = read_memory(
            mlx_counters() if "mlx.core" in sys.modules else (0, 0, 0),
            weights=session.loaded.facts.weights_bytes if session else 0,
            kv=session.cache.nbytes if session else 0,
            working_set=session.loaded.device.working_set_bytes if session else None,
        )
        connection.put(MemoryMeasured(request_id, reading))

    def _drop_session(self) -> None:
        """Drop every reference to the model, then give MLX's spare buffers back."""
        if self._session is None:
            return
        self._session = None
        gc.collect()
        import mlx.core as mx

        mx.clear_cache()

    def _broadcast(self, event: Event) -> None:
        for connection in self._connections:
            connection.put(event)
