"""Removing what was given up from the file, a slice at a time: whoever else wants the database waits no longer than a frame."""

import contextlib
import sqlite3
import time
from collections.abc import Callable

from engine.chats import message_trash, search, trash
from engine.chats.database import Database
from engine.core.errors import FlintError, Stopped

MESSAGES, PAGES = 32, 16
"""What a slice removes, of as many chats as that is, or merges of the index, at most: some milliseconds' work."""
_REST_S = 0.001
"""Between two slices, or whoever waits for the database would seldom get it."""


def sweep(database: Database, told: Callable[[int, int], object]) -> None:
    """Remove what was given up, its words too: the search index is merged, freed pages are zeroed, the log is folded in.

    `told` gets, after each slice, how many chats are gone and how many there were; it may raise `Stopped`, and the rest is for
    the next time, as after a crash. Where something can't be removed, chats that were not begun are in the trash again.
    """
    done = total = 0

    def tell() -> None:
        time.sleep(_REST_S)
        told(done, total)

    try:
        while (ended := _remove_some(database)) is not None:
            done += ended
            total = done + _left(database)
            tell()
            while _merge(database, PAGES):
                tell()
        _merge(database, -PAGES)  # From here on it is merged whole.
        tell()
        while _merge(database, PAGES):
            tell()
    except Stopped:
        raise
    except BaseException:
        with contextlib.suppress(FlintError, sqlite3.Error), database.writing() as connection:
            trash.take_back(connection)
            message_trash.take_back(connection)
        raise
    _end(database)


def _remove_some(database: Database) -> int | None:
    """Remove a slice; return how many chats it was the last of, None where there was nothing to remove."""
    ended, room = 0, MESSAGES
    with database.writing() as connection, search.unmerged(connection):
        while room > 0:
            chat = trash.begin_next(connection)
            rows = message_trash.given_up(connection, room) if chat is None else _last_rows(connection, chat, room)
            if chat is None and not rows:
                break
            search.remove_messages(connection, rows)
            connection.executemany("DELETE FROM messages WHERE row = ?", ((row,) for row in rows))
            if chat is not None and len(rows) < room:
                search.remove_title(connection, chat)
                connection.execute("DELETE FROM chats WHERE row = ?", (chat,))
                ended += 1
            room -= len(rows) + 1  # A chat takes work of its own, too.
    return ended if room < MESSAGES else None


def _last_rows(connection: sqlite3.Connection, chat: int, most: int) -> list[int]:
    """Return a chat's last messages. None is before the one it follows, so that those left have all that is above them."""
    found = connection.execute("SELECT row FROM messages WHERE chat = ? ORDER BY row DESC LIMIT ?", (chat, most))
    return [row for (row,) in found.fetchall()]


def _left(database: Database) -> int:
    with database.reading() as connection:
        return trash.count_given_up(connection)


def _merge(database: Database, pages: int) -> bool:
    with database.writing() as connection:
        return search.merge(connection, pages)


def _end(database: Database) -> None:
    """Note that all is done, unless more was given up meanwhile."""
    with database.writing() as connection:
        if trash.count_given_up(connection) == 0 and not message_trash.given_up(connection, 1):
            trash.note_swept(connection)
    with database.reading() as connection:
        trash.fold_log(connection)
