"""Full-text search over titles and messages: the index, and queries in which any text is safe."""

import contextlib
import re
import sqlite3
from collections.abc import Iterator, Sequence

from engine.chats.attachment import Attachment, names
from engine.chats.folding import fold, is_word, single, spaced
from engine.chats.records import SearchHit
from engine.chats.snippet import make_snippet
from engine.core.record import Record

TERMS = 16
TERM_CHARACTERS = 100
"""A pasted page is cut to so many words of such a length: more would not find anything else."""

_USUAL = {"automerge": 4, "crisismerge": 16}
"""When SQLite merges parts of the index by itself: its defaults."""
_NEVER = 1999

_TITLES = """SELECT chats.id, NULL, title, title, updated_at FROM {source} WHERE {condition} AND deleted_at IS NULL
    ORDER BY updated_at DESC, chats.row DESC LIMIT ?"""
_NAMES = "(SELECT char(10) || group_concat(name, char(10)) FROM attachments WHERE message = messages.row)"
_MESSAGES = """SELECT chats.id, messages.id, title, text || ifnull({names}, ''), messages.created_at FROM {source}
    WHERE {condition} AND deleted_at IS NULL AND messages.trashed_at IS NULL
    ORDER BY {order} DESC LIMIT ?"""


class Term(Record):
    """One word of a query: `words` in index form, empty where the index holds no such thing (then `literal` is looked for)."""

    words: str
    literal: str


def terms_of(query: str) -> tuple[Term, ...]:
    """Split what somebody typed at its spaces; each part must be found, as the beginning of a word or phrase."""
    terms: dict[str, Term] = {}
    for part in query.split():
        literal = part[:TERM_CHARACTERS]
        words = " ".join(_words(fold(literal)))
        terms.setdefault(words or literal, Term(words, literal))
    return tuple(terms.values())[:TERMS]


def index_title(connection: sqlite3.Connection, row: int, title: str) -> None:
    """Put a chat's title into the index, in place of an earlier one."""
    connection.execute("DELETE FROM title_index WHERE rowid = ?", (row,))
    connection.execute("INSERT INTO title_index (rowid, words) VALUES (?, ?)", (row, spaced(fold(title))))


def index_message(connection: sqlite3.Connection, row: int, text: str) -> None:
    """Put a message's text into the index, in place of an earlier one."""
    connection.execute("DELETE FROM message_index WHERE rowid = ?", (row,))
    connection.execute("INSERT INTO message_index (rowid, words) VALUES (?, ?)", (row, spaced(fold(text))))


def searched(text: str, attachments: Sequence[Attachment]) -> str:
    """Return what a message is found by: its own words, and the names of what is attached to it."""
    return f"{text}\n{names(attachments)}" if attachments else text


def remove_title(connection: sqlite3.Connection, row: int) -> None:
    """Take a chat's title out of the index."""
    connection.execute("DELETE FROM title_index WHERE rowid = ?", (row,))


def remove_messages(connection: sqlite3.Connection, rows: Sequence[int]) -> None:
    """Take messages out of the index."""
    # In this order: for each that is before the last one the index would begin a part of its own.
    connection.executemany("DELETE FROM message_index WHERE rowid = ?", ((row,) for row in sorted(rows)))


@contextlib.contextmanager
def unmerged(connection: sqlite3.Connection) -> Iterator[None]:
    """Put off the merges that SQLite would make of itself of what is changed inside: they take as long as they take.

    Until the index was merged whole, by `merge`, a deleted entry's words stay in the file.
    """
    _configure(connection, automerge=0, crisismerge=_NEVER)
    yield
    connection.execute("SAVEPOINT written")  # What was changed is written now, not with the transaction's end.
    connection.execute("RELEASE written")
    _configure(connection, **_USUAL)


def merge(connection: sqlite3.Connection, pages: int) -> bool:
    """Merge some pages of the index; return whether there may be more to do. A negative number has it merged whole by the
    calls that follow. https://www.sqlite.org/fts5.html#the_merge_command
    """
    more = False
    for table in ("title_index", "message_index"):
        before = connection.total_changes
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (pages,))
        more |= connection.total_changes - before >= 2
    return more


def _configure(connection: sqlite3.Connection, **values: int) -> None:
    connection.executemany("INSERT INTO message_index (message_index, rank) VALUES (?, ?)", values.items())


def search(connection: sqlite3.Connection, query: str, limit: int) -> list[SearchHit]:
    """Return up to `limit` places that hold every word of `query`: titles first, then messages, newest first."""
    terms = terms_of(query)
    if not terms or limit < 1:
        return []
    rows = _find(connection, "title", terms, limit)
    rows += _find(connection, "message", terms, limit - len(rows))
    needles = [_needle(term) for term in terms]
    hits = []
    for chat_id, message_id, title, text, created_at in rows:
        snippet, spans = make_snippet(text, needles)
        hits.append(SearchHit(chat_id, message_id, title, snippet, spans, created_at))
    return hits


def _find(
    connection: sqlite3.Connection, kind: str, terms: Sequence[Term], limit: int
) -> list[tuple[str, str | None, str, str, float]]:
    indexed = [f'"{term.words}" *' for term in terms if term.words]
    conditions: list[str] = []
    values: list[str | int] = []
    column = "title" if kind == "title" else "text"
    if indexed:
        conditions.append(f"{kind}_index MATCH ?")
        values.append(" AND ".join(indexed))
    for term in terms:
        if not term.words:
            conditions.append(f"instr({column}, ?) > 0")
            values.append(term.literal)
    join = f"{kind}_index CROSS JOIN" if indexed else ""
    on = f"ON {'chats' if kind == 'title' else 'messages'}.row = {kind}_index.rowid" if indexed else ""
    if kind == "title":
        statement = _TITLES.format(source=f"{join} chats {on}", condition=" AND ".join(conditions))
    else:
        statement = _MESSAGES.format(
            source=f"{join} messages {on} CROSS JOIN chats ON chats.row = messages.chat",
            condition=" AND ".join(conditions),
            # CROSS keeps the tables in that order. The index walks backwards by itself, so a word that is everywhere stops at
            # the limit instead of being sorted.
            names=_NAMES,
            order="message_index.rowid" if indexed else "messages.row",
        )
    return connection.execute(statement, (*values, limit)).fetchall()


def _words(folded: str) -> Iterator[str]:
    """Yield the index's words of a folded term; everything else (quotes, brackets, operators) is left out."""
    for chunk in spaced(folded).split():
        yield from "".join(character if is_word(character) else " " for character in chunk).split()


def _needle(term: Term) -> re.Pattern[str]:
    """Return the pattern that finds a term again in folded text, for the marks in a snippet."""
    words = term.words.split()
    if not words:
        return re.compile(re.escape(fold(term.literal)))
    between = r"(?:[^\w#+$]|_)*"
    start = "" if single().match(words[0]) else r"(?<![^\W_])"
    return re.compile(start + between.join(re.escape(word) for word in words))
