"""Which models there are, which one is loaded, and what is being done about it."""

import contextlib
from collections.abc import Mapping
from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge
from engine.chats.store import ChatStore
from engine.core.context import context_limit
from engine.core.errors import ErrorInfo, FlintError, ModelBroken, ModelNotFound
from engine.core.facts import LoadedModel, MemoryGuard, ModelEntry, Weights
from engine.core.machine import THIS_MACHINE
from engine.core.messages import (
    Cancelled,
    Event,
    Failed,
    Finished,
    ImportModel,
    ImportProgress,
    ListModels,
    LoadModel,
    LoadProgress,
    ModelImported,
    ModelLoaded,
    ModelsListed,
    ModelUnloaded,
    Terminal,
    UnloadModel,
)
from engine.core.preferences import Preferences
from engine.core.presence import folder_there
from engine.core.record import Record
from engine.core.setting import Value
from engine.core.settings import Conversation, Engine, KeyValueCache, build
from engine.models.choice import preferred

LAST_MODEL = "model"

type State = Literal["none", "listing", "importing", "loading", "ready", "unloaded", "failed"]


class ModelState(Record):
    """What the window shows of the current model: its state, name, the work on it in words and as a fraction."""

    state: State
    name: str = ""
    detail: str = ""
    fraction: float = 0.0
    done_bytes: int = 0
    total_bytes: int = 0
    error: ErrorInfo | None = None


NO_MODEL = ModelState("none", detail="No model yet")


class ModelController(QObject):
    """Keeps the list of models and the chosen one. `changed` carries a `ModelState`, `loaded` a `LoadedModel` or None.

    `failed` carries the `ErrorInfo` of a chosen model that can't be used, or of a search for models that broke off.
    """

    listed = Signal(object)
    changed = Signal(object)
    loaded = Signal(object)
    failed = Signal(object)
    imported = Signal(object, bool)
    import_progressed = Signal(str, int, int)
    import_ended = Signal(object)

    def __init__(self, store: ChatStore, bridge: Bridge, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._bridge = bridge
        self._preferences = preferences
        self._load_id = self._list_id = ""
        self._at_work = ""  # The request a model is being got ready for: a load, or a reply that needs one.
        self._imports: dict[str, str] = {}  # Of the requests, in their order, the names of the files.
        self._first_list = True
        self.entries: tuple[ModelEntry, ...] = ()
        self.model: LoadedModel | None = None
        self.state = ModelState("listing", detail="Looking for models")
        self.model_id = store.recall(LAST_MODEL)  # Good for a message sent before the list is there.
        bridge.received.connect(self._take)

    def remembered(self) -> bool:
        """Return whether a model was ever chosen here; if not, this is the first launch."""
        return bool(self._store.recall(LAST_MODEL))

    def refresh(self) -> None:
        """Look for models again."""
        self._list_id = self._bridge.new_id("list")
        self._bridge.send(ListModels(self._list_id))

    def choose(self, model_id: str, *, guarded: bool = True) -> None:
        """Load a model in place of the current one and remember the choice; not `guarded`, whatever memory it takes."""
        self._adopt(model_id)
        if self._load_id:
            self._bridge.cancel(self._load_id)
        self._load_id = self._bridge.new_id("load")
        self._set(ModelState("loading", self._name(), "Loading"))
        self._bridge.send(LoadModel(self._load_id, model_id, self._weights(), self._guard() if guarded else "off"))

    def unload(self) -> None:
        """Drop the model and give its memory back; the next message loads it again."""
        self._bridge.send(UnloadModel(self._bridge.new_id("unload")))

    def forget(self, model_id: str) -> None:
        """A model is gone from this machine: where it was the chosen one, another is, as at a first start, or none."""
        self.entries = tuple(entry for entry in self.entries if entry.id != model_id)
        if model_id != self.model_id:
            return
        self._adopt("")
        if usable := self._preferred():
            self.choose(usable)
            return
        if self._load_id:
            self._bridge.cancel(self._load_id)
        self._load_id = self._at_work = ""
        self._set(NO_MODEL)

    def import_file(self, path: str) -> None:
        """Import a GGUF into Flint's own folder, after those that were asked for before."""
        request_id = self._bridge.new_id("import")
        self._imports[request_id] = path.rsplit("/", 1)[-1]
        if len(self._imports) == 1:
            self.import_progressed.emit(self._imports[request_id], 0, 0)
        self._bridge.send(ImportModel(request_id, path))

    @property
    def importing(self) -> bool:
        """Whether a file is being imported, or waits for that."""
        return bool(self._imports)

    def cancel_import(self) -> None:
        """Stop the import that runs; nothing of it is kept."""
        for request_id in list(self._imports)[:1]:
            self._bridge.cancel(request_id)

    def entry(self, model_id: str) -> ModelEntry | None:
        """Return a listed model by its id."""
        return next((entry for entry in self.entries if entry.id == model_id), None)

    def trained_length(self) -> int:
        """Return how many tokens the chosen model was trained to see; 0 where it is not known."""
        if self.model is not None and self.is_loaded():
            return self.model.context
        entry = self.entry(self.model_id)
        return entry.context if entry else 0

    def is_loaded(self) -> bool:
        """Return whether the chosen model is the one that is loaded."""
        return self.model is not None and self.model.id == self.model_id

    def context_length(self, own: Mapping[str, Value]) -> int:
        """Return how many tokens the chosen model sees at once in a chat that sets its `own` values."""
        conversation = build(Conversation, {**self._preferences.for_model(self.model_id), **own})
        return context_limit(conversation.context, self.trained_length())

    def path(self) -> str:
        """Return where the chosen model is; empty where there is none that can be used."""
        entry = self.entry(self.model_id)
        if entry:
            return "" if entry.problem else entry.path
        return self.model_id if self.model_id.startswith("/") else ""

    def kv_bytes_per_token(self) -> int:
        """Return what a token was seen to add to the chosen model's cache; 0 where it is not loaded."""
        return self.model.kv_bytes_per_token if self.model is not None and self.is_loaded() else 0

    def recommended(self) -> dict[str, Value]:
        """Return the sampling that the chosen model comes with."""
        entry = self.entry(self.model_id)
        if self.model is not None and self.is_loaded():
            return self.model.recommended.values()
        return entry.recommended.values() if entry else {}

    def _adopt(self, model_id: str) -> None:
        self.model_id = model_id
        with contextlib.suppress(FlintError):  # A choice that can't be kept still holds until Flint is closed.
            self._store.remember(LAST_MODEL, model_id)

    def _name(self, model_id: str = "") -> str:
        entry = self.entry(model_id or self.model_id)
        return entry.name if entry else model_id or self.model_id

    def _weights(self) -> Weights:
        return build(Engine, self._preferences.values()).weights

    def _guard(self) -> MemoryGuard:
        return build(KeyValueCache, self._preferences.values()).memory_guard

    def _set(self, state: ModelState) -> None:
        self.state = state
        self.changed.emit(state)

    # -- events -----------------------------------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        match event:
            case ModelsListed():
                self._on_list(event.models)
            case ModelLoaded():
                self._on_loaded(event)
            case ModelUnloaded():
                self._on_unloaded(event)
            case ModelImported():
                self.refresh()
                self.imported.emit(event.model, event.already)
            case ImportProgress() if event.request_id in self._imports:
                self.import_progressed.emit(self._imports[event.request_id], event.done_bytes, event.total_bytes)
            case ImportProgress() | LoadProgress() if self.state.state == "none":
                pass  # What it is for was removed.
            case ImportProgress():
                self._at_work = event.request_id
                self._on_import_progress(event)
            case LoadProgress():
                self._at_work = event.request_id
                if event.fraction < 1:
                    self._set(
                        ModelState("loading", self._name(event.model_id), f"Loading, {event.fraction:.0%}", event.fraction)
                    )
            case Finished() | Cancelled() | Failed():
                self._on_end(event)

    def _on_list(self, entries: tuple[ModelEntry, ...]) -> None:
        self.entries = entries
        self.listed.emit(entries)
        if not self._first_list:
            if self.state.state == "none" and (usable := self._preferred()):
                self.choose(usable)
            return
        self._first_list = False
        last = self._store.recall(LAST_MODEL)
        preferred = self._preferred()
        if preferred:
            self.choose(preferred)
        else:
            self.model_id = ""
            self._set(NO_MODEL)
        if last and last != preferred:
            self.failed.emit(self._why_not(last))

    def _why_not(self, model_id: str) -> ErrorInfo:
        """Say why the model used last can't be used now, and which one is in its place."""
        instead = f"{self._name()} is used instead. " if self.model_id else ""
        entry = self.entry(model_id)
        if entry:
            return ModelBroken(entry.problem, instead + ModelBroken.default_hint).info()
        hint = "If it was moved, move it back; else download or import it again."
        return ModelNotFound(f"The model used last, {model_id}, is not on {THIS_MACHINE} any more.", instead + hint).info()

    def _preferred(self) -> str:
        """The model used last, else the starter, else whatever is ready."""
        last = self._store.recall(LAST_MODEL)
        if last.startswith("/") and folder_there(last):
            return last  # A folder that was dropped here: used from where it is, and in no list.
        entry = preferred(self.entries, [last])
        return entry.id if entry else ""

    def _on_import_progress(self, event: ImportProgress) -> None:
        fraction = event.done_bytes / max(1, event.total_bytes)
        self._set(
            ModelState("importing", self._name(), f"Importing, {fraction:.0%}", fraction, event.done_bytes, event.total_bytes)
        )

    def _on_loaded(self, event: ModelLoaded) -> None:
        model = event.model
        if self._at_work == event.request_id:
            self._at_work = ""
        if self.state.state == "none":
            self.unload()  # It was removed while it was on its way.
            return
        if model != self.model:
            self.model = model
            self.loaded.emit(model)
        if self._load_id not in ("", event.request_id) and not self._is_chosen(model):
            return  # It answers a message that was sent before another model was chosen; that one comes next.
        if self._load_id != event.request_id and self.model_id and not self._is_chosen(model):
            # It answers one message that asked for it. The chosen one stays chosen, and is loaded again when it is needed.
            self._set(ModelState("unloaded", self._name(), f"{model.name} is loaded"))
            return
        if model.id != self.model_id:
            self._adopt(model.id)
        if (self.state.state, self.state.name) != ("ready", model.name):
            self._set(ModelState("ready", model.name, "Ready"))
        entry = self.entry(model.id)
        if entry and entry.kind == "gguf":
            self.refresh()  # It was imported on the way.

    def _is_chosen(self, model: LoadedModel) -> bool:
        """Whether a model is the one that was chosen, or what was imported of it."""
        entry = self.entry(self.model_id)
        return model.id == self.model_id or (entry is not None and entry.kind == "gguf" and entry.name == model.name)

    def _on_unloaded(self, event: ModelUnloaded) -> None:
        if self.model is not None:
            self.model = None
            self.loaded.emit(None)
        if self._load_id not in ("", event.request_id) or self.state.state in ("failed", "none"):
            return  # Another one is on its way, or why there is none was told already.
        self._set(ModelState("unloaded", self._name(), "Unloaded to free memory" if event.idle else "Unloaded"))

    def _on_end(self, event: Terminal) -> None:
        if event.request_id == self._load_id:
            self._load_id = self._at_work = ""
            self._on_load_end(event)
            if isinstance(event, Failed):
                self.failed.emit(event.error)
        elif event.request_id == self._at_work:
            self._at_work = ""
            if not self._load_id:
                self._on_load_end(event)  # The reply says itself what went wrong.
        elif self._imports.pop(event.request_id, None) is not None:
            self.import_ended.emit(event.error if isinstance(event, Failed) else None)
        elif event.request_id == self._list_id and isinstance(event, Failed):
            if self._first_list:
                self._set(ModelState("failed", self._name(), "Models could not be listed", error=event.error))
            self.failed.emit(event.error)

    def _on_load_end(self, event: Terminal) -> None:
        if isinstance(event, Failed):
            self._set(ModelState("failed", self._name(), "Could not be loaded", error=event.error))
        elif isinstance(event, Cancelled):
            self._set(ModelState("unloaded", self._name(), "Not loaded"))
