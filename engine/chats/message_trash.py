"""The trash inside a chat: messages that were deleted with all that followed them, until they are removed for good.

What is deleted at once carries the row of the message it was deleted with, so that an undo brings back exactly that. A deleted
message never has a living one below it.
"""

import sqlite3

from engine.chats import tree
from engine.core.errors import ChatNotFound

_TURNED = "-trashed_at - 1"
_BELOW = """WITH RECURSIVE below (row) AS (
    SELECT ? UNION ALL SELECT messages.row FROM below JOIN messages ON messages.parent = below.row) SELECT row FROM below"""


def delete(connection: sqlite3.Connection, place: tree.Place, now: float) -> int:
    """Move a message and all below it to its chat's trash; return how many went. A sibling, if any, takes its place."""
    went = connection.execute(
        f"UPDATE messages SET trashed_at = ?, trashed_with = ? WHERE trashed_at IS NULL AND row IN ({_BELOW})",
        (now, place.row, place.row),
    ).rowcount
    if went:
        _lead_to(connection, place, _neighbour(connection, place), only_from=place.row)
    return went


def restore(connection: sqlite3.Connection, place: tree.Place, *, activate: bool) -> list[str]:
    """Bring a deleted message back with all that was deleted with it, and whatever above it is in the trash, too.

    `activate` shows it. Where nothing else stands in its place it is shown in any case. Returns the messages that had been
    deleted and brought what follows them along.
    """
    deleted: list[str] = []
    above: int | None = place.row
    while above is not None:
        row, parent, root, chat = connection.execute(
            "SELECT row, parent, trashed_with, chat FROM messages WHERE row = ?", (above,)
        ).fetchone()
        if root is not None:
            deleted.append(str(connection.execute("SELECT id FROM messages WHERE row = ?", (root,)).fetchone()[0]))
            connection.execute(
                "UPDATE messages SET trashed_at = NULL, trashed_with = NULL WHERE chat = ? AND trashed_with = ?", (chat, root)
            )
        elif row != place.row:
            break  # Nothing above a living message is in the trash.
        _lead_to(connection, tree.Place(row, chat, parent), row, only_from=None)
        above = parent
    if activate:
        tree.make_active(connection, place.row)
    return deleted


def is_trashed(connection: sqlite3.Connection, row: int) -> bool:
    """Return whether a message is in its chat's trash."""
    return bool(connection.execute("SELECT trashed_at IS NOT NULL FROM messages WHERE row = ?", (row,)).fetchone()[0])


def insist_living(connection: sqlite3.Connection, row: int) -> None:
    """Raise `ChatNotFound` for a message in its chat's trash."""
    if is_trashed(connection, row):
        raise ChatNotFound("This message was deleted.", "Undo that first, or go on from another message.")


def count(connection: sqlite3.Connection, chat: int | None) -> int:
    """Return how many messages are in a chat's trash, or with None in those of all chats that are not in the trash."""
    living = " AND chat IN (SELECT row FROM chats WHERE deleted_at IS NULL)"
    of_chat, values = (living, ()) if chat is None else (" AND chat = ?", (chat,))
    found = connection.execute(f"SELECT COUNT(*) FROM messages WHERE trashed_at >= 0{of_chat}", values).fetchone()
    return int(found[0])


def newest(connection: sqlite3.Connection, chat: int) -> str | None:
    """Return the message that was deleted last in a chat, of those that were deleted with it the first."""
    found = connection.execute(
        """SELECT id FROM messages WHERE chat = ? AND trashed_with = row AND trashed_at >= 0
        ORDER BY trashed_at DESC, row DESC LIMIT 1""",
        (chat,),
    ).fetchone()
    return None if found is None else str(found[0])


def give_up(connection: sqlite3.Connection, until: float) -> list[str]:
    """Let what was deleted up to a time, and all below it, be gone for everybody, as `trash.give_up` does with chats.

    Returns the ids of the chats it was in.
    """
    found = connection.execute(
        """WITH RECURSIVE going (row, chat) AS (
            SELECT row, chat FROM messages WHERE trashed_at BETWEEN 0 AND ?
            UNION SELECT messages.row, messages.chat FROM going JOIN messages ON messages.parent = going.row)
        SELECT going.row, chats.id FROM going JOIN chats ON chats.row = going.chat""",
        (until,),
    ).fetchall()
    connection.executemany(f"UPDATE messages SET trashed_at = {_TURNED} WHERE row = ?", ((row,) for row, _ in found))
    return list(dict.fromkeys(chat for _, chat in found))


def take_back(connection: sqlite3.Connection) -> None:
    """Put what was given up into the trash again."""
    connection.execute(f"UPDATE messages SET trashed_at = {_TURNED} WHERE trashed_at < 0")


def given_up(connection: sqlite3.Connection, most: int) -> list[int]:
    """Return the rows of messages that were given up, `most` of them: none before the one it follows."""
    found = connection.execute("SELECT row FROM messages WHERE trashed_at < 0 ORDER BY row DESC LIMIT ?", (most,))
    return [row for (row,) in found.fetchall()]


def _neighbour(connection: sqlite3.Connection, place: tree.Place) -> int | None:
    """Return the living sibling that takes a message's place: the one before it, else the one after."""
    for order, side in (("DESC", "<"), ("ASC", ">")):
        found = connection.execute(
            f"SELECT row FROM messages WHERE chat = ? AND parent IS ? AND trashed_at IS NULL AND row {side} ?"
            f" ORDER BY row {order} LIMIT 1",
            (place.chat, place.parent, place.row),
        ).fetchone()
        if found:
            return int(found[0])
    return None


def _lead_to(connection: sqlite3.Connection, place: tree.Place, row: int | None, *, only_from: int | None) -> None:
    """Let what is above `place` lead to `row` where it leads to `only_from` now."""
    if place.parent is None:
        table, column, above = "chats", "active_root", place.chat
    else:
        table, column, above = "messages", "active_child", place.parent
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE row = ? AND {column} IS ?", (row, above, only_from))
