import json
import sqlite3

import pytest

from engine.chats.schema import APPLICATION_ID, MIGRATIONS, migrate, stored_version
from engine.core.errors import StoreBroken, StoreTooNew


@pytest.fixture
def connection():
    opened = sqlite3.connect(":memory:", isolation_level=None)
    yield opened
    opened.close()


def tables(connection):
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_new_database_gets_every_migration_once(connection):
    assert migrate(connection) == len(MIGRATIONS)
    assert {"chats", "messages", "remembered"} <= tables(connection)
    assert migrate(connection) == 0


def test_later_migration_keeps_what_is_stored(connection):
    migrate(connection)
    connection.execute("INSERT INTO remembered VALUES ('key', 'value')")
    later = (*MIGRATIONS, ("ALTER TABLE chats ADD COLUMN mood TEXT NOT NULL DEFAULT ''",))
    assert migrate(connection, later) == 1
    assert connection.execute("SELECT value FROM remembered").fetchone() == ("value",)
    assert stored_version(connection, len(later)) == len(later)


@pytest.mark.parametrize(
    ("stored", "tokens"),
    [
        ('{"output_tokens": 21, "output_ids": [4, 5, 6], "new": 1.50}', 3),
        ('{"output_tokens": 80, "output_ids": []}', 80),
        ('{"output_tokens": 80}', 80),
        ("no JSON", None),
        (None, None),
    ],
)
def test_a_stored_reply_counts_the_tokens_that_were_written_and_nothing_else_of_it_changes(connection, stored, tokens):
    migrate(connection, MIGRATIONS[:5])
    connection.execute("INSERT INTO chats (id, title, created_at, updated_at, model_id) VALUES ('c', '', 0, 0, 'm')")
    connection.execute(
        "INSERT INTO messages (id, chat, role, text, state, created_at, facts) VALUES ('r', 1, 'assistant', '', '', 0, ?)",
        (stored,),
    )
    migrate(connection)
    (kept,) = connection.execute("SELECT facts FROM messages").fetchone()
    assert kept == stored if tokens is None else json.loads(kept) == {**json.loads(stored), "output_tokens": tokens}


def test_failing_migration_is_undone_whole(connection):
    migrate(connection)
    bad = (*MIGRATIONS, ("CREATE TABLE extra (x)", "CREATE TABLE extra (x)"))
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, bad)
    assert "extra" not in tables(connection)
    assert stored_version(connection) == len(MIGRATIONS)


def test_newer_version_is_refused(connection):
    migrate(connection)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(StoreTooNew):
        migrate(connection)


def test_database_of_another_program_is_refused(connection):
    connection.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreBroken):
        stored_version(connection)
    connection.execute("PRAGMA user_version = 1")
    with pytest.raises(StoreBroken):
        stored_version(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    assert stored_version(connection) == 1
