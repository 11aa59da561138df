"""The text of an attachment, to be read."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app.chat.composer.token_estimate import about
from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.sheet import Sheet
from engine.chats.attachment import Attachment, framed
from engine.core.sizes import count_text

MOST_SHOWN = 500_000
"""Characters: more would be laid out for longer than somebody reads."""


class AttachmentDialog(Sheet):
    """Shows a text as the model is given it. `insert_requested` asks to put it into the message, where that is offered."""

    insert_requested = Signal()

    def __init__(
        self, theme: Theme, attachment: Attachment, *, insertable: bool = False, parent: QWidget | None = None
    ) -> None:
        tokens = count_text(attachment.tokens, "token", short=True) if attachment.tokens else about(framed(attachment))
        lines = attachment.text.count("\n") + (not attachment.text.endswith("\n"))
        facts = f"{count_text(lines, 'line')}, {tokens}"
        if len(attachment.text) > MOST_SHOWN:
            facts += f". The first {MOST_SHOWN:,} characters are shown; the model reads, and Copy takes, all of it."
        super().__init__(theme, attachment.name, facts, parent)
        self.setObjectName("attachmentDialog")
        self.heading.setToolTip(attachment.name)
        self.resize(640, 560)
        edit = QPlainTextEdit(self)
        edit.setObjectName("attachmentText")
        edit.setAccessibleName(f"Text of {attachment.name}")
        edit.setReadOnly(True)
        edit.setFrameShape(QFrame.Shape.NoFrame)
        edit.setFont(theme.font("code"))
        edit.setPlainText(attachment.text[:MOST_SHOWN])
        self.body.addWidget(edit, 1)
        if insertable:
            insert = Button(theme, "Put into the message")
            insert.clicked.connect(self.insert_requested)
            self.add_button(insert, "attachmentInsert", self.accept, left=True)
        copy = Button(theme, "Copy")
        self.add_button(copy, "attachmentCopy", lambda: QGuiApplication.clipboard().setText(attachment.text))
        self.add_button(PrimaryButton(theme, "Close"), "attachmentClose", self.reject)
