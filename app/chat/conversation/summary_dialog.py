"""The summary that stands for what left the context, to be read and changed."""

from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.sheet import Sheet
from app.widgets.text_area import TextArea


class SummaryDialog(Sheet):
    """Shows a summary's text. After it was accepted, `text` is what to keep."""

    def __init__(self, theme: Theme, text: str, messages: int, parent: QWidget | None = None) -> None:
        words = f"The model reads this instead of the first {messages:,} messages. A change counts from the next reply."
        super().__init__(theme, "Summary of what left the context", words, parent)
        self.setObjectName("summaryDialog")
        self.resize(560, 360)
        self._area = TextArea(theme, "Summary", parent=self)
        self._area.edit.setObjectName("summaryText")
        self._area.show_text(text)
        self.body.addWidget(self._area)
        self.body.addStretch(1)
        self.add_button(Button(theme, "Cancel"), "summaryCancel", self.reject)
        self.add_button(PrimaryButton(theme, "Save"), "summarySave", self.accept)

    @property
    def text(self) -> str:
        """The summary as it stands."""
        return self._area.text
