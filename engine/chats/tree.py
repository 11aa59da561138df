"""The message tree of a chat in the database. A parent remembers which child was shown last; the chat, which first message.

Following that memory from the root gives the active path, and from any message its most recently active leaf.
"""

import dataclasses
import json
import sqlite3
from typing import Any

from engine.chats.database import storable
from engine.chats.owner import Owner
from engine.chats.records import StoredMessage
from engine.core.codec import restore
from engine.core.errors import ChatNotFound, ErrorInfo, UsageError
from engine.core.facts import ReplyFacts
from engine.core.record import Record

_COLUMNS = """messages.id, chats.id, parents.id, messages.role, messages.text, messages.reasoning, messages.state,
    messages.created_at, messages.model_id, messages.facts, messages.error,
    (SELECT COUNT(*) FROM messages AS s WHERE s.chat = messages.chat AND s.parent IS messages.parent AND s.trashed_at IS NULL
        AND s.row < messages.row),
    (SELECT COUNT(*) FROM messages AS s WHERE s.chat = messages.chat AND s.parent IS messages.parent AND s.trashed_at IS NULL),
    messages.edited"""
_TABLES = "messages JOIN chats ON chats.row = messages.chat LEFT JOIN messages AS parents ON parents.row = messages.parent"
_PATH = """WITH RECURSIVE path (row, depth) AS (
    SELECT active_root, 0 FROM chats WHERE row = ? AND active_root IS NOT NULL
    UNION ALL
    SELECT messages.active_child, depth + 1 FROM path JOIN messages ON messages.row = path.row
    WHERE messages.active_child IS NOT NULL)"""


class Place(Record):
    """A message's rows in the database: its own, its chat's and its parent's."""

    row: int
    chat: int
    parent: int | None


class NewMessage(Record):
    """What is written for a new message; `owner` is set while a reply streams."""

    id: str
    role: str
    text: str
    state: str
    created_at: float
    model_id: str = ""
    reasoning: str = ""
    facts: str | None = None
    error: str | None = None
    owner: Owner | None = None
    edited: bool = False


def chat_row(connection: sqlite3.Connection, chat_id: str, *, trashed: bool | None = None) -> int:
    """Return a chat's row; raise `ChatNotFound`. `trashed` asks for one in the trash (True), outside it (False), or any."""
    found = connection.execute("SELECT row, deleted_at FROM chats WHERE id = ?", (chat_id,)).fetchone()
    if found is None or (found[1] or 0) < 0 or (trashed is not None and trashed != (found[1] is not None)):
        raise ChatNotFound(f"There is no chat “{chat_id}”{' in the trash' if trashed else ''}.")
    return int(found[0])


def place_of(connection: sqlite3.Connection, message_id: str) -> Place:
    """Return where a message stands; raise `ChatNotFound` when it does not exist (its chat may have been removed)."""
    found = connection.execute(
        """SELECT messages.row, chat, parent FROM messages JOIN chats ON chats.row = chat
        WHERE messages.id = ? AND ifnull(deleted_at, 0) >= 0 AND ifnull(trashed_at, 0) >= 0""",
        (message_id,),
    ).fetchone()
    if found is None:
        raise ChatNotFound(f"There is no message “{message_id}”; its chat may have been removed from the trash.")
    return Place(*found)


def active_leaf(connection: sqlite3.Connection, chat: int) -> int | None:
    """Return the row of the last message on a chat's active path, None for an empty chat."""
    found = connection.execute(f"{_PATH} SELECT row FROM path ORDER BY depth DESC LIMIT 1", (chat,)).fetchone()
    return None if found is None else int(found[0])


def parent_row(connection: sqlite3.Connection, chat: int, parent_id: str | None) -> int | None:
    """Return the row of a new message's parent; raise `UsageError` when it belongs to another chat."""
    if parent_id is None:
        return None
    place = place_of(connection, parent_id)
    if place.chat != chat:
        raise UsageError("A message can only follow a message of its own chat.", "Choose a message of this chat.")
    return place.row


def insert(connection: sqlite3.Connection, chat: int, parent: int | None, message: NewMessage) -> int:
    """Write a new message under `parent` (None: a first message) and return its row. The active path is left alone."""
    owner = message.owner
    cursor = connection.execute(
        "INSERT INTO messages (id, chat, parent, role, text, reasoning, state, created_at, model_id, facts, error, owner_pid,"
        " owner_started, edited) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(message.id, chat, parent, message.role, message.text, message.reasoning, message.state, message.created_at),
            *(message.model_id, message.facts, message.error),
            *((owner.pid, owner.started) if owner else (None, None)),
            message.edited,
        ),
    )
    return int(cursor.lastrowid or 0)


def lengthen(connection: sqlite3.Connection, leaf: int, row: int) -> None:
    """Lead the active path from its leaf on to a new message: `make_active` without the walk through the whole chat."""
    connection.execute("UPDATE messages SET active_child = ? WHERE row = ?", (row, leaf))


def make_active(connection: sqlite3.Connection, row: int) -> None:
    """Lead the active path through a message: every message above it remembers the child on the way."""
    connection.execute(
        """WITH RECURSIVE above (row, parent, chat) AS (
            SELECT row, parent, chat FROM messages WHERE row = ?
            UNION ALL
            SELECT messages.row, messages.parent, messages.chat FROM above JOIN messages ON messages.row = above.parent)
        UPDATE messages SET active_child = above.row FROM above
        WHERE messages.row = above.parent AND messages.active_child IS NOT above.row""",
        (row,),
    )
    connection.execute(
        """WITH RECURSIVE above (row, parent, chat) AS (
            SELECT row, parent, chat FROM messages WHERE row = ?
            UNION ALL
            SELECT messages.row, messages.parent, messages.chat FROM above JOIN messages ON messages.row = above.parent)
        UPDATE chats SET active_root = above.row FROM above WHERE above.parent IS NULL AND chats.row = above.chat""",
        (row,),
    )


def active_path(connection: sqlite3.Connection, chat: int) -> list[StoredMessage]:
    """Return the messages from the first to the active leaf."""
    rows = connection.execute(
        f"{_PATH} SELECT {_COLUMNS} FROM path JOIN {_TABLES} WHERE messages.row = path.row ORDER BY depth", (chat,)
    )
    return [_stored(row) for row in rows]


def one(connection: sqlite3.Connection, row: int) -> StoredMessage:
    """Return one message by its row."""
    return _stored(connection.execute(f"SELECT {_COLUMNS} FROM {_TABLES} WHERE messages.row = ?", (row,)).fetchone())


def siblings(connection: sqlite3.Connection, place: Place) -> list[StoredMessage]:
    """Return a message and the others under the same parent, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM {_TABLES} WHERE messages.chat = ? AND messages.parent IS ?"
        " AND messages.trashed_at IS NULL ORDER BY messages.row",
        (place.chat, place.parent),
    )
    return [_stored(row) for row in rows]


def as_json(record: ReplyFacts | ErrorInfo | None) -> str | None:
    """Return a record as it is stored."""
    return None if record is None else dump(dataclasses.asdict(record))


def dump(value: object) -> str:
    """Return a JSON value as it is stored."""
    return storable(json.dumps(value, ensure_ascii=False))


def _stored(row: tuple[Any, ...]) -> StoredMessage:
    values = list(row)
    values[9], values[10] = _restored(ReplyFacts, row[9]), _restored(ErrorInfo, row[10])
    values[13] = bool(row[13])
    return StoredMessage(*values)


def _restored(kind: type[Any], text: str | None) -> Any:
    """Return a stored record, None where it is missing or in a form that only a newer Flint knows."""
    try:
        return None if text is None else restore(kind, json.loads(text))
    except (TypeError, KeyError, AttributeError, ValueError):
        return None
