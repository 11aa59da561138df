"""The chat database's layout, as ordered migrations: version n is reached by applying the first n of them."""

import sqlite3
from collections.abc import Sequence

from engine.core.errors import StoreBroken, StoreTooNew

APPLICATION_ID = 0x464C4E54
"""“FLNT” in the file's header: tells Flint's database from another program's."""

# The search index is given text that was folded and spaced beforehand (see folding.py), so its tokenizer only splits. Marks
# count as letters, or words of Indic scripts would fall apart; “#+$” make “C++”, “C#” and “$HOME” words that can be found.
_INDEX = (
    "USING fts5(words, tokenize = \"unicode61 remove_diacritics 0 categories 'L* N* M* Co' tokenchars '#+$'\", prefix = '1 2')"
)

_FIRST = (
    # active_root and active_child carry no foreign key on purpose: chats are only ever removed whole, and a key without an
    # index of its own would make removing a chat quadratic.
    """CREATE TABLE chats (
        row INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        pinned INTEGER NOT NULL DEFAULT 0,
        model_id TEXT NOT NULL,
        settings TEXT NOT NULL DEFAULT '{}',
        draft TEXT NOT NULL DEFAULT '',
        active_root INTEGER,
        deleted_at REAL
    )""",
    "CREATE INDEX chats_by_activity ON chats (updated_at DESC, row DESC)",
    # The owner is the process that writes a streaming reply: its id and when it started, since ids are used again.
    """CREATE TABLE messages (
        row INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        chat INTEGER NOT NULL REFERENCES chats (row),
        parent INTEGER REFERENCES messages (row) DEFERRABLE INITIALLY DEFERRED,
        active_child INTEGER,
        role TEXT NOT NULL,
        text TEXT NOT NULL,
        reasoning TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL,
        created_at REAL NOT NULL,
        model_id TEXT NOT NULL DEFAULT '',
        facts TEXT,
        error TEXT,
        owner_pid INTEGER,
        owner_started REAL
    )""",
    "CREATE INDEX messages_by_parent ON messages (chat, parent)",
    "CREATE INDEX messages_of_parent ON messages (parent)",
    "CREATE INDEX messages_streaming ON messages (state) WHERE state = 'streaming'",
    "CREATE TABLE remembered (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    f"CREATE VIRTUAL TABLE message_index {_INDEX}",
    f"CREATE VIRTUAL TABLE title_index {_INDEX}",
)

# A table of their own: a file's text is read only where it is wanted, and goes with its message or chat.
_ATTACHMENTS = (
    """CREATE TABLE attachments (
        row INTEGER PRIMARY KEY,
        message INTEGER NOT NULL REFERENCES messages (row) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        tokens INTEGER NOT NULL DEFAULT 0,
        text TEXT NOT NULL
    )""",
    "CREATE INDEX attachments_of_message ON attachments (message)",
    # Without a chat: what waits in the composer of the chat that is not made yet.
    """CREATE TABLE draft_attachments (
        row INTEGER PRIMARY KEY,
        chat INTEGER REFERENCES chats (row) ON DELETE CASCADE,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        tokens INTEGER NOT NULL DEFAULT 0,
        text TEXT NOT NULL
    )""",
    "CREATE INDEX attachments_of_draft ON draft_attachments (chat)",
)

# A deleted message stays, with when it was deleted and the message it was deleted with. The index answers what a message's
# living siblings are without reading their texts.
_MESSAGE_TRASH = (
    "ALTER TABLE messages ADD COLUMN trashed_at REAL",
    "ALTER TABLE messages ADD COLUMN trashed_with INTEGER",
    "ALTER TABLE messages ADD COLUMN edited INTEGER NOT NULL DEFAULT 0",
    "DROP INDEX messages_by_parent",
    "CREATE INDEX messages_by_parent ON messages (chat, parent, trashed_at)",
    "CREATE INDEX messages_in_trash ON messages (trashed_at) WHERE trashed_at IS NOT NULL",
)

# The probabilities of a reply's tokens, kept where somebody asked for them; see odds.py.
_ODDS = (
    """CREATE TABLE odds (
        message INTEGER PRIMARY KEY REFERENCES messages (row) ON DELETE CASCADE,
        data BLOB NOT NULL
    )""",
)

_FOLDERS = (
    """CREATE TABLE folders (
        row INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        created_at REAL NOT NULL,
        expanded INTEGER NOT NULL DEFAULT 1
    )""",
    "ALTER TABLE chats ADD COLUMN folder INTEGER REFERENCES folders (row)",
    "CREATE INDEX chats_of_folder ON chats (folder) WHERE folder IS NOT NULL",
)

# A reply's tokens once counted the one that ends the turn here, and nowhere else.
_TOKENS = (
    """UPDATE messages SET facts = json_set(facts, '$.output_tokens', json_array_length(facts, '$.output_ids'))
        WHERE CASE WHEN json_valid(facts) THEN json_array_length(facts, '$.output_ids') > 0 END""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _ATTACHMENTS, _MESSAGE_TRASH, _ODDS, _FOLDERS, _TOKENS)
"""Each entry's statements bring the database one version on. Entries that were released are never changed."""


def stored_version(connection: sqlite3.Connection, newest: int = len(MIGRATIONS)) -> int:
    """Return the schema version of an open database, 0 for an empty one.

    Raises `StoreTooNew` above `newest`, and `StoreBroken` for a database that is not Flint's.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > newest:
        raise StoreTooNew(f"The chats were written by a newer Flint (format {version}; this one knows up to {newest}).")
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    occupied = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0] > 0
    if version < 0 or (occupied and (version == 0 or application != APPLICATION_ID)):
        raise StoreBroken("The chat database's file is a database, but not Flint's.")
    return version if occupied else 0


def migrate(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> int:
    """Bring an open database to the newest version, all or nothing, and return how many migrations that took.

    Two processes may open a new database at once: the version is read again inside the transaction, so one of them does it.
    """
    if stored_version(connection, len(migrations)) == len(migrations):
        return 0
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = stored_version(connection, len(migrations))
        for statements in migrations[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return len(migrations) - version
