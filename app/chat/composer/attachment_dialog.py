"""The text of an attachment, to be read."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app.chat.composer.token_estimate import about
from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.label import Label
from engine.chats.attachment import Attachment
from engine.core.sizes import count_text

MOST_SHOWN = 500_000
"""Characters: more would be laid out for longer than somebody reads."""


class AttachmentDialog(QDialog):
    """Shows a text as the model is given it. `insert_requested` asks to put it into the message, where that is offered."""

    insert_requested = Signal()

    def __init__(
        self, theme: Theme, attachment: Attachment, *, insertable: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._text = attachment.text
        self.setObjectName("attachmentDialog")
        self.setWindowTitle(attachment.name)
        self.setModal(True)
        self.resize(640, 560)
        tokens = count_text(attachment.tokens, "token", short=True) if attachment.tokens else about(attachment.text)
        lines = attachment.text.count("\n") + (not attachment.text.endswith("\n"))
        edit = QPlainTextEdit(self)
        edit.setObjectName("attachmentText")
        edit.setAccessibleName(f"Text of {attachment.name}")
        edit.setReadOnly(True)
        edit.setFrameShape(QFrame.Shape.NoFrame)
        edit.setFont(theme.font("code"))
        edit.setPlainText(attachment.text[:MOST_SHOWN])
        facts = f"{count_text(lines, 'line')}, {tokens}"
        if len(attachment.text) > MOST_SHOWN:
            facts += f". The first {MOST_SHOWN:,} characters are shown; the model reads, and Copy takes, all of it."
        heading = Label(theme, attachment.name, style="section")
        heading.setToolTip(attachment.name)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(12)
        layout.addWidget(heading)
        layout.addWidget(Label(theme, facts, style="small", role="ink-2", wrap=True))
        layout.addWidget(edit, 1)
        layout.addLayout(self._buttons(theme, insertable))

    def _buttons(self, theme: Theme, insertable: bool) -> QHBoxLayout:
        row = QHBoxLayout()
        if insertable:
            insert = Button(theme, "Put into the message")
            insert.setObjectName("attachmentInsert")
            insert.clicked.connect(self.insert_requested)
            insert.clicked.connect(self.accept)
            row.addWidget(insert)
        row.addStretch(1)
        copy = Button(theme, "Copy")
        copy.setObjectName("attachmentCopy")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._text))
        close = PrimaryButton(theme, "Close")
        close.setObjectName("attachmentClose")
        close.clicked.connect(self.reject)
        row.addWidget(copy)
        row.addWidget(close)
        return row
