"""What is typed and attached but not sent, kept for each chat."""

import json
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from app.chat.composer.composer import Composer
from engine.chats.attachment import Attachment
from engine.chats.store import ChatStore
from engine.core.errors import ChatNotFound, FlintError

SAVE_AFTER_MS = 400


class Drafts(QObject):
    """Saves the composer's text and attachments shortly after they changed, and brings them back when their chat is opened.

    A draft that cannot be saved stays in the composer and is tried again with the next key.
    A file that is being read becomes part of the draft it was attached to, whichever chat is shown by then. Its path is kept
    until it was read: if the window closes first, it is read again once its chat is opened.
    """

    def __init__(self, store: ChatStore, composer: Composer, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._composer = composer
        self._chat_id: str | None = None
        self._saved = ""
        self._attached: tuple[Attachment, ...] = ()
        self._unread: tuple[Path, ...] = ()
        self._timer = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)
        self._timer.timeout.connect(self.save)
        composer.text_changed.connect(lambda _: self._save_soon())
        composer.attachments.changed.connect(self._save_soon)
        composer.attachments.settled_aside.connect(self._keep_aside)

    def open(self, chat_id: str | None) -> None:
        """Save the draft at hand and show that of another chat; None is the chat that is not made yet."""
        self.save()
        self._saved = self._store.draft(chat_id)
        self._chat_id = chat_id
        self._composer.set_text(self._saved)
        self._attached = self._store.draft_attachments(chat_id)
        self._unread = self._recall_unread(chat_id)
        attachments = self._composer.attachments
        attachments.turn_to(chat_id, self._attached)
        under_way = attachments.unread(chat_id)
        if left := [path for path in self._unread if path not in under_way]:
            attachments.attach_files(left)
        self._timer.stop()

    def adopt(self, chat_id: str) -> None:
        """The new chat was made and its first message sent: what is typed from here on is its draft."""
        self._store.set_draft(None, "")
        self._store.set_draft_attachments(None, ())
        self._remember_unread(None, ())
        self._chat_id = chat_id
        self._composer.attachments.adopt(chat_id)
        self._saved, self._attached, self._unread = "", (), ()

    def _save_soon(self) -> None:
        """Save in a moment, also while somebody types on: each key would put it off."""
        if not self._timer.isActive():
            self._timer.start()

    def save(self) -> None:
        """Save now, if something changed."""
        self._timer.stop()
        text, attached = self._composer.text, self._composer.attachments.attachments
        try:
            if text != self._saved:
                self._store.set_draft(self._chat_id, text)
                self._saved = text
            if not _same(attached, self._attached):
                self._store.set_draft_attachments(self._chat_id, attached, self._attached)
                self._attached = attached
            if (unread := self._composer.attachments.unread(self._chat_id)) != self._unread:
                self._remember_unread(self._chat_id, unread)
                self._unread = unread
        except FlintError:
            return
        for chat_id in self._composer.attachments.aside():
            self._keep_aside(chat_id)

    def _keep_aside(self, chat_id: str | None) -> None:
        """Add what was read for a chat that is not shown to its draft; what can't be saved is tried again."""
        attachments = self._composer.attachments
        try:
            before, read = self._store.draft_attachments(chat_id), attachments.read_aside(chat_id)
            if new := [one for one in read if not any(_same((one,), (other,)) for other in before)]:
                self._store.set_draft_attachments(chat_id, (*before, *new), before)
            if (unread := attachments.unread(chat_id)) != self._recall_unread(chat_id):
                self._remember_unread(chat_id, unread)
        except ChatNotFound:
            pass  # It was deleted, its draft with it.
        except FlintError:
            return
        attachments.forget_read(chat_id)

    def _recall_unread(self, chat_id: str | None) -> tuple[Path, ...]:
        return tuple(Path(path) for path in json.loads(self._store.recall(_unread_key(chat_id)) or "[]"))

    def _remember_unread(self, chat_id: str | None, paths: Sequence[Path]) -> None:
        kept = json.dumps([str(path) for path in paths]) if paths else ""
        if kept != self._store.recall(_unread_key(chat_id)):
            self._store.remember(_unread_key(chat_id), kept)


def _unread_key(chat_id: str | None) -> str:
    return f"files being read for {chat_id or 'the new chat'}"


def _same(some: Sequence[Attachment], others: Sequence[Attachment]) -> bool:
    """Return whether the same texts are attached; their token counts may have come meanwhile."""
    return [(one.name, one.text) for one in some] == [(one.name, one.text) for one in others]
