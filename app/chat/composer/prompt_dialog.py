"""A system prompt, to be written, changed, renamed or deleted."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.label import Label
from app.widgets.text_area import TextArea
from app.widgets.text_field import TextField
from engine.chats.prompts import SystemPrompt
from engine.core.errors import FlintError


class PromptDialog(QDialog):
    """`save` gets name and text and may raise a `FlintError`, which is told here; `delete` is offered where it is given."""

    def __init__(
        self,
        theme: Theme,
        prompt: SystemPrompt | None,
        text: str,
        save: Callable[[str, str], None],
        delete: Callable[[], None] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._save, self._delete = save, delete
        heading = "New system prompt" if prompt is None else "Edit system prompt"
        self.setObjectName("promptDialog")
        self.setWindowTitle(heading)
        self.setModal(True)
        self.resize(560, 400)
        self._name = TextField(theme, "Name", parent=self)
        self._name.setObjectName("promptName")
        self._name.setPlaceholderText("Name")
        self._name.show_text(prompt.name if prompt else "")
        self._area = TextArea(theme, "System prompt", parent=self)
        self._area.edit.setObjectName("promptText")
        self._area.edit.setPlaceholderText("What the model is told before the conversation")
        self._area.show_text(prompt.text if prompt else text)
        self._trouble = Label(theme, "", style="small", role="critical", wrap=True)
        words = "The model reads it before everything else in a chat."
        if prompt is not None and not prompt.own:
            words = "This one comes with Flint. Your version is kept in its place; deleting that brings it back."
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(12)
        layout.addWidget(Label(theme, heading, style="section"))
        layout.addWidget(Label(theme, words, style="small", role="ink-2", wrap=True))
        layout.addWidget(self._name)
        layout.addWidget(self._area)
        layout.addWidget(self._trouble)
        layout.addStretch(1)
        layout.addLayout(self._buttons(theme))
        self._name.setFocus(Qt.FocusReason.PopupFocusReason)

    def _buttons(self, theme: Theme) -> QHBoxLayout:
        row = QHBoxLayout()
        if self._delete is not None:
            delete = Button(theme, "Delete")
            delete.setObjectName("promptDelete")
            delete.clicked.connect(self._drop)
            row.addWidget(delete)
        row.addStretch(1)
        cancel = Button(theme, "Cancel")
        cancel.setObjectName("promptCancel")
        cancel.clicked.connect(self.reject)
        save = PrimaryButton(theme, "Save")
        save.setObjectName("promptSave")
        save.clicked.connect(self._keep)
        row.addWidget(cancel)
        row.addWidget(save)
        return row

    def _keep(self) -> None:
        try:
            self._save(self._name.text(), self._area.text)
        except FlintError as error:
            self._trouble.setText(f"{error.text} {error.hint}")
            return
        self.accept()

    def _drop(self) -> None:
        if self._delete is not None:
            try:
                self._delete()
            except FlintError as error:
                self._trouble.setText(f"{error.text} {error.hint}")
                return
        self.accept()
