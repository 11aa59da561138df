"""Text: several lines, or the path of a folder."""

from pathlib import Path

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.settings.editor import Editor
from app.theme import Theme
from app.widgets.button import Button
from app.widgets.file_dialogs import ask_for_folder
from app.widgets.text_area import TextArea
from app.widgets.text_field import TextField
from engine.core.setting import Setting, Value


class TextEditor(Editor):
    """A growing field for several lines."""

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(theme, setting, parent)
        self.area = TextArea(theme, setting.label, parent=self)
        self.area.edit.setObjectName(f"setting.{setting.name}")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.area)
        self.area.edited.connect(self.edited.emit)

    @property
    def waiting(self) -> bool:
        return self.area.waiting

    def show_value(self, value: Value, inherited: Value, changed: bool) -> None:  # noqa: ARG002
        self.area.show_text(str(value or ""))

    def set_refused(self, refused: bool) -> None:
        self.area.set_refused(refused)

    def flush(self) -> None:
        self.area.flush()


class LineEditor(Editor):
    """A field for one line; a folder's path also by the system's own dialog."""

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(theme, setting, parent)
        self.field = TextField(theme, setting.label, parent=self)
        self.field.setObjectName(f"setting.{setting.name}")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self.field, 1)
        self.field.edited.connect(self.edited.emit)
        self.field.taken_back.connect(lambda: self.edited.emit(self.field.text()))
        if is_folder(setting):
            self.field.setPlaceholderText("Flint’s own folder")
            choose = Button(theme, "Choose…", small=True, parent=self)
            choose.setObjectName(f"choose.{setting.name}")
            choose.setAccessibleName(f"Choose the {setting.label.lower()}")
            choose.clicked.connect(self._choose)
            layout.addWidget(choose)

    @property
    def waiting(self) -> bool:
        return self.field.waiting

    def show_value(self, value: Value, inherited: Value, changed: bool) -> None:  # noqa: ARG002
        self.field.show_text(str(value or ""))
        self.field.setToolTip(str(value or ""))

    def set_refused(self, refused: bool) -> None:
        self.field.set_refused(refused)

    def flush(self) -> None:
        self.field.flush()

    def _choose(self) -> None:
        start = self.field.text() or str(Path.home())
        ask_for_folder(self.window(), "folderDialog", self.setting.label, lambda path: self.edited.emit(str(path)), start)


def is_folder(setting: Setting) -> bool:
    """Whether a text setting holds the path of a folder: those declared under Folders."""
    return setting.kind is str and setting.group == "Folders"
