"""The trash: chats that were deleted, until they are restored or removed for good."""

import sqlite3
from collections.abc import Collection, Iterable

from engine.chats import search
from engine.chats.remembered import recall, remember

KEPT_DAYS = 30
"""How long a deleted chat stays in the trash."""

_REMOVED = "chats removed for good"


def put(connection: sqlite3.Connection, rows: Iterable[int], now: float) -> None:
    """Move chats to the trash; those that are there already keep their time."""
    connection.executemany("UPDATE chats SET deleted_at = ? WHERE row = ? AND deleted_at IS NULL", [(now, row) for row in rows])


def take_out(connection: sqlite3.Connection, rows: Iterable[int]) -> None:
    """Take chats out of the trash."""
    connection.executemany("UPDATE chats SET deleted_at = NULL WHERE row = ?", [(row,) for row in rows])


def deleted(connection: sqlite3.Connection, until: float | None = None) -> dict[int, str]:
    """Return the chats in the trash, ids by row: all, or those deleted at `until` or before."""
    condition = "deleted_at IS NOT NULL" + ("" if until is None else " AND deleted_at <= ?")
    return dict(
        connection.execute(f"SELECT row, id FROM chats WHERE {condition}", () if until is None else (until,)).fetchall()
    )


def remove(connection: sqlite3.Connection, chats: dict[int, str], trimmed: Iterable[str] = ()) -> None:
    """Remove chats (ids by row) with their messages for good, and note them as removed, as those that lost messages alone.

    Their words leave the file too: the search index is merged, freed pages are zeroed; `fold_log` does the rest.
    """
    search.remove_chats(connection, list(chats))
    for row in chats:
        connection.execute("DELETE FROM messages WHERE chat = ?", (row,))
        connection.execute("DELETE FROM chats WHERE row = ?", (row,))
    _write_removed(connection, dict.fromkeys((*removed(connection), *chats.values(), *trimmed)))


def fold_log(connection: sqlite3.Connection) -> None:
    """Fold the log into the file, outside a transaction; later where another process reads at this moment."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def removed(connection: sqlite3.Connection) -> list[str]:
    """Return the ids of chats that are gone for good, but perhaps not yet from what the engine remembers."""
    return recall(connection, _REMOVED).split()


def forget_removed(connection: sqlite3.Connection, chat_ids: Collection[str]) -> None:
    """Drop these from `removed`."""
    _write_removed(connection, [id_ for id_ in removed(connection) if id_ not in chat_ids])


def _write_removed(connection: sqlite3.Connection, chat_ids: Iterable[str]) -> None:
    remember(connection, _REMOVED, " ".join(chat_ids))
