"""Deleted messages: put into their chat's trash, offered back, and brought back."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from app.chat.controller import ChatController
from app.chat.replies import Replies
from app.widgets.toast import Toast, Toaster
from engine.chats.records import StoredMessage
from engine.chats.store import ChatStore
from engine.chats.titles import title_from


class MessageTrash(QObject):
    """Works on the open chat. `changed` says that a message went into a trash, or came out of one."""

    changed = Signal()

    def __init__(
        self, store: ChatStore, chat: ChatController, replies: Replies, toaster: Toaster, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store, self._chat, self._replies, self._toaster = store, chat, replies, toaster
        self._undo: dict[str, tuple[str, Toast]] = {}

    def delete(self, message: StoredMessage) -> None:
        """Move a message and what follows it to the chat's trash, and offer to bring it back."""
        with self._chat.reporting():
            count = self._store.delete_message(message.id)
            self._chat.show(self._chat.messages())
            undo = ("Undo", lambda: self._restore(message.chat_id, message.id))
            toast = self._toaster.show(_deleted(message, count), action=undo)
            toast.closed.connect(lambda: self._undo.pop(message.id, None))
            self._undo[message.id] = (message.chat_id, toast)
            self._chat.chats_changed.emit()
            self.changed.emit()

    def restore_last(self) -> None:
        """Bring back what was deleted last in the open chat; asked again, what was deleted before that."""
        chat_id = self._chat.chat_id
        with self._chat.reporting():
            found = self._store.last_deleted_message(chat_id) if chat_id else None
            if chat_id and found:
                self._restore(chat_id, found)
            elif chat_id:
                self._toaster.show("No message of this chat is in the trash.", kind="refusal")

    def end_undo(self, chat_ids: Iterable[str]) -> None:
        """Take back the offer to bring messages of these chats back: they are gone for good."""
        gone = set(chat_ids)
        for toast in [toast for chat_id, toast in self._undo.values() if chat_id in gone]:
            toast.close_toast()

    def _restore(self, chat_id: str, message_id: str) -> None:
        """Bring a deleted message back, and show it unless another reply is on its way in its chat."""
        with self._chat.reporting():
            back = self._store.restore_message(message_id, activate=self._replies.of_chat(chat_id) is None)
            for _, toast in [self._undo[deleted] for deleted in back if deleted in self._undo]:
                toast.close_toast()
            if chat_id != self._chat.chat_id:
                self._chat.open(chat_id)
            else:
                self._chat.show(self._chat.messages())
            self._chat.chats_changed.emit()
            self.changed.emit()


def _deleted(message: StoredMessage, count: int) -> str:
    """Return what is said of a deletion; the words tell one from another."""
    words = title_from(message.text) or ("A reply" if message.role == "assistant" else "A message")
    if count == 1:
        return f"“{words}” was deleted."
    return f"“{words}” and {'what followed it' if count > 2 else 'the message after it'} were deleted."
