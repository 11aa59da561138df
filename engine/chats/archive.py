"""Whole chats, every branch, out of the database and into it: what export and import stand on."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from engine.chats import attached, tree
from engine.chats.database import storable
from engine.chats.folders import read_folder, write_folder
from engine.chats.records import ChatSummary, ChatTree, MessageNode, new_id
from engine.chats.search import index_message, index_title, searched

_WRITTEN = "id, title, created_at, updated_at, pinned, model_id, deleted_at"
CHAT_COLUMNS = f"{_WRITTEN}, (SELECT folders.id FROM folders WHERE folders.row = chats.folder)"


def summary(row: tuple[str, str, float, float, int, str, float | None, str | None]) -> ChatSummary:
    """Return the summary in a row of `CHAT_COLUMNS`."""
    id_, title, created_at, updated_at, pinned, model_id, deleted_at, folder_id = row
    return ChatSummary(id_, title, created_at, updated_at, bool(pinned), model_id, deleted_at, folder_id)


def read_chat(connection: sqlite3.Connection, chat: int) -> ChatTree:
    """Return the chat in a row with all of its branches."""
    found = connection.execute(
        f"SELECT {CHAT_COLUMNS}, settings, draft, active_root FROM chats WHERE row = ?", (chat,)
    ).fetchone()
    *columns, settings, draft, active_root = found
    rows = connection.execute(
        """SELECT messages.id, parents.id, messages.role, messages.text, messages.reasoning, messages.state,
            messages.created_at, messages.model_id, messages.facts, messages.error,
            messages.row IS CASE WHEN messages.parent IS NULL THEN ? ELSE parents.active_child END, messages.edited,
            messages.trashed_at, (SELECT id FROM messages AS first WHERE first.row = messages.trashed_with)
        FROM messages LEFT JOIN messages AS parents ON parents.row = messages.parent
        WHERE messages.chat = ? AND ifnull(messages.trashed_at, 0) >= 0 ORDER BY messages.row""",
        (active_root, chat),
    )
    texts = attached.of_chat(connection, chat)
    nodes = tuple(_node([*row[:11], texts.get(row[0], ()), *row[11:]]) for row in rows)
    draft_attachments, folder = attached.of_draft(connection, chat), read_folder(connection, chat)
    return ChatTree(summary(tuple(columns)), json.loads(settings), draft, nodes, draft_attachments, folder)


def write_chat(connection: sqlite3.Connection, whole: ChatTree) -> str:
    """Write a chat as it is and return its id: its own where none of its ids is taken, else all of them are new.

    A reply that was streaming when it was exported becomes interrupted: nobody writes it here. Its folder is the one with the
    same id, made where there is none.
    """
    ids = _ids(connection, whole)
    chat_id = ids[""]
    chat = whole.chat
    cursor = connection.execute(
        f"INSERT INTO chats ({_WRITTEN}, settings, draft, folder) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(chat_id, storable(chat.title), chat.created_at, chat.updated_at, chat.pinned, storable(chat.model_id)),
            *(chat.deleted_at, tree.dump(whole.settings), storable(whole.draft)),
            None if whole.folder is None else write_folder(connection, whole.folder),
        ),
    )
    row = int(cursor.lastrowid or 0)
    index_title(connection, row, storable(chat.title))
    attached.write_to_draft(connection, row, whole.draft_attachments)
    rows: dict[str, int] = {}
    shown: dict[int | None, int] = {}
    groups: dict[str, str | None] = {}
    for node in whole.messages:
        parent = None if node.parent_id is None else rows[node.parent_id]
        rows[node.id] = _write_node(connection, row, parent, ids[node.id], node)
        groups[node.id] = None if node.trashed_at is None else node.trashed_with or node.id
        # What was deleted apart from what it follows does not come back with it.
        together = groups[node.id] == groups.get(node.parent_id or "")
        if together and (node.active or parent not in shown):
            shown[parent] = rows[node.id]
    _write_trash(connection, whole.messages, rows)
    connection.execute("UPDATE chats SET active_root = ? WHERE row = ?", (shown.pop(None, None), row))
    connection.executemany(
        "UPDATE messages SET active_child = ? WHERE row = ?", ((child, above) for above, child in shown.items())
    )
    return chat_id


def _write_node(connection: sqlite3.Connection, chat: int, parent: int | None, id_: str, node: MessageNode) -> int:
    state = "interrupted" if node.state == "streaming" else node.state
    text = storable(node.text)
    message = tree.NewMessage(
        id=id_,
        role=node.role,
        text=text,
        state=state,
        created_at=node.created_at,
        model_id=storable(node.model_id),
        reasoning=storable(node.reasoning),
        facts=None if node.facts is None else tree.dump(node.facts),
        error=None if node.error is None else tree.dump(node.error),
        edited=node.edited,
    )
    row = tree.insert(connection, chat, parent, message)
    attached.write_to_message(connection, row, node.attachments)
    index_message(connection, row, searched(text, node.attachments))
    return row


def _write_trash(connection: sqlite3.Connection, nodes: Iterable[MessageNode], rows: Mapping[str, int]) -> None:
    """Put into the chat's trash what was there; without the message it was deleted with, each by itself."""
    connection.executemany(
        "UPDATE messages SET trashed_at = ?, trashed_with = ? WHERE row = ?",
        (
            (node.trashed_at, rows.get(node.trashed_with or "", rows[node.id]), rows[node.id])
            for node in nodes
            if node.trashed_at is not None
        ),
    )


def _node(values: list[Any]) -> MessageNode:
    for place in (8, 9):
        values[place] = None if values[place] is None else json.loads(values[place])
    values[10], values[12] = bool(values[10]), bool(values[12])
    return MessageNode(*values)


def _ids(connection: sqlite3.Connection, whole: ChatTree) -> dict[str, str]:
    """Return each message's id under its old one, and the chat's under ""."""
    own = [node.id for node in whole.messages]
    taken = _taken(connection, "chats", [whole.chat.id]) or _taken(connection, "messages", own)
    if taken:
        return {"": new_id(), **{id_: new_id() for id_ in own}}
    return {"": whole.chat.id, **{id_: id_ for id_ in own}}


def _taken(connection: sqlite3.Connection, table: str, ids: Iterable[str]) -> bool:
    return any(connection.execute(f"SELECT 1 FROM {table} WHERE id = ?", (id_,)).fetchone() for id_ in ids)
