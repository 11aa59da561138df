"""Small values that are kept across restarts, by key."""

import sqlite3


def remember(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Keep a value in place of an earlier one."""
    connection.execute("INSERT OR REPLACE INTO remembered (key, value) VALUES (?, ?)", (key, value))


def recall(connection: sqlite3.Connection, key: str, default: str = "") -> str:
    """Return what was kept, or `default`."""
    found = connection.execute("SELECT value FROM remembered WHERE key = ?", (key,)).fetchone()
    return default if found is None else str(found[0])
