"""What went with a message, as chips at the foot of its bubble."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from app.chat.composer.attachment_dialog import AttachmentDialog
from app.chat.composer.chip_flow import ChipFlow
from app.theme import Theme
from engine.chats.attachment import Attachment

_UNDER_TEXT = 4


class BubbleChips:
    """Makes its widget when the first message comes that has something; a click on a chip opens its text."""

    def __init__(self, theme: Theme, owner: QWidget) -> None:
        self._theme, self._owner = theme, owner
        self._flow: ChipFlow | None = None
        self._attachments: Sequence[Attachment] = ()

    def show(self, attachments: Sequence[Attachment]) -> None:
        """Show what went with another message, or nothing."""
        self._attachments = attachments
        if self._flow is None and attachments:
            self._flow = ChipFlow(self._theme, removable=False, parent=self._owner)
            self._flow.opened.connect(self._open)
        if self._flow is not None:
            self._flow.show_attachments(attachments)
            self._flow.setVisible(bool(attachments))

    def width(self, most: int) -> int:
        """Return the width that the chips ask for, `most` at most."""
        return self._flow.width_in(most) if self._flow and self._attachments else 0

    def arrange(self, left: int, top: int, width: int, *, under_text: bool) -> int:
        """Put the chips at a place in the owner and return the height they take there, with what is between them and a text."""
        if not self._flow or not self._attachments:
            return 0
        gap = _UNDER_TEXT if under_text else 0
        self._flow.move(left, top + gap)
        return gap + self._flow.arrange(width) + _UNDER_TEXT

    def _open(self, place: int) -> None:
        dialog = AttachmentDialog(self._theme, self._attachments[place], parent=self._owner.window())
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
