"""Removing discarded chats a slice at a time: gone for everybody at once, whole or not begun whatever happens."""

import itertools
import signal
import sqlite3
import subprocess
import sys
import threading

import pytest

from engine.chats.export import export_json, import_json
from engine.chats.store import ChatStore
from engine.chats.sweep import MESSAGES
from engine.core.errors import ChatNotFound, Stopped

LONG = MESSAGES * 5 + 3


def fill(store, chats=6, messages=3, word="Xylophonesecret"):
    """Put chats into the trash; return their ids."""
    made = [store.create_chat(f"{word} {number}") for number in range(chats)]
    for chat in made:
        for number in range(messages):
            store.add_message(chat.id, "user", f"{word} {number} " * 20)
    store.delete_chats([chat.id for chat in made])
    return [chat.id for chat in made]


def rows(path, table="messages"):
    with sqlite3.connect(path) as connection:
        return connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]


def is_sound(path):
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        for table in ("title_index", "message_index"):
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")


def words(path):
    return b"".join(file.read_bytes() for file in path.parent.iterdir()).lower()


def test_what_was_discarded_exists_for_nobody_before_it_is_swept(store, path):
    kept = store.create_chat("Kept")
    (gone,) = fill(store, chats=1)
    store.restore_chat(gone)
    said = [one.text for one in store.messages(gone)]
    message = store.messages(gone)[0]
    export = export_json(store, [gone])
    store.delete_chat(gone)
    assert store.discard_trash() == 1
    assert ([chat.id for chat in store.chats()], store.trash(), store.trash_count()) == ([kept.id], [], 0)
    assert store.removed_chats() == [gone]
    asked = (
        lambda: store.chat(gone),
        lambda: store.messages(gone),
        lambda: store.message(message.id),
        lambda: store.restore_chat(gone),
        lambda: store.read_chat(gone),
        lambda: store.discard_chats([gone]),
        lambda: store.save_reply(message.id, "more"),
    )
    for ask in asked:
        with pytest.raises(ChatNotFound):
            ask()
    assert store.search("xylophonesecret") == []
    assert store.discard_trash() == 0
    (again,) = import_json(store, export)  # The same chat can come back from a file.
    assert [one.text for one in store.messages(again.id)] == said
    assert not store.is_swept()
    store.sweep()
    assert store.is_swept()
    assert rows(path, "chats") == 2


def test_messages_that_were_discarded_are_gone_and_their_chat_stays_as_it_is(store, path):
    chat = store.create_chat("Kept").id
    first, second, third = (store.add_message(chat, "user", f"Xylophonesecret {number}") for number in range(3))
    store.delete_message(second.id)
    store.discard_trash()
    for ask in (store.restore_message, store.message, store.delete_message):
        for message in (second, third):
            with pytest.raises(ChatNotFound):
                ask(message.id)
    assert store.trashed_messages() == store.trashed_messages(chat) == 0
    assert store.last_deleted_message(chat) is None
    assert [node.id for node in store.read_chat(chat).messages] == [first.id]
    store.sweep()
    assert rows(path) == 1
    assert [message.id for message in store.messages(chat)] == [first.id]


def test_others_use_the_store_between_slices_none_of_which_is_long(store, path):
    fill(store, chats=3, messages=LONG)
    kept = store.create_chat("Kept")
    told, left = [], [rows(path)]

    def look(done, total):
        told.append((done, total))
        left.append(rows(path))
        other = threading.Thread(target=lambda: store.add_message(kept.id, "user", "Hello"))
        other.start()
        other.join(timeout=30)
        assert not other.is_alive()

    store.discard_trash()
    store.sweep(look)
    assert len(store.messages(kept.id)) == len(told)
    assert max(before - after for before, after in itertools.pairwise(left)) <= MESSAGES
    assert told == sorted(told)
    assert told[-1] == (3, 3)


@pytest.mark.parametrize("moment", [1, 3, 8, 20])
def test_what_was_stopped_goes_on_the_next_time(store, path, moment):
    fill(store, chats=3, messages=LONG)
    moments = iter(range(1, 10_000))

    def stop(_done, _total):
        if next(moments) == moment:
            raise Stopped

    store.discard_trash()
    with pytest.raises(Stopped):
        store.sweep(stop)
    store.close()
    is_sound(path)
    with ChatStore(path) as again:
        assert again.trash() == []
        assert not again.is_swept()
        again.sweep()
        assert again.is_swept()
    assert rows(path, "chats") == rows(path) == 0
    assert b"xylophonesecret" not in words(path)


CHILD = """
import sys
from pathlib import Path
from engine.chats.store import ChatStore

store = ChatStore(Path(sys.argv[1]))
store.discard_trash()
print("discarded", flush=True)
store.sweep(lambda done, total: (print(done, total, flush=True), sys.stdin.readline()))
"""


@pytest.mark.parametrize("slices", [0, 1, 2, 7, 15, 30])
def test_killed_at_any_moment_it_is_finished_later_and_nothing_else_is_touched(store, path, slices):
    kept = store.create_chat("Kept")
    message = store.add_message(kept.id, "user", "something ordinary")
    fill(store, chats=4, messages=LONG)
    store.close()
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        child.stdout.readline()
        for _ in range(slices):
            child.stdin.write("\n")
            child.stdin.flush()
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    is_sound(path)
    with ChatStore(path) as again:
        assert [chat.id for chat in again.chats()] == [kept.id]
        assert again.trash() == []
        again.sweep()
        assert again.is_swept()
        assert again.messages(kept.id) == [message]
        assert [hit.chat_id for hit in again.search("ordinary")] == [kept.id]
    is_sound(path)
    assert rows(path) == 1
    assert b"xylophonesecret" not in words(path)


def test_what_can_not_be_removed_is_in_the_trash_again_unless_it_was_begun(store, path):
    chats = fill(store, chats=3, messages=LONG)
    chat = store.create_chat("Kept").id
    deleted = store.add_message(chat, "user", "Hello")
    store.delete_message(deleted.id)
    before = {one.id: one for one in store.trash()}
    count = iter(range(1000))

    def fail(_done, _total):
        if next(count) == 7:
            raise RuntimeError("no")

    store.discard_trash()
    with pytest.raises(RuntimeError):
        store.sweep(fail)
    back = {one.id: one for one in store.trash()}
    assert 0 < len(back) < len(chats)
    assert all(before[id_] == one for id_, one in back.items())
    for id_ in back:
        store.restore_chat(id_)
        assert len(store.messages(id_)) == LONG
    store.restore_message(deleted.id)
    assert not store.is_swept()
    store.sweep()
    assert sorted(one.id for one in store.chats()) == sorted([*back, chat])
    assert rows(path, "chats") == len(back) + 1


def test_what_is_discarded_meanwhile_is_swept_along_or_the_next_time(store):
    fill(store, chats=2)
    store.discard_trash()

    def more(done, _total):
        if done == 2 and not store.trash() and len(store.removed_chats()) == 2:
            fill(store, chats=3)
            store.discard_trash()

    store.sweep(more)
    store.sweep()
    assert store.is_swept()
    assert len(store.removed_chats()) == 5


def test_short_chats_share_a_slice(store, path):
    fill(store, chats=MESSAGES * 3, messages=1)
    done = []
    store.discard_trash()
    store.sweep(lambda count, _total: done.append(count))
    assert (done[-1], rows(path), rows(path, "chats")) == (MESSAGES * 3, 0, 0)
    steps = [after - before for before, after in itertools.pairwise([0, *done]) if after > before]
    assert max(steps) <= MESSAGES
    assert len(steps) <= 7  # With a slice for each there were 96.
