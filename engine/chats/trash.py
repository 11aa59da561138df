"""The trash: chats that were deleted, until they are restored or removed for good.

A chat that was given up has a negative `deleted_at`, from which the time it was deleted can be told, and exists for nobody any
more but `sweep`.
"""

import sqlite3
from collections.abc import Collection, Iterable, Mapping

from engine.chats.remembered import recall, remember

KEPT_DAYS = 30
"""How long a deleted chat stays in the trash."""

_REMOVED = "chats removed for good"
_TO_SWEEP = "something to sweep"
_TURNED = "-deleted_at - 1"
_BEGUN = "-9e999"


def put(connection: sqlite3.Connection, rows: Iterable[int], now: float) -> None:
    """Move chats to the trash; those that are there already keep their time."""
    connection.executemany("UPDATE chats SET deleted_at = ? WHERE row = ? AND deleted_at IS NULL", [(now, row) for row in rows])


def take_out(connection: sqlite3.Connection, rows: Iterable[int]) -> None:
    """Take chats out of the trash."""
    connection.executemany("UPDATE chats SET deleted_at = NULL WHERE row = ?", [(row,) for row in rows])


def deleted(connection: sqlite3.Connection, until: float | None = None) -> dict[int, str]:
    """Return the chats in the trash, ids by row: all, or those deleted at `until` or before."""
    condition = "deleted_at >= 0" + ("" if until is None else " AND deleted_at <= ?")
    return dict(
        connection.execute(f"SELECT row, id FROM chats WHERE {condition}", () if until is None else (until,)).fetchall()
    )


def give_up(connection: sqlite3.Connection, chats: Mapping[int, str], trimmed: Iterable[str] = ()) -> None:
    """Let chats in the trash (ids by row) be gone for everybody; `sweep` removes them from the file, after a crash too.

    They are noted as removed, as are those that lost messages alone.
    """
    connection.executemany(f"UPDATE chats SET deleted_at = {_TURNED} WHERE row = ?", ((row,) for row in chats))
    _write_removed(connection, dict.fromkeys((*removed(connection), *chats.values(), *trimmed)))
    remember(connection, _TO_SWEEP, "1")


def take_back(connection: sqlite3.Connection) -> None:
    """Put what was given up into the trash again, but for a chat of which something is gone already."""
    connection.execute(f"UPDATE chats SET deleted_at = {_TURNED} WHERE deleted_at < 0 AND deleted_at > {_BEGUN}")


def begin_next(connection: sqlite3.Connection) -> int | None:
    """Return the row of a chat that was given up and can't be put back from now on, one that was begun before; or None."""
    found = connection.execute("SELECT row FROM chats WHERE deleted_at < 0 ORDER BY deleted_at LIMIT 1").fetchone()
    if found is None:
        return None
    connection.execute(f"UPDATE chats SET deleted_at = {_BEGUN} WHERE row = ?", found)
    return int(found[0])


def count_given_up(connection: sqlite3.Connection) -> int:
    """Return how many chats were given up and are still in the file."""
    return int(connection.execute("SELECT COUNT(*) FROM chats WHERE deleted_at < 0").fetchone()[0])


def is_to_sweep(connection: sqlite3.Connection) -> bool:
    """Whether something that was given up may still be in the file, or its words in the search index."""
    return recall(connection, _TO_SWEEP) != ""


def note_swept(connection: sqlite3.Connection) -> None:
    """Note that nothing is left of what was given up."""
    connection.execute("DELETE FROM remembered WHERE key = ?", (_TO_SWEEP,))


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
