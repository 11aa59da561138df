"""The summary that stands for what left the context, to be read and changed."""

from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.label import Label
from app.widgets.text_area import TextArea


class SummaryDialog(QDialog):
    """Shows a summary's text. After it was accepted, `text` is what to keep."""

    def __init__(self, theme: Theme, text: str, messages: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("summaryDialog")
        self.setWindowTitle("Summary")
        self.setModal(True)
        self.resize(560, 360)
        words = f"The model reads this instead of the first {messages:,} messages. A change counts from the next reply."
        self._area = TextArea(theme, "Summary", parent=self)
        self._area.edit.setObjectName("summaryText")
        self._area.show_text(text)
        cancel = Button(theme, "Cancel")
        cancel.setObjectName("summaryCancel")
        cancel.clicked.connect(self.reject)
        save = PrimaryButton(theme, "Save")
        save.setObjectName("summarySave")
        save.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(save)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(12)
        layout.addWidget(Label(theme, "Summary of what left the context", style="section"))
        layout.addWidget(Label(theme, words, style="small", role="ink-2", wrap=True))
        layout.addWidget(self._area)
        layout.addStretch(1)
        layout.addLayout(buttons)

    @property
    def text(self) -> str:
        """The summary as it stands."""
        return self._area.text
