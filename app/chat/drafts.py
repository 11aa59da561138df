"""What is typed but not sent, kept for each chat."""

from PySide6.QtCore import QObject, QTimer

from app.chat.composer import Composer
from engine.chats.store import ChatStore
from engine.core.errors import FlintError

SAVE_AFTER_MS = 400


class Drafts(QObject):
    """Saves the composer's text shortly after it changed, and brings it back when its chat is opened.

    A draft that cannot be saved stays in the composer and is tried again with the next key.
    """

    def __init__(self, store: ChatStore, composer: Composer, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._composer = composer
        self._chat_id: str | None = None
        self._saved = ""
        self._timer = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)
        self._timer.timeout.connect(self.save)
        composer.text_changed.connect(lambda _: self._timer.start())

    def open(self, chat_id: str | None) -> None:
        """Save the draft at hand and show that of another chat; None is the chat that is not made yet."""
        self.save()
        self._saved = self._store.draft(chat_id)
        self._chat_id = chat_id
        self._composer.set_text(self._saved)
        self._timer.stop()

    def adopt(self, chat_id: str) -> None:
        """The new chat was made and its first message sent: what is typed from here on is its draft."""
        self._store.set_draft(None, "")
        self._chat_id = chat_id
        self._saved = ""

    def save(self) -> None:
        """Save now, if something changed."""
        self._timer.stop()
        text = self._composer.text
        if text == self._saved:
            return
        try:
            self._store.set_draft(self._chat_id, text)
            self._saved = text
        except FlintError:
            return
