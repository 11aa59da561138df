"""Replies changed by people: put in other words beside the first, or taken up again where they were cut."""

import sqlite3

from engine.chats import search, tree
from engine.chats.database import storable
from engine.chats.owner import Owner
from engine.chats.records import new_id
from engine.core.errors import UsageError


def edit_reply(connection: sqlite3.Connection, place: tree.Place, text: str, now: float) -> int:
    """Write a reply in other words beside it and return the new row: marked as edited, without what was measured of the first.

    Raises `UsageError` for a message that is no finished reply.
    """
    role, state, model_id, reasoning = connection.execute(
        "SELECT role, state, model_id, reasoning FROM messages WHERE row = ?", (place.row,)
    ).fetchone()
    if role != "assistant" or state == "streaming":
        raise UsageError("Only a finished reply can be put in other words.", "Wait for the reply or stop it first.")
    message = tree.NewMessage(new_id(), role, storable(text), "complete", now, model_id, reasoning, edited=True)
    row = tree.insert(connection, place.chat, place.parent, message)
    connection.execute("UPDATE chats SET updated_at = ? WHERE row = ?", (now, place.chat))
    search.index_message(connection, row, storable(text))
    tree.make_active(connection, row)
    return row


def resume_reply(connection: sqlite3.Connection, place: tree.Place, owner: Owner) -> None:
    """Let a process write on at a reply: what it holds stays. Raises `UsageError` where nothing can be added to it."""
    (below,) = connection.execute(
        "SELECT COUNT(*) FROM messages WHERE parent = ? AND trashed_at IS NULL", (place.row,)
    ).fetchone()
    role, state = connection.execute("SELECT role, state FROM messages WHERE row = ?", (place.row,)).fetchone()
    if role != "assistant" or state == "streaming" or below:
        raise UsageError(
            "Only a finished reply that nothing follows can go on.", "Choose the last reply of a branch, once it has ended."
        )
    connection.execute(
        "UPDATE messages SET state = 'streaming', owner_pid = ?, owner_started = ? WHERE row = ?",
        (owner.pid, owner.started, place.row),
    )
    tree.make_active(connection, place.row)
