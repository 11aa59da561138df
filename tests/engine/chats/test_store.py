import dataclasses
import sqlite3

import pytest

from engine.chats.store import ChatStore
from engine.core.errors import ChatNotFound


def titles(chats):
    return [chat.title for chat in chats]


def test_new_chat_is_listed_as_made(store, clock):
    chat = store.create_chat("Plans", "model-a", {"temperature": 0.2, "seed": None})
    assert store.chats() == [chat]
    assert store.chat(chat.id) == chat
    assert (chat.title, chat.model_id, chat.created_at, chat.updated_at) == ("Plans", "model-a", clock.now, clock.now)
    assert (chat.pinned, chat.deleted_at) == (False, None)
    assert store.chat_settings(chat.id) == {"temperature": 0.2, "seed": None}


def test_newest_activity_comes_first(store, clock):
    first, second, third = (store.create_chat(name) for name in ("first", "second", "third"))
    assert titles(store.chats()) == ["third", "second", "first"]
    clock.now += 10
    store.add_message(first.id, "user", "hello")
    clock.now += 10
    reply = store.begin_reply(second.id, None, "m")
    assert titles(store.chats()) == ["second", "first", "third"]
    clock.now += 10
    store.add_message(third.id, "user", "hello")
    clock.now += 10
    store.finish_reply(reply.id, "done", "complete")
    assert titles(store.chats()) == ["second", "third", "first"]
    assert store.chat(second.id).updated_at == clock.now


def test_renaming_and_choosing_a_model_are_no_activity(store, clock):
    old = store.create_chat("old")
    store.create_chat("new")
    clock.now += 10
    assert store.rename_chat(old.id, " better \n name ").title == "better name"
    store.set_chat_model(old.id, "model-b")
    store.set_chat_settings(old.id, {"top_k": 1})
    store.set_draft(old.id, "text")
    assert titles(store.chats()) == ["new", "better name"]
    assert store.chat(old.id).model_id == "model-b"


def test_first_user_message_titles_an_untitled_chat(store):
    chat = store.create_chat()
    store.add_message(chat.id, "system", "Be brief.")
    assert store.chat(chat.id).title == ""
    store.add_message(chat.id, "user", "**What** is the capital\nof France?")
    assert store.chat(chat.id).title == "What is the capital"
    store.add_message(chat.id, "user", "And of Spain?")
    assert store.chat(chat.id).title == "What is the capital"


def test_given_title_is_kept(store):
    chat = store.create_chat("Mine")
    store.add_message(chat.id, "user", "hello")
    assert store.chat(chat.id).title == "Mine"


def test_everything_is_there_after_a_restart(path, clock):
    with ChatStore(path, clock) as store:
        chat = store.create_chat("x", "m", {"seed": 3})
        message = store.add_message(chat.id, "user", "hello")
        store.set_draft(chat.id, "half a thought")
        store.set_draft(None, "a new idea")
        store.remember("last chat", chat.id)
    with ChatStore(path, clock) as store:
        assert store.messages(chat.id) == [message]
        assert store.draft(chat.id) == "half a thought"
        assert store.draft(None) == "a new idea"
        assert store.recall("last chat") == chat.id
        assert store.chat_settings(chat.id) == {"seed": 3}


def test_drafts_belong_to_their_chats(store):
    one, two = store.create_chat("one"), store.create_chat("two")
    assert (store.draft(one.id), store.draft(None)) == ("", "")
    store.set_draft(one.id, "for one")
    store.set_draft(None, "for none")
    assert (store.draft(one.id), store.draft(two.id), store.draft(None)) == ("for one", "", "for none")
    store.set_draft(one.id, "")
    assert store.draft(one.id) == ""


def test_recall_gives_the_default_until_something_is_remembered(store):
    assert (store.recall("key"), store.recall("key", "none")) == ("", "none")
    store.remember("key", "1")
    store.remember("key", "2")
    assert store.recall("key", "none") == "2"


def test_odd_text_comes_back_as_it_went_in(store):
    text = "nul \x00 bell \x07 cr \r\n rtl \u202eמזל\u202c 👩\u200d🚀 \u2028 \ufdd0 end"
    chat = store.create_chat(text)
    message = store.add_message(chat.id, "user", text)
    store.set_draft(chat.id, text)
    store.remember(text, text)
    assert store.chat(chat.id).title == text
    assert store.message(message.id).text == text
    assert store.draft(chat.id) == text
    assert store.recall(text) == text


def test_lone_surrogates_are_stored_as_replacement_characters(store):
    chat = store.create_chat("\ud800", "\ud800", {"system_prompt": "\ud800"})
    assert store.add_message(chat.id, "user", "a\udfffb").text == "a\ufffdb"
    reply = store.begin_reply(chat.id, None, "m\ud800")
    store.save_reply(reply.id, "\ud800", "\ud800")
    assert store.finish_reply(reply.id, "x\ud800", "complete", reasoning="\ud800").text == "x\ufffd"
    assert store.chat_settings(chat.id) == {"system_prompt": "\ufffd"}
    assert store.search("\ud800") != []


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.chat("nope"),
        lambda store: store.rename_chat("nope", "x"),
        lambda store: store.set_chat_model("nope", "x"),
        lambda store: store.chat_settings("nope"),
        lambda store: store.set_chat_settings("nope", {}),
        lambda store: store.delete_chat("nope"),
        lambda store: store.restore_chat("nope"),
        lambda store: store.messages("nope"),
        lambda store: store.add_message("nope", "user", "x"),
        lambda store: store.begin_reply("nope", None, "m"),
        lambda store: store.draft("nope"),
        lambda store: store.set_draft("nope", "x"),
        lambda store: store.read_chat("nope"),
        lambda store: store.message("nope"),
        lambda store: store.activate("nope"),
        lambda store: store.siblings("nope"),
        lambda store: store.save_reply("nope", "x"),
        lambda store: store.finish_reply("nope", "x", "complete"),
    ],
)
def test_unknown_id_is_told(store, call):
    with pytest.raises(ChatNotFound, match="nope"):
        call(store)


# -- the trash -------------------------------------------------------------------------------------------------------------


def test_deleted_chat_goes_to_the_trash_and_comes_back_whole(store, clock):
    chat = store.create_chat("gone")
    message = store.add_message(chat.id, "user", "hello")
    before = store.chat(chat.id)
    clock.now += 60
    store.delete_chat(chat.id)
    assert store.chats() == []
    assert store.trash() == [dataclasses.replace(before, deleted_at=clock.now)]
    with pytest.raises(ChatNotFound) as caught:
        store.chat(chat.id)
    assert "trash" in caught.value.hint
    clock.now += 60
    assert store.restore_chat(chat.id) == before
    assert (store.chats(), store.trash()) == ([before], [])
    assert store.messages(chat.id) == [message]


def test_deleting_twice_keeps_the_first_time(store, clock):
    chat = store.create_chat("gone")
    store.delete_chat(chat.id)
    deleted_at = clock.now
    clock.now += 60
    store.delete_chat(chat.id)
    assert store.trash()[0].deleted_at == deleted_at


def test_nothing_new_is_written_into_a_chat_in_the_trash(store):
    chat = store.create_chat("gone")
    store.delete_chat(chat.id)
    with pytest.raises(ChatNotFound):
        store.add_message(chat.id, "user", "x")
    with pytest.raises(ChatNotFound):
        store.begin_reply(chat.id, None, "m")


def test_reply_that_was_under_way_is_still_kept_in_the_trash(store):
    chat = store.create_chat("gone")
    reply = store.begin_reply(chat.id, None, "m")
    store.delete_chat(chat.id)
    store.save_reply(reply.id, "half")
    store.finish_reply(reply.id, "whole", "complete")
    store.restore_chat(chat.id)
    assert store.messages(chat.id)[0].text == "whole"


def test_emptying_the_trash_removes_only_what_is_old_enough(store, clock):
    old, young, kept = (store.create_chat(name) for name in ("old", "young", "kept"))
    store.delete_chat(old.id)
    clock.now += 100
    store.delete_chat(young.id)
    clock.now += 100
    assert store.empty_trash(older_than_s=150) == 1
    assert titles(store.trash()) == ["young"]
    assert store.empty_trash() == 1
    assert store.empty_trash() == 0
    assert (store.trash(), store.chats()) == ([], [kept])
    with pytest.raises(ChatNotFound):
        store.restore_chat(old.id)


def test_emptied_trash_leaves_no_word_behind_in_any_file(store, path):
    kept = store.create_chat("Kept")
    store.add_message(kept.id, "user", "something ordinary")
    chat = store.create_chat("Zanzibarquest")
    for number in range(30):
        store.add_message(chat.id, "user", f"Xylophonesecret {number} " * 400)
    reply = store.begin_reply(chat.id, None, "m")
    for number in range(5):
        store.save_reply(reply.id, "Xylophonesecret " * 500 * number, "Quartzsecret " * 300)
    store.set_draft(chat.id, "Xylophonesecret")
    store.delete_chat(chat.id)

    def files():
        return b"".join(file.read_bytes() for file in path.parent.iterdir()).lower()

    words = (b"xylophonesecret", b"zanzibarquest", b"quartzsecret")
    assert all(word in files() for word in words)
    assert store.empty_trash() == 1
    assert not any(word in files() for word in words)
    assert b"something ordinary" in files()
    assert [hit.chat_id for hit in store.search("ordinary")] == [kept.id]


def test_very_deep_chat_can_be_removed(store, path):
    chat = store.create_chat("deep")
    for number in range(1200):
        store.add_message(chat.id, "user", str(number))
    store.delete_chat(chat.id)
    assert store.empty_trash() == 1
    rows = sqlite3.connect(path)
    assert rows.execute("SELECT COUNT(*) FROM messages").fetchone() == (0,)
    assert rows.execute("SELECT COUNT(*) FROM message_index").fetchone() == (0,)
    rows.close()


def test_saving_into_a_removed_chat_is_told(store):
    chat = store.create_chat("gone")
    reply = store.begin_reply(chat.id, None, "m")
    store.delete_chat(chat.id)
    store.empty_trash()
    with pytest.raises(ChatNotFound):
        store.save_reply(reply.id, "x")
    with pytest.raises(ChatNotFound):
        store.finish_reply(reply.id, "x", "complete")


def test_removed_chats_are_listed_until_they_are_forgotten_everywhere(store, path, clock):
    first, second, kept = (store.create_chat(name) for name in ("first", "second", "kept"))
    assert store.removed_chats() == []
    store.delete_chat(first.id)
    store.empty_trash()
    store.delete_chat(second.id)
    store.empty_trash()
    store.empty_trash()
    with ChatStore(path, clock) as again:
        assert again.removed_chats() == [first.id, second.id]
    store.forget_removed([first.id])
    assert store.removed_chats() == [second.id]
    store.forget_removed([second.id])
    assert store.removed_chats() == []
    assert store.chats() == [kept]


# -- many at once ----------------------------------------------------------------------------------------------------------


def test_pinning_is_kept_and_is_no_activity(store, clock, path):
    one, two, three = (store.create_chat(name) for name in ("one", "two", "three"))
    clock.now += 10
    store.pin_chats([one.id, two.id], True)
    store.pin_chats([two.id], False)
    with ChatStore(path) as again:
        assert {chat.title: chat.pinned for chat in again.chats()} == {"one": True, "two": False, "three": False}
    assert store.chat(one.id).updated_at == one.updated_at
    assert three.id in {chat.id for chat in store.chats()}


@pytest.mark.parametrize("change", ["delete_chats", "restore_chats", "remove_chats", "pin_chats"])
def test_many_change_all_or_none(store, change):
    chat = store.create_chat("x")
    if change != "delete_chats":
        store.delete_chat(chat.id)
    before = (store.chats(), store.trash())
    arguments = ([chat.id, "nope"], True) if change == "pin_chats" else ([chat.id, "nope"],)
    with pytest.raises(ChatNotFound):
        getattr(store, change)(*arguments)
    assert (store.chats(), store.trash()) == before


def test_many_are_deleted_and_restored_together(store):
    chats = [store.create_chat(name) for name in ("one", "two", "three")]
    ids = [chat.id for chat in chats[:2]]
    store.delete_chats(ids)
    assert titles(store.chats()) == ["three"]
    assert {chat.id for chat in store.trash()} == set(ids)
    assert [chat.id for chat in store.restore_chats(ids)] == ids
    assert store.trash() == []


def test_only_what_is_in_the_trash_can_be_removed_for_good(store):
    kept, gone = store.create_chat("kept"), store.create_chat("gone")
    message = store.add_message(gone.id, "user", "needle")
    with pytest.raises(ChatNotFound):
        store.remove_chats([gone.id])
    store.delete_chats([kept.id, gone.id])
    store.remove_chats([gone.id])
    assert titles(store.trash()) == ["kept"]
    assert store.removed_chats() == [gone.id]
    with pytest.raises(ChatNotFound):
        store.message(message.id)


def test_what_was_said_since_is_read_alone(store, clock):
    one, two, three = (store.create_chat(name) for name in ("one", "two", "three"))
    since = clock.now + 5
    clock.now += 10
    store.add_message(two.id, "user", "hello")
    assert titles(store.chats_since(since)) == ["two"]
    assert titles(store.chats_since(since, one.id)) == ["two", "one"]
    store.delete_chat(two.id)
    assert titles(store.chats_since(since, three.id)) == ["three"]
