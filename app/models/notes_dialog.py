"""A model's name in Flint, and notes on it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.sheet import Sheet
from app.widgets.text_area import TextArea
from app.widgets.text_field import TextField
from engine.core.facts import ModelEntry

SIZE = (480, 320)
_LINES = 7
"""Lines of notes that fill the window."""


class NotesDialog(Sheet):
    """`kept` carries the name ("" the model's own) and the notes when somebody saves."""

    kept = Signal(str, str)

    def __init__(self, theme: Theme, entry: ModelEntry, parent: QWidget | None = None) -> None:
        words = "They are Flint’s alone: no file is renamed. Without a name, the model has its own again."
        super().__init__(theme, "Name and notes", words, parent)
        self.setObjectName("modelNotes")
        self.resize(*SIZE)
        self._name = TextField(theme, "Name", parent=self)
        self._name.setObjectName("modelNotesName")
        self._name.show_text(entry.name)
        self._name.setPlaceholderText("The model’s own name")
        self._area = TextArea(theme, "Notes", least_lines=_LINES, parent=self)
        self._area.edit.setObjectName("modelNotesText")
        self._area.edit.setPlaceholderText("What it is good at, where it came from, …")
        self._area.show_text(entry.notes)
        self.body.addWidget(self._name)
        self.body.addWidget(self._area)
        self.body.addStretch(1)
        self.add_button(Button(theme, "Cancel"), "modelNotesCancel", self.reject)
        self.add_button(PrimaryButton(theme, "Save"), "modelNotesSave", self._keep)
        self._name.selectAll()
        self._name.setFocus(Qt.FocusReason.PopupFocusReason)

    def _keep(self) -> None:
        self.kept.emit(self._name.text(), self._area.text)
        self.accept()
