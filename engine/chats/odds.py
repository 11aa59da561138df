"""The probabilities of replies' tokens in the database: one compressed row a reply that has them."""

import dataclasses
import json
import sqlite3
import zlib
from typing import Any

from engine.core.odds import TokenOdds

_DIGITS = 4
_PARALLEL = ("ids", "pieces", "logprobs", "other_ids", "other_logprobs", "known_ids", "texts")


def write(connection: sqlite3.Connection, message: int, odds: TokenOdds) -> None:
    """Keep the odds of the message in this row; figures with four decimals, which is finer than any shade."""
    values = dataclasses.asdict(odds)
    for name in ("logprobs", "other_logprobs"):
        values[name] = [round(figure, _DIGITS) for figure in values[name]]
    data = zlib.compress(json.dumps(values, separators=(",", ":")).encode(), level=1)  # Small enough, and at once.
    connection.execute("INSERT OR REPLACE INTO odds (message, data) VALUES (?, ?)", (message, data))


def stored(connection: sqlite3.Connection, message: int) -> bytes | None:
    """Return what was kept of a message, for `read`; None where nothing was."""
    found = connection.execute("SELECT data FROM odds WHERE message = ?", (message,)).fetchone()
    return None if found is None else found[0]


def read(data: bytes) -> TokenOdds | None:
    """Return what was kept; None where it is in a form that only a newer Flint knows."""
    try:
        values = _fields(zlib.decompress(data).decode())
        # By hand: `codec.restore` looks at each of what may be hundreds of thousands of figures.
        odds = TokenOdds(values.pop("count"), **{name: tuple(values[name]) for name in _PARALLEL})
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError, IndexError):
        return None
    return odds if _fits(odds) else None


def _fields(text: str) -> dict[str, Any]:
    """Return the fields of what `write` wrote, one after the other: read in one go, no other thread would run meanwhile."""
    decode = json.JSONDecoder().raw_decode
    values, place = {}, 1
    while text[place - 1] in "{,":
        key, place = decode(text, place)
        values[key], place = decode(text, place + 1)
        place += 1
    return values


def _fits(odds: TokenOdds) -> bool:
    """Whether there is as much of everything as there are tokens."""
    tokens = len(odds.ids)
    others = tokens * odds.count
    found = (len(odds.pieces), len(odds.logprobs), len(odds.other_ids), len(odds.other_logprobs), len(odds.texts))
    return found == (tokens, tokens, others, others, len(odds.known_ids))
