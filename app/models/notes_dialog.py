"""A model's name in Flint, and notes on it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.label import Label
from app.widgets.text_area import TextArea
from app.widgets.text_field import TextField
from engine.core.facts import ModelEntry

SIZE = (480, 320)


class NotesDialog(QDialog):
    """`kept` carries the name ("" the model's own) and the notes when somebody saves."""

    kept = Signal(str, str)

    def __init__(self, theme: Theme, entry: ModelEntry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("modelNotes")
        self.setAccessibleName("Name and notes")
        self.setWindowTitle("Name and notes")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.resize(*SIZE)
        self._before = entry.name
        self._name = TextField(theme, "Name", parent=self)
        self._name.setObjectName("modelNotesName")
        self._name.show_text(entry.name)
        self._name.setPlaceholderText("The model’s own name")
        self._area = TextArea(theme, "Notes", parent=self)
        self._area.edit.setObjectName("modelNotesText")
        self._area.edit.setPlaceholderText("What it is good at, where it came from, …")
        self._area.show_text(entry.notes)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(12)
        layout.addWidget(Label(theme, "Name and notes", style="section"))
        words = "They are Flint’s alone: no file is renamed. Without a name, the model has its own again."
        layout.addWidget(Label(theme, words, style="small", role="ink-2", wrap=True))
        layout.addWidget(self._name)
        layout.addWidget(self._area)
        layout.addStretch(1)
        layout.addLayout(self._buttons(theme))
        self._name.selectAll()
        self._name.setFocus(Qt.FocusReason.PopupFocusReason)

    def _buttons(self, theme: Theme) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        cancel, save = Button(theme, "Cancel"), PrimaryButton(theme, "Save")
        cancel.setObjectName("modelNotesCancel")
        save.setObjectName("modelNotesSave")
        cancel.clicked.connect(self.reject)
        save.clicked.connect(self._keep)
        row.addWidget(cancel)
        row.addWidget(save)
        return row

    def _keep(self) -> None:
        self.kept.emit(self._name.text(), self._area.text)
        self.accept()
