"""Chat templates at work: drafts go to the engine, previews come back, and what somebody settles on is kept."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from app.bridge import Bridge
from app.errors import advice
from app.theme import Theme
from engine.core.facts import ModelEntry
from engine.core.keep_messages import AskModelTemplate, ModelTemplate, SetModelTemplate
from engine.core.messages import Cancelled, Event, Failed, Finished

if TYPE_CHECKING:
    from app.models.dialog import ModelsDialog
    from app.models.template_dialog import TemplateDialog


class TemplateController(QObject):
    """Opens a `TemplateDialog` over the models window; one at a time."""

    def __init__(self, theme: Theme, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bridge = bridge
        self._open: TemplateDialog | None = None
        self._asking = self._keeping = ""
        bridge.received.connect(self._take)

    def show(self, entry: ModelEntry, over: "ModelsDialog") -> None:
        """Show a model's template."""
        from app.models.template_dialog import TemplateDialog  # Not before it is wanted, as the window it belongs to.

        dialog = TemplateDialog(self._theme, entry, over)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.tried.connect(lambda draft: self._ask(entry, draft))
        dialog.kept.connect(lambda template: self._keep(entry, template))
        dialog.finished.connect(self._closed)
        self._open = dialog
        dialog.open()
        self._ask(entry, "")

    def _closed(self) -> None:
        self._open = None
        self._asking = self._keeping = ""

    def _ask(self, entry: ModelEntry, draft: str) -> None:
        self._asking = self._bridge.new_id("template")
        self._bridge.send(AskModelTemplate(self._asking, entry.id, draft))

    def _keep(self, entry: ModelEntry, template: str) -> None:
        self._keeping = self._bridge.new_id("template")
        self._bridge.send(SetModelTemplate(self._keeping, entry.id, template))

    def _take(self, event: Event) -> None:
        if self._open is None or event.request_id not in (self._asking, self._keeping) or not event.request_id:
            return
        match event:
            case ModelTemplate() if event.request_id == self._asking:
                self._open.show_outcome(event)
            case Failed():
                self._open.show_problem(f"{event.error.text} {advice(event.error)}")
            case Finished() | Cancelled() if event.request_id == self._keeping:
                self._open.accept()
