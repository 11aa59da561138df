"""A summary is kept with its chat, stands for what it covers, and is passed on with the next request."""

import pytest

from engine.chats.request import compose, keep_summary
from engine.chats.store import ChatStore
from engine.chats.summary import Summary, read_summary, write_summary


@pytest.fixture
def store(tmp_path):
    with ChatStore(tmp_path / "chats.sqlite3") as store:
        yield store


def talk(store, *texts):
    chat = store.create_chat(settings={"temperature": 0.5})
    for index, text in enumerate(texts):
        if index % 2:
            reply = store.begin_reply(chat.id, store.messages(chat.id)[-1].id, "m")
            store.finish_reply(reply.id, text, "complete")
        else:
            store.add_message(chat.id, "user", text)
    return chat.id


def request(store, chat_id, **more):
    path = store.messages(chat_id)
    return compose(store, chat_id, path, request_id="r", model_id="m", app={"system_prompt": "Be brief."}, **more), path


def test_a_chat_without_a_summary_is_told_in_full(store):
    chat = talk(store, "one", "two", "three")
    made, _ = request(store, chat)
    assert [(turn.role, turn.text) for turn in made.messages] == [
        ("system", "Be brief."),
        ("user", "one"),
        ("assistant", "two"),
        ("user", "three"),
    ]
    assert (made.summary, made.chat_id, made.sampling.temperature) == ("", chat, 0.5)


def test_a_summary_takes_the_place_of_what_it_covers(store):
    chat = talk(store, "one", "two", "three", "four", "five")
    _, path = request(store, chat)
    kept = keep_summary(store, chat, path, "They counted.", 2)
    assert kept == Summary("They counted.", path[1].id)
    made, _ = request(store, chat)
    assert made.summary == "They counted."
    assert [turn.text for turn in made.messages] == ["Be brief.", "three", "four", "five"]


def test_a_second_summary_goes_on_from_the_first(store):
    chat = talk(store, "one", "two", "three", "four", "five")
    _, path = request(store, chat)
    keep_summary(store, chat, path, "first", 2)
    assert keep_summary(store, chat, path, "second", 2) == Summary("second", path[3].id)
    assert request(store, chat)[0].messages[-1].text == "five"


def test_a_summary_of_another_branch_counts_for_nothing(store):
    chat = talk(store, "one", "two", "three")
    write_summary(store, chat, Summary("elsewhere", "no-such-message"))
    made, _ = request(store, chat)
    assert (made.summary, len(made.messages)) == ("", 4)


def test_the_chats_settings_and_its_summary_leave_each_other_alone(store):
    chat = talk(store, "one")
    write_summary(store, chat, Summary("text", "id"))
    assert store.chat_settings(chat)["temperature"] == 0.5
    write_summary(store, chat, None)
    assert read_summary(store, chat) is None
    assert store.chat_settings(chat) == {"temperature": 0.5}


def test_a_damaged_summary_is_none(store):
    chat = talk(store, "one")
    store.set_chat_settings(chat, {"summary": {"text": 3}})
    assert read_summary(store, chat) is None


def test_what_is_given_for_a_run_goes_over_the_chat_and_the_app(store):
    chat = talk(store, "one")
    assert request(store, chat, given={"temperature": 0.0, "kv_bits": "8"})[0].sampling.temperature == 0.0
    assert request(store, chat, given={"kv_bits": "8"})[0].kv_bits == "8"
