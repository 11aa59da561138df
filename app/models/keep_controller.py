"""Keeping models at work: what somebody wants of one goes to the engine, and what came of it is told in the models window."""

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Qt, QTimer

from app.bridge import Bridge
from app.errors import advice
from app.models.controller import ModelController
from app.models.template_controller import TemplateController
from app.models.words import size_text
from app.theme import Theme
from app.widgets.question import ask_to_remove
from engine.core.facts import ModelEntry
from engine.core.hub_messages import StartDownload
from engine.core.keep_messages import (
    CheckForUpdate,
    KeepCommand,
    ModelQuantized,
    ModelRemoved,
    NoteModel,
    QuantizeBits,
    QuantizeModel,
    QuantizeProgress,
    RemoveModel,
    RenameModel,
    UpdateChecked,
)
from engine.core.messages import Cancelled, Event, Failed, Finished
from engine.core.system_trash import TrashRefused

if TYPE_CHECKING:
    from app.models.dialog import ModelsDialog

_SILENT_MS = 1000
"""How long the hub may take before it is said that it was asked."""


class KeepController(QObject):
    """Serves the models window that joins it; one copy is made at a time, and none while a model is imported."""

    def __init__(self, theme: Theme, bridge: Bridge, models: ModelController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bridge = bridge
        self._models = models
        self._dialog: ModelsDialog | None = None
        self._asked: set[str] = set()
        self._removing: dict[str, ModelEntry] = {}
        self._making = self._making_name = self._making_of = ""
        self._templates = TemplateController(theme, bridge, self)
        bridge.received.connect(self._take)

    def join(self, dialog: "ModelsDialog") -> None:
        """Serve the wishes of a models window."""
        self._dialog = dialog
        dialog.detail.wished.connect(self._serve)
        dialog.import_cancelled.connect(self._stop)

    def is_busy(self) -> bool:
        """Return whether a copy is being made, and say so where it is."""
        if self._making:
            self._refuse("A copy is being made already.")
        return self._making != ""

    def _serve(self, what: str, bits: str, entry: ModelEntry) -> None:
        if what == "notes":
            self._ask_notes(entry)
        elif what == "template" and self._dialog is not None:
            self._templates.show(entry, self._dialog)
        elif what == "trash" and self._making and entry.id == self._making_of:
            self._refuse("A copy of it is being made.")
        elif what == "trash":
            self._ask_removal(entry)
        elif what == "update":
            self._check(CheckForUpdate(self._bridge.new_id("update"), entry.id))
        elif self._models.importing:
            self._refuse("A model is being imported.")
        elif not self.is_busy():
            self._making, self._making_name, self._making_of = self._bridge.new_id("quantize"), entry.name, entry.id
            self._show_making(0.0, "Waiting")
            self._send(QuantizeModel(self._making, entry.id, cast("QuantizeBits", bits)))

    # -- wishes -----------------------------------------------------------------------------------------------------

    def _ask_notes(self, entry: ModelEntry) -> None:
        from app.models.notes_dialog import NotesDialog  # Not before it is wanted, as the window it belongs to.

        dialog = NotesDialog(self._theme, entry, self._dialog)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.kept.connect(lambda name, notes: self._keep(entry, name, notes))
        dialog.open()

    def _keep(self, entry: ModelEntry, name: str, notes: str) -> None:
        if name.strip() != entry.name:
            self._send(RenameModel(self._bridge.new_id("rename"), entry.id, name))
        if notes.strip() != entry.notes:
            self._send(NoteModel(self._bridge.new_id("note"), entry.id, notes))

    def _ask_removal(self, entry: ModelEntry) -> None:
        text = f"Move {entry.name} to the trash?"
        more = f"Its {size_text(entry.disk_bytes)} are free once the trash is emptied."
        ask_to_remove(self._dialog, "removeModel", text, more, "Move to Trash", lambda: self._remove(entry))

    def _remove(self, entry: ModelEntry, *, for_good: bool = False) -> None:
        if self._models.model is not None and self._models.model.id == entry.id:
            self._models.unload()
        request_id = self._bridge.new_id("remove")
        self._removing[request_id] = entry
        self._send(RemoveModel(request_id, entry.id, for_good))

    def _check(self, command: CheckForUpdate) -> None:
        self._send(command)
        QTimer.singleShot(_SILENT_MS, self, lambda: self._tell_asking(command.request_id))

    def _tell_asking(self, request_id: str) -> None:
        if request_id in self._asked:
            self._tell("Asking Hugging Face…", "")

    def _stop(self) -> None:
        if self._making:
            self._bridge.cancel(self._making)

    def _send(self, command: KeepCommand | StartDownload) -> None:
        self._asked.add(command.request_id)
        self._bridge.send(command)

    # -- what came of them ------------------------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        if event.request_id not in self._asked:
            return
        match event:
            case QuantizeProgress():
                self._show_making(event.fraction, event.stage)
            case ModelQuantized():
                self._tell(f"{event.name} is ready.", _quality(event))
            case ModelRemoved():
                self._on_removed(event)
            case UpdateChecked():
                self._on_checked(event)
            case Finished() | Cancelled() | Failed():
                self._on_end(event)

    def _on_removed(self, event: ModelRemoved) -> None:
        freed = size_text(event.freed_bytes)
        if event.trash:
            self._tell(f"{event.name} is in the trash.", f"Emptying it frees {freed}.")
        else:
            self._tell(f"{event.name} is deleted.", f"{freed} are free again.")
        self._models.forget(event.model_id)

    def _on_checked(self, event: UpdateChecked) -> None:
        if not event.newer:
            self._tell("This is the newest version.", "")
        elif self._dialog is not None:
            fetch = ("Download", lambda: self._send(StartDownload(self._bridge.new_id("download"), event.model_id)))
            self._dialog.tell(f"There is a newer version of {event.model_id}.", "", fetch)

    def _on_end(self, event: Finished | Cancelled | Failed) -> None:
        self._asked.discard(event.request_id)
        if event.request_id == self._making:
            self._making = ""
            if self._dialog is not None:
                self._dialog.end_import()
        removing = self._removing.pop(event.request_id, None)
        if isinstance(event, Failed) and self._dialog is not None:
            if removing is not None and event.error.code == TrashRefused.code:
                # As where the models are on a disk of their own: there is another way, which has to be chosen.
                delete = ("Delete for Good", lambda: self._remove(removing, for_good=True))
                self._dialog.tell(event.error.text, "It can only be deleted for good.", delete)
            else:
                self._dialog.show_problem(event.error.text, advice(event.error))
        self._models.refresh()

    def _show_making(self, fraction: float, stage: str) -> None:
        if self._dialog is not None:
            self._dialog.show_import(self._making_name, round(1000 * fraction), 1000, f"{stage}, {fraction:.0%}")

    def _refuse(self, text: str) -> None:
        if self._dialog is not None:
            self._dialog.show_problem(text, "Wait until it is done, or stop it.")

    def _tell(self, text: str, hint: str) -> None:
        if self._dialog is not None:
            self._dialog.tell(text, hint)


def _quality(made: ModelQuantized) -> str:
    """Return how much worse a copy foresees a text, in a sentence; "" where it was not tried."""
    if not (made.perplexity and made.perplexity_before):
        return ""
    worse = made.perplexity / made.perplexity_before - 1
    return (
        f"It takes {size_text(made.size_bytes)}. Perplexity of a text: {made.perplexity:,.1f}, "
        f"before {made.perplexity_before:,.1f} ({worse:+.1%}; lower is better)."
    )
