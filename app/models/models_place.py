"""The models in the window: their dialog and who serves it, the hub, and what becomes of an import."""

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.bridge import Bridge
from app.errors import notice
from app.models.controller import ModelController
from app.theme import Theme
from app.widgets.toast import Toaster
from engine.core.errors import ErrorInfo
from engine.core.facts import ModelEntry
from engine.core.presence import folder_there

if TYPE_CHECKING:
    from app.models.dialog import ModelsDialog
    from app.models.hub_place import HubPlace
    from app.models.keep_controller import KeepController


class ModelsPlace(QObject):
    """Made with the window; the hub is made when the engine starts, the dialog when somebody opens it.

    `failed` carries an `ErrorInfo` that the dialog does not tell.
    """

    failed = Signal(object)

    def __init__(self, theme: Theme, bridge: Bridge, models: ModelController, toaster: Toaster, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._bridge, self._models, self._toaster, self._window = theme, bridge, models, toaster, window
        self._just_imported = ""
        self.dialog: ModelsDialog | None = None
        self._keep: KeepController | None = None
        models.imported.connect(self._on_imported)
        models.import_ended.connect(self._on_import_ended)

    @cached_property
    def hub(self) -> "HubPlace":
        """The models hub, and what is on its way from there."""
        from app.models.hub_place import HubPlace  # Not before it is wanted, as the dialog: the window itself comes sooner.

        hub = HubPlace(self._theme, self._bridge, self._models, self._toaster, self)
        hub.failed.connect(self.failed)
        hub.used.connect(self._use)
        hub.list_asked.connect(self.show)
        return hub

    def start(self) -> None:
        """Let downloads of an earlier run go on."""
        self.hub.start()

    def close(self) -> None:
        """End the threads that compute."""
        self.hub.close()

    def show(self) -> None:
        """Open the models dialog."""
        if self.dialog is None:
            self.dialog = self._make_dialog()
        self._feed()
        self._models.refresh()
        self.hub.refresh()
        self.dialog.open()

    def choose_file(self) -> None:
        """Open the dialog, and ask for a file to import."""
        self.show()
        if self.dialog:
            self.dialog.ask_for_file()

    def _make_dialog(self) -> "ModelsDialog":
        from app.models.dialog import ModelsDialog
        from app.models.keep_controller import KeepController

        dialog = ModelsDialog(self._theme, parent=self._window, hub=self.hub, behind=self._toaster)
        self._keep = KeepController(self._theme, self._bridge, self._models, self)
        self._keep.join(dialog)
        dialog.model_chosen.connect(self._models.choose)
        dialog.import_requested.connect(self._import_or_use)
        dialog.import_cancelled.connect(self._models.cancel_import)
        self._models.listed.connect(self._feed)
        self._models.import_progressed.connect(dialog.show_import)
        return dialog

    def _feed(self, *_: object) -> None:
        if self.dialog:
            self.dialog.set_models(self._models.entries, self._models.model_id or None)
            if self._models.entry(self._just_imported):
                self.dialog.select(self._just_imported)
                self._just_imported = ""

    def _use(self, model_id: str) -> None:
        if self.dialog:
            self.dialog.close()
        self._models.choose(model_id)

    def _import_or_use(self, path: str) -> None:
        """Import a GGUF; a model folder needs no import and is loaded from where it is."""
        if folder_there(path):
            self._use(path)
        elif self._keep is None or not self._keep.is_busy():  # Both would be told in the one row.
            self._models.import_file(path)

    def _on_imported(self, entry: ModelEntry, already: bool) -> None:
        self._toaster.show(f"It is already here as “{entry.name}”." if already else f"{entry.name} is ready to use.")
        self._just_imported = entry.id

    def _on_import_ended(self, error: ErrorInfo | None) -> None:
        if self.dialog:
            self.dialog.end_import()
        if error and self.dialog and self.dialog.isVisible():
            shown = notice(error)
            self.dialog.show_problem(shown.title, shown.hint)
        elif error:
            self.failed.emit(error)
