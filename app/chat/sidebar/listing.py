"""The chats that are listed, as they were read: what happened in a chat since then is read alone, not all of them again."""

from collections.abc import Sequence

from engine.chats.records import ChatSummary
from engine.chats.store import ChatStore


class Listing:
    """Chats outside the trash, newest activity first."""

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self.chats: Sequence[ChatSummary] = ()

    def read(self) -> None:
        """Read all of them: anything may have changed."""
        self.chats = self._store.chats()

    def catch_up(self, chat_id: str | None) -> None:
        """Read those that something was said in since; and `chat_id`, the open one, whatever the clock says."""
        newest = max((chat.updated_at for chat in self.chats[:1]), default=float("-inf"))
        newer = self._store.chats_since(newest, chat_id)
        ids = {chat.id for chat in newer}
        chats = [*newer, *(chat for chat in self.chats if chat.id not in ids)]
        self.chats = sorted(chats, key=lambda chat: chat.updated_at, reverse=True)
