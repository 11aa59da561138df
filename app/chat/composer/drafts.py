"""What is typed and attached but not sent, kept for each chat."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer

from app.chat.composer.composer import Composer
from engine.chats.attachment import Attachment
from engine.chats.store import ChatStore
from engine.core.errors import FlintError

SAVE_AFTER_MS = 400


class Drafts(QObject):
    """Saves the composer's text and attachments shortly after they changed, and brings them back when their chat is opened.

    A draft that cannot be saved stays in the composer and is tried again with the next key.
    """

    def __init__(self, store: ChatStore, composer: Composer, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._composer = composer
        self._chat_id: str | None = None
        self._saved = ""
        self._attached: tuple[Attachment, ...] = ()
        self._timer = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)
        self._timer.timeout.connect(self.save)
        composer.text_changed.connect(lambda _: self._timer.start())
        composer.attachments.changed.connect(self._timer.start)

    def open(self, chat_id: str | None) -> None:
        """Save the draft at hand and show that of another chat; None is the chat that is not made yet."""
        self.save()
        self._saved = self._store.draft(chat_id)
        self._chat_id = chat_id
        self._composer.set_text(self._saved)
        self._attached = self._store.draft_attachments(chat_id)
        self._composer.attachments.show(self._attached)
        self._timer.stop()

    def adopt(self, chat_id: str) -> None:
        """The new chat was made and its first message sent: what is typed from here on is its draft."""
        self._store.set_draft(None, "")
        self._store.set_draft_attachments(None, ())
        self._chat_id = chat_id
        self._saved, self._attached = "", ()

    def save(self) -> None:
        """Save now, if something changed."""
        self._timer.stop()
        text, attached = self._composer.text, self._composer.attachments.attachments
        try:
            if text != self._saved:
                self._store.set_draft(self._chat_id, text)
                self._saved = text
            if not _same(attached, self._attached):
                self._store.set_draft_attachments(self._chat_id, attached)
                self._attached = attached
        except FlintError:
            return


def _same(some: Sequence[Attachment], others: Sequence[Attachment]) -> bool:
    """Return whether the same texts are attached; their token counts may have come meanwhile."""
    return [(one.name, one.text) for one in some] == [(one.name, one.text) for one in others]
