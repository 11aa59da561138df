"""The summary that stands for the older part of a chat, kept with it."""

from collections.abc import Sequence

from engine.chats.records import StoredMessage
from engine.chats.store import ChatStore
from engine.core.record import Record

KEY = "summary"


class Summary(Record):
    """`text` stands for the messages up to and with `upto`, a message's id."""

    text: str
    upto: str

    def covered(self, path: Sequence[StoredMessage]) -> int:
        """Return how many messages of an active path it stands for; 0 where it was made on another branch."""
        return next((index + 1 for index, message in enumerate(path) if message.id == self.upto), 0)


def read_summary(store: ChatStore, chat_id: str) -> Summary | None:
    """Return a chat's summary, if it has one. Raises `ChatNotFound`."""
    kept = store.chat_settings(chat_id).get(KEY)
    if isinstance(kept, dict) and isinstance(kept.get("text"), str) and isinstance(kept.get("upto"), str):
        return Summary(kept["text"], kept["upto"])
    return None


def write_summary(store: ChatStore, chat_id: str, summary: Summary | None) -> None:
    """Keep a chat's summary in place of the one before; None takes it away. Raises `ChatNotFound`, `DiskFull`, `ReadOnly`."""
    settings = {name: value for name, value in store.chat_settings(chat_id).items() if name != KEY}
    if summary is not None:
        settings[KEY] = {"text": summary.text, "upto": summary.upto}
    store.set_chat_settings(chat_id, settings)
