"""The SQLite file under the chats: opening it without harm, one lock, and its complaints told as Flint's errors."""

import contextlib
import os
import shutil
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from engine.chats.schema import migrate, stored_version
from engine.core.disk import disk_errors, may_read
from engine.core.errors import DiskFull, FlintError, ReadOnly, StoreBroken, StoreBusy

BUSY_TIMEOUT_S = 5.0
_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_NEARLY_FULL_BYTES = 256 * 1024
_CHECKED_WHOLE_BYTES = 16 * 1024 * 1024


class Database:
    """One connection, usable from any thread: work happens inside `reading()` or `writing()`, which take turns.

    Opening raises `StoreTooNew` or `StoreBroken` with the file untouched, `ReadOnly`, `DiskFull` or `StoreBusy`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._closed = False
        _inspect(path)
        _prepare_private(path)
        with self._translating():
            self._connection = _connect(path)
        try:
            with self._translating():
                migrate(self._connection)
        except BaseException:
            self._connection.close()
            raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for reading; raise the store's errors."""
        with self._lock, self._translating():
            self._refuse_closed()
            yield self._connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection inside one transaction: committed at the end, undone whole when anything raises."""
        with self._lock, self._translating():
            self._refuse_closed()
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A full disk makes SQLite roll back by itself; a second ROLLBACK would then hide the reason.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._connection.close()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise FlintError("The chats were already closed.", "Start Flint again.")

    @contextlib.contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            told = _told(error, self.path)
            if told is None:
                raise
            raise told from error


def _inspect(path: Path) -> None:
    """Look at a database without changing a byte of it or leaving a file beside it.

    Raises `StoreTooNew` and `StoreBroken`.
    """
    try:
        _inspect_once(path, _size(_wal(path)))
    except StoreBroken:
        # Another process that just began to write can look like damage when its log is not taken into account.
        if _size(_wal(path)) == 0:
            raise
        _inspect_once(path, _size(_wal(path)))


def _inspect_once(path: Path, wal_bytes: int) -> None:
    if path.is_dir():
        raise StoreBroken(f"{path} is a folder, and Flint's chat database should be there.")
    if _size(path) == 0:
        if wal_bytes:
            # SQLite would take the log for a left-over and delete it.
            raise StoreBroken(
                f"The chat database {path.name} is gone or empty, but its log {path.name}-wal still holds changes."
            )
        return
    _check_header(path, wal_bytes)
    # Without a log, "immutable" makes SQLite read the bare file: no lock, no files beside it. With one, "ro" reads it along and
    # never folds it into the file.
    uri = f"{path.absolute().as_uri()}?mode=ro" + ("" if wal_bytes else "&immutable=1")
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S)) as connection:
            if stored_version(connection):
                _check_tables(connection, path)
    except sqlite3.Error as error:
        raise _told(error, path) or StoreBroken(f"The chat database {path.name} is damaged.") from error


def _check_header(path: Path, wal_bytes: int) -> None:
    with may_read(path), path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise StoreBroken(f"{path.name} is not a chat database, or its beginning is damaged.")
    # https://www.sqlite.org/fileformat.html: page size at 16 (1 means 65,536), pages at 28, which is true only where the
    # change counter at 24 equals the one at 92. A log may hold pages that the file lacks.
    page_bytes = int.from_bytes(header[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    pages = int.from_bytes(header[28:32], "big")
    if not wal_bytes and header[24:28] == header[92:96] and _size(path) < pages * page_bytes:
        raise StoreBroken(f"The chat database {path.name} was cut short.")


def _check_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Look for damage before anything is written: in every page of a small file, at both ends of each table of a big one.

    Damage deep in a big file is told when it is met. The search index is checked as the plain tables under it.
    """
    small = _size(path) <= _CHECKED_WHOLE_BYTES
    for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
        quoted = '"' + str(name).replace('"', '""') + '"'
        if str(sql).upper().startswith("CREATE VIRTUAL"):
            continue
        if small:
            found = connection.execute(f"PRAGMA quick_check({quoted})").fetchone()[0]
            if found != "ok":
                raise StoreBroken(f"The chat database {path.name} is damaged ({found}).")
        else:
            order = "" if "WITHOUT ROWID" in str(sql).upper() else "ORDER BY rowid DESC"
            connection.execute(f"SELECT * FROM {quoted} LIMIT 1").fetchall()
            connection.execute(f"SELECT * FROM {quoted} {order} LIMIT 1").fetchall()


def _prepare_private(path: Path) -> None:
    """Make the folder and the file, for their owner only. Raises `ReadOnly` and `DiskFull`."""
    with disk_errors(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _tighten(path.parent, 0o700)
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise ReadOnly(f"Flint may not write the chats to {path.parent}.")
        if path.exists() and not os.access(path, os.W_OK):
            raise ReadOnly(f"Flint may not write to {path}.", "Make the file writable, or set FLINT_HOME to another folder.")
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        _tighten(path, 0o600)


def _tighten(path: Path, mode: int) -> None:
    """Take away what others may do, where that is ours to decide: never on the home folder, what holds it, or a shared one."""
    found = path.stat()
    wide = stat.S_IMODE(found.st_mode) & 0o077
    shared = found.st_uid != os.geteuid() or found.st_mode & stat.S_ISVTX or Path.home().is_relative_to(path.absolute())
    if wide and not shared:
        with contextlib.suppress(OSError):  # A read-only or foreign file system: what follows says so where it matters.
            path.chmod(stat.S_IMODE(found.st_mode) & mode)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        _use_log(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        # What was deleted is overwritten with zeros: emptying the trash means it.
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        connection.close()
        raise
    return connection


def _use_log(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. SQLite does not wait for other processes in this one statement, so wait here."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _told(error: sqlite3.Error, path: Path) -> FlintError | None:
    """Return what a person should be told about an error of SQLite's, or None for a mistake of our own."""
    name = str(getattr(error, "sqlite_errorname", ""))
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy("Another Flint is busy writing the chats and did not finish in time.")
    if name in ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE") or (
        name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")) and _free_bytes(path) < _NEARLY_FULL_BYTES
    ):
        return DiskFull(
            f"The disk is full: the chats in {path.parent} could not be saved.",
            "Free some space, then try again. What was saved is safe.",
        )
    if name == "SQLITE_READONLY_DBMOVED":
        return StoreBroken(
            f"The chat database {path.name} was moved or deleted while Flint was using it.", "Start Flint again."
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_PERM")) or (
        name.startswith("SQLITE_CANTOPEN") and not os.access(path.parent, os.W_OK)
    ):
        return ReadOnly(f"Flint may not write the chats to {path.parent}.")
    if name.startswith(
        ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_FORMAT", "SQLITE_PROTOCOL")
    ):
        return StoreBroken(f"The chat database {path.name} is damaged ({error}).")
    return None


def _wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _size(path: Path) -> int:
    """Bytes of a file, 0 where there is none. Raises `ReadOnly` where the folder may not be looked into."""
    with may_read(path):
        try:
            return path.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return 0


def _free_bytes(path: Path) -> int:
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return _NEARLY_FULL_BYTES


def storable(text: str) -> str:
    """Return `text` as UTF-8 can hold it: surrogate pairs joined, lone surrogates replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
