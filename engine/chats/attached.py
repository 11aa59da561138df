"""What is attached to messages and to drafts, in the database."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.chats.attachment import Attachment
from engine.chats.database import storable
from engine.chats.records import StoredMessage

_COLUMNS = "name, kind, text, tokens"


def write_to_message(connection: sqlite3.Connection, message: int, attachments: Iterable[Attachment]) -> None:
    """Attach texts to the message in a row."""
    connection.executemany(
        f"INSERT INTO attachments (message, {_COLUMNS}) VALUES (?, ?, ?, ?, ?)",
        ((message, storable(one.name), one.kind, storable(one.text), one.tokens) for one in attachments),
    )


def of_message(connection: sqlite3.Connection, message: int) -> tuple[Attachment, ...]:
    """Return what is attached to the message in a row, in its order."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM attachments WHERE message = ? ORDER BY row", (message,))
    return tuple(Attachment(*row) for row in rows)


def of_chat(connection: sqlite3.Connection, chat: int) -> dict[str, tuple[Attachment, ...]]:
    """Return what is attached to each message of a chat that has something, by the message's id."""
    found: dict[str, list[Attachment]] = {}
    rows = connection.execute(
        f"SELECT messages.id, {', '.join('attachments.' + name for name in _COLUMNS.split(', '))} FROM messages"
        " JOIN attachments ON attachments.message = messages.row WHERE messages.chat = ? ORDER BY attachments.row",
        (chat,),
    )
    for id_, *values in rows:
        found.setdefault(id_, []).append(Attachment(*values))
    return {id_: tuple(attachments) for id_, attachments in found.items()}


def joined(messages: Iterable[StoredMessage], attached: dict[str, tuple[Attachment, ...]]) -> list[StoredMessage]:
    """Return messages with what is attached to them."""
    return [replace(message, attachments=attached[message.id]) if message.id in attached else message for message in messages]


def write_to_draft(
    connection: sqlite3.Connection, chat: int | None, attachments: Iterable[Attachment], before: Sequence[Attachment] = ()
) -> None:
    """Keep what waits beside a draft, in place of what did; None is the chat that does not exist yet.

    What stood there `before`, in its order, and goes on standing is not written again: it may be many megabytes.
    """
    rows = [row for (row,) in connection.execute("SELECT row FROM draft_attachments WHERE chat IS ? ORDER BY row", (chat,))]
    known = [_content(one) for one in before] if len(before) == len(rows) else [None] * len(rows)
    left = list(attachments)
    for row, content in zip(rows, known, strict=True):
        if left and content == _content(left[0]):
            left.pop(0)
        else:
            connection.execute("DELETE FROM draft_attachments WHERE row = ?", (row,))
    connection.executemany(
        f"INSERT INTO draft_attachments (chat, {_COLUMNS}) VALUES (?, ?, ?, ?, ?)",
        ((chat, storable(one.name), one.kind, storable(one.text), one.tokens) for one in left),
    )


def _content(attachment: Attachment) -> tuple[str, str, str]:
    """Return what an attachment is; the model's count of it may come later."""
    return attachment.name, attachment.kind, attachment.text


def of_draft(connection: sqlite3.Connection, chat: int | None) -> tuple[Attachment, ...]:
    """Return what waits beside a draft; None is the chat that does not exist yet."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM draft_attachments WHERE chat IS ? ORDER BY row", (chat,))
    return tuple(Attachment(*row) for row in rows)
