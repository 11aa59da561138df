"""Which models there are, which one is loaded, and what is being done about it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge
from engine.chats.store import ChatStore
from engine.core.errors import ErrorInfo
from engine.core.messages import (
    Cancelled,
    Event,
    Failed,
    ImportModel,
    ImportProgress,
    ListModels,
    LoadedModel,
    LoadModel,
    LoadProgress,
    ModelEntry,
    ModelImported,
    ModelLoaded,
    ModelsListed,
    ModelUnloaded,
    UnloadModel,
    Weights,
)
from engine.core.preferences import Preferences
from engine.core.settings import Engine, build
from engine.models.choice import preferred

LAST_MODEL = "model"

type State = Literal["none", "listing", "importing", "loading", "ready", "unloaded", "failed"]


@dataclass(frozen=True)
class ModelState:
    """What the window shows of the current model: its state, name, the work on it in words and as a fraction."""

    state: State
    name: str = ""
    detail: str = ""
    fraction: float = 0.0
    done_bytes: int = 0
    total_bytes: int = 0
    error: ErrorInfo | None = None


class ModelController(QObject):
    """Keeps the list of models and the chosen one. `changed` carries a `ModelState`, `loaded` a `LoadedModel` or None."""

    listed = Signal(object)
    changed = Signal(object)
    loaded = Signal(object)
    imported = Signal(object)
    import_progressed = Signal(str, int, int)
    import_ended = Signal(object)

    def __init__(self, store: ChatStore, bridge: Bridge, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._bridge = bridge
        self._preferences = preferences
        self._load_id = self._list_id = self._import_id = ""
        self._import_name = ""
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

    def choose(self, model_id: str) -> None:
        """Load a model in place of the current one and remember the choice."""
        self.model_id = model_id
        self._store.remember(LAST_MODEL, model_id)
        if self._load_id:
            self._bridge.cancel(self._load_id)
        self._load_id = self._bridge.new_id("load")
        self._set(ModelState("loading", self._name(), "Loading"))
        self._bridge.send(LoadModel(self._load_id, model_id, self._weights()))

    def unload(self) -> None:
        """Drop the model and give its memory back; the next message loads it again."""
        self._bridge.send(UnloadModel(self._bridge.new_id("unload")))

    def import_file(self, path: str) -> None:
        """Import a GGUF into Flint's own folder."""
        self._import_id = self._bridge.new_id("import")
        self._import_name = path.rsplit("/", 1)[-1]
        self.import_progressed.emit(self._import_name, 0, 0)
        self._bridge.send(ImportModel(self._import_id, path))

    def cancel_import(self) -> None:
        """Stop the import that runs; nothing of it is kept."""
        if self._import_id:
            self._bridge.cancel(self._import_id)

    def entry(self, model_id: str) -> ModelEntry | None:
        """Return a listed model by its id."""
        return next((entry for entry in self.entries if entry.id == model_id), None)

    def _name(self) -> str:
        entry = self.entry(self.model_id)
        return entry.name if entry else self.model_id

    def _weights(self) -> Weights:
        return build(Engine, self._preferences.values()).weights

    def _set(self, state: ModelState) -> None:
        self.state = state
        self.changed.emit(state)

    # -- events -----------------------------------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        match event:
            case ModelsListed():
                self._on_list(event.models)
            case ModelLoaded():
                self._on_loaded(event.model)
            case ModelUnloaded():
                self._on_unloaded(idle=event.idle)
            case ModelImported():
                self.refresh()
                self.imported.emit(event.model)
            case ImportProgress() if event.request_id == self._import_id:
                self.import_progressed.emit(self._import_name, event.done_bytes, event.total_bytes)
            case ImportProgress():
                self._on_import_progress(event)
            case LoadProgress():
                if event.fraction < 1:
                    self._set(ModelState("loading", self._name(), f"Loading, {event.fraction:.0%}", event.fraction))
            case _:
                self._on_end(event)

    def _on_list(self, entries: tuple[ModelEntry, ...]) -> None:
        self.entries = entries
        self.listed.emit(entries)
        if not self._first_list:
            if self.state.state == "none" and (usable := self._preferred()):
                self.choose(usable)
            return
        self._first_list = False
        preferred = self._preferred()
        if preferred:
            self.choose(preferred)
        else:
            self.model_id = ""
            self._set(ModelState("none", detail="No model yet"))

    def _preferred(self) -> str:
        """The model used last, else the starter, else whatever is ready."""
        last = self._store.recall(LAST_MODEL)
        if last.startswith("/") and Path(last).is_dir():
            return last  # A folder that was dropped here: used from where it is, and in no list.
        entry = preferred(self.entries, [last])
        return entry.id if entry else ""

    def _on_import_progress(self, event: ImportProgress) -> None:
        fraction = event.done_bytes / max(1, event.total_bytes)
        self._set(
            ModelState("importing", self._name(), f"Importing, {fraction:.0%}", fraction, event.done_bytes, event.total_bytes)
        )

    def _on_loaded(self, model: LoadedModel) -> None:
        self.model = model
        if model.id != self.model_id:
            self.model_id = model.id
            self._store.remember(LAST_MODEL, model.id)
        self._set(ModelState("ready", model.name, "Ready"))
        self.loaded.emit(model)
        entry = self.entry(model.id)
        if entry and entry.kind == "gguf":
            self.refresh()  # It was imported on the way.

    def _on_unloaded(self, *, idle: bool) -> None:
        self.model = None
        detail = "Unloaded to free memory" if idle else "Unloaded"
        self._set(ModelState("unloaded", self._name(), detail))
        self.loaded.emit(None)

    def _on_end(self, event: Event) -> None:
        if event.request_id == self._load_id:
            self._load_id = ""
            if isinstance(event, Failed):
                self.model = None
                self._set(ModelState("failed", self._name(), "Could not be loaded", error=event.error))
            elif isinstance(event, Cancelled):
                self._set(ModelState("unloaded", self._name(), "Not loaded"))
        elif event.request_id == self._import_id:
            self._import_id = ""
            self.import_ended.emit(event.error if isinstance(event, Failed) else None)
