"""A system prompt, to be written, changed, renamed or deleted."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.errors import advice
from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.label import Label
from app.widgets.sheet import Sheet
from app.widgets.text_area import TextArea
from app.widgets.text_field import TextField
from engine.chats.prompts import SystemPrompt
from engine.core.errors import FlintError


class PromptDialog(Sheet):
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
        words = "The model reads it before everything else in a chat."
        if prompt is not None and not prompt.own:
            words = "This one comes with Flint. Your version is kept in its place; deleting that brings it back."
        heading = "New system prompt" if prompt is None else "Edit system prompt"
        super().__init__(theme, heading, words, parent)
        self.setObjectName("promptDialog")
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
        for part in (self._name, self._area, self._trouble):
            self.body.addWidget(part)
        self.body.addStretch(1)
        if delete is not None:
            self.add_button(Button(theme, "Delete"), "promptDelete", lambda: self._end(delete), left=True)
        self.add_button(Button(theme, "Cancel"), "promptCancel", self.reject)
        keep = PrimaryButton(theme, "Save")
        self.add_button(keep, "promptSave", lambda: self._end(lambda: save(self._name.text(), self._area.text)))
        self._name.setFocus(Qt.FocusReason.PopupFocusReason)

    def _end(self, work: Callable[[], None]) -> None:
        """Close after `work`, unless that tells what is wrong."""
        try:
            work()
        except FlintError as error:
            self._trouble.setText(f"{error.text} {advice(error)}")
            return
        self.accept()
