"""A chat made of the path to a message of another."""

import pytest

from engine.chats.attachment import Attachment
from engine.chats.fork import fork, fork_title
from engine.chats.summary import Summary, read_summary, write_summary
from tests.engine.chats.samples import FACTS


@pytest.fixture
def chat(store):
    made = store.create_chat("Letter", "m", {"temperature": 0.5, "newer": [1]})
    one = store.add_message(made.id, "user", "a", attachments=[Attachment("a.txt", "file", "words")])
    two = store.finish_reply(store.begin_reply(made.id, one.id, "m").id, "b", "complete", FACTS, reasoning="hm")
    store.add_message(made.id, "user", "c")
    store.finish_reply(store.begin_reply(made.id, one.id, "m").id, "B", "complete")
    return made, one, two


def test_a_fork_holds_the_path_with_all_that_belongs_to_it(store, chat):
    made, _, two = chat
    new = fork(store, two.id)
    assert (new.title, new.model_id, new.pinned) == ("Letter (fork)", "m", False)
    assert new.id != made.id
    assert store.chats()[0].id == new.id
    first, second = store.messages(new.id)
    assert (first.text, second.text, second.facts, second.reasoning) == ("a", "b", FACTS, "hm")
    assert first.attachments[0].text == "words"
    assert (second.sibling_count, second.model_id) == (1, "m")
    assert store.chat_settings(new.id) == {"temperature": 0.5, "newer": [1]}
    assert [message.text for message in store.messages(made.id)] == ["a", "B"]


def test_a_summary_goes_along_where_its_last_message_does(store, chat):
    made, one, two = chat
    write_summary(store, made.id, Summary("in short", two.id))
    new = fork(store, two.id)
    assert read_summary(store, new.id) == Summary("in short", store.messages(new.id)[1].id)
    assert read_summary(store, fork(store, one.id).id) is None


def test_forks_are_numbered():
    assert fork_title("Letter") == "Letter (fork)"
    assert fork_title("Letter (fork)") == "Letter (fork 2)"
    assert fork_title("Letter (fork 9)") == "Letter (fork 10)"
    assert fork_title("") == "(fork)"
