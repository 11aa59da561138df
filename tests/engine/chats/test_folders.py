import sqlite3

import pytest

from engine.chats.export import export_json, import_json
from engine.chats.schema import MIGRATIONS, migrate
from engine.chats.store import ChatStore
from engine.core.errors import ChatNotFound


def names(store):
    return [folder.name for folder in store.folders.all()]


def inside(store, folder):
    return {chat.title for chat in store.chats() if chat.folder_id == folder.id}


@pytest.fixture
def work(store):
    return store.folders.create("Work")


def test_folders_are_listed_by_name(store):
    for name in ("thesis", "Work", "Archive"):
        store.folders.create(name)
    assert names(store) == ["Archive", "thesis", "Work"]


def test_folder_without_a_name_gets_a_free_one(store):
    store.folders.create()
    store.folders.create()
    store.folders.create("new folder 3")
    store.folders.create()
    assert names(store) == ["New Folder", "New Folder 2", "new folder 3", "New Folder 4"]


def test_folder_keeps_name_and_state_across_a_restart(path, store, work):
    store.folders.rename(work.id, "  Paid   work ")
    store.folders.expand(work.id, False)
    with ChatStore(path) as again:
        (folder,) = again.folders.all()
    assert (folder.id, folder.name, folder.expanded) == (work.id, "Paid work", False)


def test_empty_name_changes_nothing(store, work):
    store.folders.rename(work.id, " \n ")
    assert names(store) == ["Work"]


def test_chats_move_in_and_out(store, work):
    one, two = store.create_chat("one"), store.create_chat("two")
    store.folders.move([one.id, two.id], work.id)
    assert inside(store, work) == {"one", "two"}
    store.folders.move([one.id], None)
    assert inside(store, work) == {"two"}
    assert store.chat(one.id).folder_id is None


def test_moving_is_no_activity(store, work, clock):
    chat = store.create_chat("x")
    clock.now += 10
    store.folders.move([chat.id], work.id)
    assert store.chat(chat.id).updated_at == chat.updated_at


def test_move_with_a_chat_that_is_gone_moves_none(store, work):
    chat = store.create_chat("x")
    with pytest.raises(ChatNotFound):
        store.folders.move([chat.id, "nope"], work.id)
    assert inside(store, work) == set()


def test_removed_folder_leaves_its_chats_and_comes_back_with_them(store, work):
    one, two, three = (store.create_chat(name) for name in ("one", "two", "three"))
    store.folders.move([one.id, two.id, three.id], work.id)
    store.delete_chat(three.id)
    removed = store.folders.remove(work.id)
    assert names(store) == []
    assert {chat.title for chat in store.chats()} == {"one", "two"}
    other = store.folders.create("Other")
    store.folders.move([two.id], other.id)
    store.folders.restore(removed)
    assert names(store) == ["Other", "Work"]
    assert inside(store, work) == {"one"}
    assert inside(store, other) == {"two"}
    assert store.restore_chat(three.id).folder_id == work.id


def test_chat_removed_for_good_is_not_missed_by_the_folder_that_comes_back(store, work):
    chat = store.create_chat("x")
    store.folders.move([chat.id], work.id)
    removed = store.folders.remove(work.id)
    store.delete_chat(chat.id)
    store.empty_trash()
    store.folders.restore(removed)
    assert inside(store, work) == set()


def test_a_restored_chat_is_in_its_folder_again(store, work):
    chat = store.create_chat("x")
    store.folders.move([chat.id], work.id)
    store.delete_chat(chat.id)
    assert store.restore_chat(chat.id).folder_id == work.id


@pytest.mark.parametrize("change", ["rename", "expand", "remove", "move"])
def test_a_folder_that_is_gone_is_told(store, work, change):
    store.folders.remove(work.id)
    chat = store.create_chat("x")
    calls = {
        "rename": lambda: store.folders.rename(work.id, "x"),
        "expand": lambda: store.folders.expand(work.id, True),
        "remove": lambda: store.folders.remove(work.id),
        "move": lambda: store.folders.move([chat.id], work.id),
    }
    with pytest.raises(ChatNotFound):
        calls[change]()


def test_imported_chat_joins_the_folder_that_is_there_already(store, work):
    chat = store.create_chat("x")
    store.folders.move([chat.id], work.id)
    text = export_json(store, [chat.id])
    store.folders.rename(work.id, "Better name")
    (copy,) = import_json(store, text)
    assert names(store) == ["Better name"]
    assert copy.folder_id == work.id


def test_database_of_before_folders_opens_with_its_chats_outside_any(path):
    path.parent.mkdir()
    before = sqlite3.connect(path, isolation_level=None)
    migrate(before, MIGRATIONS[:1])
    before.execute("INSERT INTO chats (id, title, created_at, updated_at, model_id) VALUES ('a', 'Old', 1, 2, 'm')")
    before.close()
    with ChatStore(path) as store:
        (chat,) = store.chats()
        assert (chat.title, chat.folder_id) == ("Old", None)
        store.folders.move(["a"], store.folders.create("Work").id)
        assert store.chat("a").folder_id is not None
