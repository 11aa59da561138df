import contextlib
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest

from engine.chats.database import Database, storable
from engine.chats.schema import MIGRATIONS
from engine.chats.store import ACTIVE_LEAF, ChatStore
from engine.core.errors import DiskFull, FlintError, ReadOnly, StoreBroken, StoreBusy, StoreTooNew


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def filled(path, messages=200):
    """A store of some pages, closed: everything is in the one file."""
    with ChatStore(path) as store:
        chat = store.create_chat("Kept")
        for number in range(messages):
            store.add_message(chat.id, "user", f"message {number} " + "words " * 100)
        store.remember("key", "value")
    return chat


def fill(store, chat, kept):
    for number in range(10_000):
        kept.append(store.add_message(chat.id, "user", f"{number} " + "many words " * 300).id)


@contextlib.contextmanager
def mounted(folder, size):
    """A small file system of its own, for what only a mount can show."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_new_store_is_private(path):
    old = os.umask(0)
    try:
        with ChatStore(path) as store:
            store.create_chat("x")
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            assert sorted(contents(path.parent)) == ["chats.sqlite3", "chats.sqlite3-shm", "chats.sqlite3-wal"]
            assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    finally:
        os.umask(old)


def test_folder_and_file_that_others_could_read_become_private(path):
    filled(path, 1)
    path.parent.chmod(0o755)
    path.chmod(0o644)
    ChatStore(path).close()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_home_folder_itself_is_never_tightened(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    ChatStore(home / "chats.sqlite3").close()
    assert stat.S_IMODE(home.stat().st_mode) == 0o755


def test_closing_leaves_one_file_and_what_was_stored(path):
    chat = filled(path)
    assert list(contents(path.parent)) == ["chats.sqlite3"]
    with ChatStore(path) as store:
        assert len(store.messages(chat.id)) == 200
        assert store.recall("key") == "value"


def test_using_a_closed_store_says_so(path):
    store = ChatStore(path)
    store.close()
    store.close()
    with pytest.raises(FlintError, match="already closed"):
        store.chats()
    with pytest.raises(FlintError, match="already closed"):
        store.create_chat()


def test_newer_schema_is_refused_untouched(path):
    filled(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    assert list(contents(path.parent)) == ["chats.sqlite3"]
    before = contents(path.parent)
    with pytest.raises(StoreTooNew) as caught:
        ChatStore(path)
    assert "Update Flint" in caught.value.hint
    assert contents(path.parent) == before


def test_newer_schema_that_is_still_in_the_log_is_refused_untouched(path, tmp_path):
    store = ChatStore(path)
    store.create_chat("x")
    with contextlib.closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 99")
        crashed = tmp_path / "crashed"
        crashed.mkdir()
        for name in ("chats.sqlite3", "chats.sqlite3-wal"):
            shutil.copy(path.parent / name, crashed / name)
    store.close()
    before = contents(crashed)
    with pytest.raises(StoreTooNew):
        ChatStore(crashed / "chats.sqlite3")
    after = contents(crashed)
    after.pop("chats.sqlite3-shm", None)  # SQLite's own map of the log: it holds nothing of its own.
    assert after == before


def other_program(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.commit()


def overwrite(start, count=2000):
    def damage(path):
        filled(path)
        with path.open("r+b") as file:
            file.seek(start if start >= 0 else path.stat().st_size // 8192 * 4096)
            file.write(b"\xa5" * count)

    return damage


def cut(path):
    filled(path)
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_text("these are not chats, but a text of more than a hundred characters" * 4),
        lambda path: path.write_bytes(b"SQLite format 3\x00"),
        lambda path: path.write_bytes(b"\x00" * 8192),
        other_program,
        overwrite(0),
        overwrite(100),
        overwrite(4096),
        overwrite(-1),
        overwrite(-1, 100_000),
        cut,
    ],
    ids=["text", "short", "zeros", "foreign", "header", "schema", "first table", "middle", "big hole", "cut short"],
)
def test_broken_file_is_refused_untouched(path, make):
    path.parent.mkdir()
    make(path)
    before = contents(path.parent)
    with pytest.raises(StoreBroken) as caught:
        ChatStore(path)
    assert "left as it is" in caught.value.hint
    assert contents(path.parent) == before


def test_folder_in_the_place_of_the_file_is_refused(path):
    path.mkdir(parents=True)
    with pytest.raises(StoreBroken):
        ChatStore(path)


def test_log_without_its_database_is_never_deleted(path, tmp_path):
    store = ChatStore(path)
    store.create_chat("only in the log")
    log = (path.parent / "chats.sqlite3-wal").read_bytes()
    orphan = tmp_path / "orphan"
    orphan.mkdir()
    (orphan / "chats.sqlite3-wal").write_bytes(log)
    store.close()
    for start in (None, b""):
        if start is not None:
            (orphan / "chats.sqlite3").write_bytes(start)
        with pytest.raises(StoreBroken):
            ChatStore(orphan / "chats.sqlite3")
        assert (orphan / "chats.sqlite3-wal").read_bytes() == log


def test_damage_met_later_is_told(path, monkeypatch):
    monkeypatch.setattr("engine.chats.database._CHECKED_WHOLE_BYTES", 0)
    chat = filled(path, 400)
    with path.open("r+b") as file:
        for page in range(path.stat().st_size * 4 // 40960, path.stat().st_size * 6 // 40960):
            file.seek(page * 4096)
            file.write(b"\xa5" * 4096)
    with ChatStore(path) as store:
        with pytest.raises(StoreBroken):
            store.messages(chat.id)
        assert store.recall("key") == "value"


def test_big_file_that_was_cut_is_refused_untouched(path, monkeypatch):
    monkeypatch.setattr("engine.chats.database._CHECKED_WHOLE_BYTES", 0)
    filled(path)
    os.truncate(path, path.stat().st_size - 1)
    before = contents(path.parent)
    with pytest.raises(StoreBroken, match="cut short"):
        ChatStore(path)
    assert contents(path.parent) == before


def test_opening_waits_for_a_process_that_writes_without_a_log(path):
    filled(path, 1)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN IMMEDIATE")
    other.execute("INSERT INTO remembered VALUES ('other', 'process')")
    release = threading.Timer(0.2, lambda: other.execute("COMMIT"))
    release.start()
    with ChatStore(path) as store:
        assert store.recall("other") == "process"
    release.join()
    other.close()


def test_empty_file_is_a_new_store(path):
    path.parent.mkdir()
    path.touch()
    with ChatStore(path) as store:
        assert store.chats() == []


def test_path_with_spaces_and_other_letters_works(tmp_path):
    path = tmp_path / "Mein Ordner ü#?%41" / "chats 日本.sqlite3"
    chat = filled(path, 1)
    with ChatStore(path) as store:
        assert store.chat(chat.id).title == "Kept"
    assert path.is_file()


def test_read_only_file_system_is_told(tmp_path):
    with mounted(tmp_path / "disk", "4m") as disk:
        filled(disk / "data" / "chats.sqlite3", 3)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        before = contents(disk / "data")
        for path in (disk / "data" / "chats.sqlite3", disk / "new" / "chats.sqlite3", disk / "data" / "other.sqlite3"):
            with pytest.raises(ReadOnly) as caught:
                ChatStore(path)
            assert "FLINT_HOME" in caught.value.hint
        assert contents(disk / "data") == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder_is_told(path):
    filled(path, 1)
    path.parent.chmod(0o500)
    try:
        with pytest.raises(ReadOnly):
            ChatStore(path)
    finally:
        path.parent.chmod(0o700)


def test_full_disk_loses_nothing_that_was_stored(tmp_path):
    with mounted(tmp_path / "disk", "3m") as disk:
        path = disk / "chats.sqlite3"
        store = ChatStore(path)
        chat = store.create_chat("Full")
        reply = store.begin_reply(chat.id, ACTIVE_LEAF, "m")
        store.save_reply(reply.id, "so far")
        kept = [reply.id]
        with pytest.raises(DiskFull) as caught:
            fill(store, chat, kept)
        assert "space" in caught.value.hint
        assert len(kept) > 10
        with pytest.raises(DiskFull):
            store.save_reply(reply.id, "much more " * 100_000)
        assert [message.id for message in store.messages(chat.id)] == kept
        assert store.message(reply.id).text == "so far"
        store.close()

        (disk / "ballast").touch()
        with contextlib.suppress(OSError), (disk / "ballast").open("wb", buffering=0) as ballast:
            while True:
                ballast.write(b"x" * 4096)
        before = path.read_bytes()
        with pytest.raises(DiskFull), ChatStore(path) as full:
            full.set_draft(chat.id, "more " * 100_000)
        assert path.read_bytes() == before

        (disk / "ballast").unlink()
        with ChatStore(path) as store:
            assert [message.id for message in store.messages(chat.id)] == kept


def test_new_store_on_a_full_disk_is_told_and_can_be_made_later(tmp_path):
    with mounted(tmp_path / "disk", "64k") as disk:
        (disk / "ballast").write_bytes(b"x" * 48 * 1024)
        with pytest.raises(DiskFull):
            ChatStore(disk / "chats.sqlite3")
        (disk / "ballast").unlink()
        subprocess.run(["mount", "-o", "remount,size=4m", str(disk)], check=True)
        with ChatStore(disk / "chats.sqlite3") as store:
            assert store.chats() == []


def test_change_that_raises_is_undone_whole(path):
    database = Database(path)
    with pytest.raises(sqlite3.IntegrityError), database.writing() as connection:
        connection.executemany("INSERT INTO remembered VALUES (?, 'half made')", [("a",), ("b",), ("a",)])
    with database.reading() as connection:
        assert connection.execute("SELECT COUNT(*) FROM remembered").fetchone() == (0,)
    database.close()


def test_other_process_that_never_lets_go_is_told(path, monkeypatch):
    monkeypatch.setattr("engine.chats.database.BUSY_TIMEOUT_S", 0.05)
    with ChatStore(path) as store, contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            store.create_chat()
        assert store.chats() == []  # Reading goes on meanwhile.
        other.execute("ROLLBACK")
        assert store.create_chat("now").title == "now"


def test_many_threads_share_one_store(store):
    chat = store.create_chat("shared")
    errors = []

    def work(name):
        try:
            for number in range(20):
                store.add_message(chat.id, "user", f"{name} {number}")
                store.messages(chat.id)
                store.search(name)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(f"thread{name}",)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(store.messages(chat.id)) == 120


CREATE = """
import sys
from pathlib import Path
from engine.chats.store import ChatStore
sys.stdin.readline()
with ChatStore(Path(sys.argv[1])) as store:
    for number in range(20):
        store.create_chat(f"{sys.argv[2]} {number}")
"""


def test_processes_that_start_at_once_share_a_new_store(path):
    processes = [
        subprocess.Popen([sys.executable, "-c", CREATE, str(path), str(name)], stdin=subprocess.PIPE, text=True)
        for name in range(3)
    ]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0, 0, 0]
    with ChatStore(path) as store:
        assert len(store.chats()) == 60


def test_surrogates_never_reach_the_file():
    assert storable("plain é 👩") == "plain é 👩"
    assert storable("pair \ud83d\udc69") == "pair 👩"
    assert storable("lone \ud83d end") == "lone \ufffd end"
