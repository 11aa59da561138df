"""The probabilities of replies' tokens in the database: one compressed row a reply that has them."""

import dataclasses
import json
import sqlite3
import zlib

from engine.core.codec import restore
from engine.core.odds import TokenOdds

_DIGITS = 4


def write(connection: sqlite3.Connection, message: int, odds: TokenOdds) -> None:
    """Keep the odds of the message in this row; figures with four decimals, which is finer than any shade."""
    values = dataclasses.asdict(odds)
    for name in ("logprobs", "other_logprobs"):
        values[name] = [round(figure, _DIGITS) for figure in values[name]]
    data = zlib.compress(json.dumps(values, separators=(",", ":")).encode())
    connection.execute("INSERT OR REPLACE INTO odds (message, data) VALUES (?, ?)", (message, data))


def read(connection: sqlite3.Connection, message: int) -> TokenOdds | None:
    """Return what was kept of a message; None where nothing was, or in a form that only a newer Flint knows."""
    found = connection.execute("SELECT data FROM odds WHERE message = ?", (message,)).fetchone()
    if found is None:
        return None
    try:
        odds: TokenOdds = restore(TokenOdds, json.loads(zlib.decompress(found[0])))
    except (zlib.error, ValueError, TypeError, KeyError):
        return None
    return odds
