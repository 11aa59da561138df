"""One of a few values: segments."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.settings.editor import Editor
from app.theme import Theme
from app.widgets.segmented import Segmented
from engine.core.setting import Setting, Value

_SWITCH = (("off", "Off"), ("on", "On"))


class ChoiceEditor(Editor):
    """A segment for each declared choice, or off and on for a truth value."""

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(theme, setting, parent)
        self.segments = Segmented(theme, setting.choices or _SWITCH, setting.label, parent=self)
        self.segments.setObjectName(f"setting.{setting.name}")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.segments)
        self.segments.chosen.connect(self._chosen)

    def show_value(self, value: Value, inherited: Value, changed: bool) -> None:  # noqa: ARG002
        if self.setting.choices:
            self.segments.set_value(str(value))
        else:
            self.segments.set_value("on" if value else "off")

    def _chosen(self, value: str) -> None:
        self.edited.emit(value if self.setting.choices else value == "on")
