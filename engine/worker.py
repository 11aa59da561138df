"""The engine thread: commands in, events out. MLX is imported, used and let go on this one thread."""

import atexit
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cache.upkeep import Upkeep
from engine.core.connection import Connection
from engine.core.errors import FlintError, ModelNotFound, NoModelLoaded, Stopped, describe
from engine.core.facts import MemoryGuard, ModelEntry, Weights
from engine.core.keep_messages import ModelTemplate, QuantizeModel, QuantizeProgress, SetModelTemplate
from engine.core.machine import THIS_MACHINE
from engine.core.messages import (
    TERMINALS,
    Cancel,
    Cancelled,
    ClearPrefixCache,
    Command,
    CountPrompt,
    Event,
    Failed,
    Finished,
    ForgetChats,
    Generate,
    ImportModel,
    ImportProgress,
    InspectPrompt,
    LoadModel,
    LoadProgress,
    MemoryMeasured,
    ModelImported,
    ModelLoaded,
    ModelUnloaded,
    SetPrefixCache,
    SetUnloadAfter,
    Shutdown,
    UnloadModel,
)
from engine.core.thread_end import wait_until_gone
from engine.counting import Counting
from engine.inference.blas import prefer_system_blas
from engine.models.choice import preferred
from engine.models.in_use import in_use
from engine.models.integrity import check_folder
from engine.models.library import Library
from engine.models.naming import new_name
from engine.pool import closing
from engine.resident import Resident, give_memory_back, leave_mlx

if TYPE_CHECKING:
    from engine.session import Session

logger = logging.getLogger("flint.engine")

MEMORY_EVERY_S = 0.5
IDLE_MEMORY_EVERY_S = 2.0


@dataclass
class _Job:
    """A command that waits or runs, whom to answer, and whether somebody asked to stop it; `between` two steps of another."""

    command: Command
    connection: Connection
    cancelled: bool = False
    ended: bool = False
    between: bool = False


@dataclass
class Worker:
    """Owns the engine thread, which is joined before the process ends: MLX aborts in a thread that outlives `exit`."""

    library: Library
    models_folder: Path
    unload_after_s: float = 0.0
    upkeep: Upkeep = field(default_factory=Upkeep)
    _inbox: "queue.SimpleQueue[tuple[Command, Connection]]" = field(default_factory=queue.SimpleQueue)
    _connections: list[Connection] = field(default_factory=list)
    _waiting: deque[_Job] = field(default_factory=deque)
    _running: _Job | None = None
    _counting: Counting = field(init=False)
    _resident: Resident = field(init=False)
    _stopping: bool = False
    _closed: bool = False
    _gate: threading.RLock = field(default_factory=threading.RLock)
    _last_used: float = 0.0
    _last_memory: float = 0.0
    _thread: threading.Thread | None = None

    def __post_init__(self) -> None:
        self._resident = Resident(self.upkeep)
        held = self._resident.matching
        self._counting = Counting(lambda request: held(request.model_id, request.weights), lambda: not self._running)

    def start(self) -> None:
        """Start the engine thread. It is joined when the program ends, also where nobody called `close`.

        A daemon would be left alone inside MLX, which aborts; so the thread ends by itself once the main thread has.
        """
        self._thread = threading.Thread(target=self._run, name="flint-engine")
        self._thread.start()
        atexit.register(wait_until_gone, self._thread)

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
        with self._gate:  # Whatever got in before the inbox closed is ended by the thread; nothing gets in after.
            if not self._closed:
                self._inbox.put((command, connection))
                return
        connection.put(closing(command))

    def close(self) -> None:
        """Cancel what runs, end every request, free the model and join the thread. A second call does nothing."""
        if self._thread and self._thread.is_alive():
            self.post(Shutdown("shutdown"), Connection(self.post))
            self._thread.join()
            wait_until_gone(self._thread)
        self._refuse_all()

    def let_go(self, path: str) -> None:
        """Let the model at a path be removed: whoever asks that here knows that it is loaded here. Any thread may call it."""
        self._resident.let_go(path)

    # -- the loop ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            prefer_system_blas()
            self._last_used = time.monotonic()
            while not self._stopping:
                self._take(block_s=self._longest_wait_s())
                while not self._waiting and not self._stopping and self._counting.step():
                    self._take()
                while self._waiting and not self._stopping:
                    self._run_job(self._waiting.popleft())
                    self._last_used = time.monotonic()
                if not self._stopping:
                    self._tick()
        finally:
            self._refuse_all()
            self._drop_session()
            leave_mlx()

    def _refuse_all(self) -> None:
        """Close the inbox and end every request that is still in it or waits."""
        with self._gate:
            self._closed = True
        self._take()
        self._counting.drop()
        while self._waiting:
            job = self._waiting.popleft()
            self._end(job, closing(job.command))

    def _longest_wait_s(self) -> float:
        """How long to wait for a command: until the gauges want memory again, or the idle model's time is up."""
        if not self._resident.session or not self.unload_after_s:
            return IDLE_MEMORY_EVERY_S
        left = self._last_used + self.unload_after_s - time.monotonic()
        return max(0.01, min(IDLE_MEMORY_EVERY_S, left))

    def _take(self, block_s: float = 0.0) -> None:
        """Sort what the inbox holds: stops take effect now, everything else waits its turn."""
        if not threading.main_thread().is_alive():
            self._stop()  # The program has ended and waits for this thread.
            block_s = 0.0
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
        elif isinstance(command, SetPrefixCache):
            self.upkeep.set_bounds(self._resident.cache, command.memory_bytes, command.disk_bytes)
            self._end(job, Finished(command.request_id))
        elif isinstance(command, CountPrompt):
            self._counting.ask(command, job.connection)
        elif isinstance(command, Shutdown):
            self._stop()
            self._end(job, Finished(command.request_id))
        elif isinstance(command, InspectPrompt) and self._running is not None:
            job.between, running = True, self._running
            self._run_job(job)
            self._running = running
        else:
            self._waiting.append(job)

    def _stop(self) -> None:
        self._stopping = True
        if self._running:
            self._running.cancelled = True

    def _cancel(self, target: str) -> None:
        if self._running and self._running.command.request_id == target:
            self._running.cancelled = True
        self._counting.cancel(target)
        for job in [job for job in self._waiting if job.command.request_id == target]:
            self._waiting.remove(job)
            self._end(job, Cancelled(target))

    def _asked_to_stop(self) -> bool:
        self._take()
        self._counting.step()
        return self._running is not None and self._running.cancelled

    def _run_job(self, job: _Job) -> None:
        self._running = job
        try:
            self._execute(job)
        except Stopped:
            self._end(job, Cancelled(job.command.request_id))
        except BaseException as error:
            if not isinstance(error, FlintError) or error.__cause__:  # What is behind it is for a report.
                logger.exception("%s failed", type(job.command).__name__)
            self._end(job, Failed(job.command.request_id, describe(error)))
        finally:
            self._end(job, Finished(job.command.request_id))
            self._running = None
        if isinstance(job.command, LoadModel | Generate | QuantizeModel) and self._resident.session is None:
            give_memory_back()  # What a load that ended early had read is free only now that its error is gone.

    def _end(self, job: _Job, event: Event) -> None:
        """Send the one event that ends a job; later ones are dropped."""
        if not job.ended:
            job.ended = True
            job.connection.put(event)

    def _execute(self, job: _Job) -> None:
        match job.command:
            case ImportModel(request_id, source, name):
                new: list[str] = []  # Holds the name once the import has begun: what is here already has one.

                def called(own: str) -> str:
                    new.append(new_name(name, own, self.library.besides(Path(source))))
                    return new[0]

                entry = self._import(job, Path(source), called=called)
                job.connection.put(ModelImported(request_id, entry, already=not new))
            case LoadModel(_, model_id, weights, guard):
                self._load(job, model_id, weights, guard)
            case UnloadModel(request_id):
                self._drop_session()
                self._broadcast(ModelUnloaded(request_id))
                self._measure(job.connection, request_id)
            case SetModelTemplate(request_id, model_id, template):
                job.connection.put(replace(self._set_template(model_id, template), request_id=request_id))
            case QuantizeModel() as command:
                self._quantize(job, command)
            case ForgetChats(_, chat_ids):
                self.upkeep.forget_chats(self._resident.cache, chat_ids)
            case ClearPrefixCache():
                self.upkeep.clear(self._resident.cache)
            case Generate() as command:
                self._generate(job, command)
            case InspectPrompt(request_id, prompt):
                if self._resident.session is None:
                    raise NoModelLoaded("No model is loaded, so there is no prompt to show.")
                job.connection.put(self._resident.session.inspect(prompt, request_id, writing=job.between))

    # -- jobs -------------------------------------------------------------------------------------------------------

    def _import(self, job: _Job, source: Path, name: str = "", called: Callable[[str], str] = lambda name: name) -> ModelEntry:
        from engine.models.gguf import import_gguf
        from engine.models.gguf_source import ImportCancelled

        request_id = job.command.request_id

        def progress(done: int, total: int) -> None:
            job.connection.put(ImportProgress(request_id, done, total))

        try:
            name = name or self.library.name_of(source)
            with in_use(source, name or source.name):
                folder = import_gguf(
                    source, self.models_folder, name=name, called=called, progress=progress, cancelled=self._asked_to_stop
                )
        except ImportCancelled:
            raise Stopped from None
        return self.library.find(str(folder))

    def _load(self, job: _Job, model_id: str, weights: Weights, guard: MemoryGuard) -> "Session":
        from engine.inference.load_guard import check_room

        if held := self._held(job, model_id, weights):
            return held
        entry = self.library.find(model_id) if model_id else self._preferred()
        if entry.kind == "gguf":
            entry = self._import(job, Path(entry.path), entry.name)
        if held := self._held(job, entry.id, weights):
            return held
        check_folder(Path(entry.path))
        if guard != "off":
            check_room(entry, weights)
        self._drop_session()

        def progress(fraction: float, stage: str) -> None:
            job.connection.put(LoadProgress(job.command.request_id, entry.id, fraction, stage))
            self._measure_if_due(job)
            if self._asked_to_stop():
                raise Stopped

        try:
            session = self._resident.take(entry, model_id, weights, self.library.notebook.of(entry.id).template, progress)
            self.library.notebook.used(entry.id)
        except BaseException:  # The model before it is gone too, whoever asked for this one.
            self._drop_session()
            self._broadcast(ModelUnloaded(job.command.request_id))
            raise
        self._broadcast(ModelLoaded(job.command.request_id, session.loaded.facts))
        self._measure(job.connection, job.command.request_id)
        return session

    def _quantize(self, job: _Job, command: QuantizeModel) -> None:
        from engine.inference.quantize import carry_out

        if self._resident.session is not None:
            self._drop_session()
            self._broadcast(ModelUnloaded(command.request_id))

        def told(event: QuantizeProgress) -> None:
            job.connection.put(event)
            self._measure_if_due(job)

        job.connection.put(carry_out(command, self.library, self.models_folder, told, self._asked_to_stop))

    def _set_template(self, model_id: str, template: str) -> ModelTemplate:
        """Keep a model's template; the loaded one goes on with it, and what it had read is saved under the one before."""
        from engine.inference.own_template import set_template

        entry = self.library.find(model_id)
        outcome = set_template(entry, self.library.notebook, template)
        if self._resident.session is not None and self._resident.session.loaded.facts.id == entry.id:
            self._counting.drop()
            self._resident.use_template(Path(entry.path), template)
        return outcome

    def _held(self, job: _Job, model_id: str, weights: Weights) -> "Session | None":
        """Return the session if it holds that model in that way, and say so to who asked; looks at no disk.

        An empty id means any model.
        """
        session = self._resident.matching(model_id, weights)
        if session:
            job.connection.put(ModelLoaded(job.command.request_id, session.loaded.facts))
        return session

    def _preferred(self) -> ModelEntry:
        entry = preferred(self.library.entries())
        if entry is None:
            raise ModelNotFound(f"There is no model on {THIS_MACHINE}.", "Import a GGUF file first.")
        return entry

    def _generate(self, job: _Job, command: Generate) -> None:
        session = self._load(job, command.model_id, command.weights, command.memory_guard)
        for event in session.generate(command, self._asked_to_stop):
            if isinstance(event, TERMINALS):
                self._measure(job.connection, command.request_id)
                self._end(job, event)
                return
            job.connection.put(event)
            self._measure_if_due(job)

    # -- memory -----------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        idle = time.monotonic() - self._last_used
        if self._resident.session and self.unload_after_s and idle >= self.unload_after_s:
            self._drop_session()
            self._broadcast(ModelUnloaded("", idle=True))
        for connection in self._connections:
            self._measure(connection, "")
        self.upkeep.idle(self._resident.cache, self._wanted)

    def _wanted(self) -> bool:
        """Whether somebody waits for this thread."""
        return not self._inbox.empty() or not threading.main_thread().is_alive()

    def _measure_if_due(self, job: _Job) -> None:
        if time.monotonic() - self._last_memory > MEMORY_EVERY_S:
            self._measure(job.connection, job.command.request_id)

    def _measure(self, connection: Connection, request_id: str) -> None:
        """Send a memory reading; do without where the system gives none: a gauge must not end a reply."""
        self._last_memory = time.monotonic()
        try:
            reading = self._resident.read_memory()
        except Exception:
            logger.exception("memory could not be read")
            return
        connection.put(MemoryMeasured(request_id, reading))

    def _drop_session(self) -> None:
        self._counting.drop()
        self._resident.drop()

    def _broadcast(self, event: Event) -> None:
        for connection in self._connections:
            connection.put(event)
