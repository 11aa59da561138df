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
