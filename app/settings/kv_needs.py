"""What the KV cache would take with the settings on show, in a line under them."""

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.settings.panel import SettingsPanel
from engine.core.record import Record
from engine.core.setting import Value

if TYPE_CHECKING:
    from app.background import Background
    from app.settings.kv_line import Prediction


class KvModel(Record):
    """The model whose cache it is: where it is, how many tokens it was trained to see, what one was seen to add (0 unknown)."""

    path: str = ""
    trained: int = 0
    seen: int = 0


class KvNeeds(QObject):
    """Keeps the panel's line in step with the chosen model and the values on show; without a model there is none."""

    def __init__(self, panel: SettingsPanel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._panel = panel
        self._model = KvModel()
        self._prediction: Prediction | None = None
        self._asked: tuple[KvModel, Value, Value] | None = None
        panel.opened.connect(self._refresh)
        panel.values_shown.connect(self._refresh)

    @cached_property
    def _work(self) -> "Background":
        from app.background import Background  # Not before there is something to compute: the window itself comes sooner.

        work = Background(self)
        work.done.connect(lambda _key, line: self._panel.show_kv_needs(str(line or "")))
        return work

    def show_model(self, model: KvModel) -> None:
        """Tell of another model, or more of the same."""
        if model.path != self._model.path:
            self._work.forget()
            self._asked = None
            self._panel.show_kv_needs("")
        self._model = model
        self._refresh()

    def close(self) -> None:
        """End the thread that computes."""
        self._work.close()

    def _refresh(self) -> None:
        if not self._panel.isVisible() or not self._model.path:
            return
        model, values = self._model, self._panel.values()
        asked = (model, values["context"], values["kv_bits"])
        if asked != self._asked:
            self._asked = asked
            self._work.run("line", lambda: self._predicted().line(model, values))

    def _predicted(self) -> "Prediction":
        if self._prediction is None:
            from app.settings.kv_line import Prediction  # Not before it is wanted: the window itself comes sooner.

            self._prediction = Prediction()
        return self._prediction
