"""A reply in other words, and a reply that goes on."""

from dataclasses import replace

import pytest

from engine.chats.store import ChatStore
from engine.core.errors import UsageError
from tests.engine.chats.samples import FACTS


@pytest.fixture
def reply(store):
    chat = store.create_chat("", "m")
    asked = store.add_message(chat.id, "user", "Hello")
    begun = store.begin_reply(chat.id, asked.id, "m")
    return store.finish_reply(begun.id, "It is", "complete", FACTS, reasoning="Hm.")


def test_a_reply_in_other_words_stands_beside_the_first_and_claims_nothing_measured(store, reply):
    edited = store.edit_reply(reply.id, "It was")
    assert (edited.text, edited.edited, edited.facts, edited.reasoning) == ("It was", True, None, "Hm.")
    assert (edited.sibling_index, edited.sibling_count, edited.model_id) == (1, 2, "m")
    assert store.message(reply.id) == replace(reply, sibling_count=2)
    assert store.messages(reply.chat_id)[-1].id == edited.id
    assert [hit.message_id for hit in store.search("was")] == [edited.id]


def test_only_finished_replies_can_be_put_in_other_words(store, reply):
    with pytest.raises(UsageError):
        store.edit_reply(reply.parent_id, "x")
    with pytest.raises(UsageError):
        store.edit_reply(store.begin_reply(reply.chat_id, reply.parent_id, "m").id, "x")


def test_a_reply_goes_on_where_it_was(store, reply):
    begun = store.resume_reply(reply.id)
    assert (begun.state, begun.text, begun.facts) == ("streaming", "It is", FACTS)
    store.save_reply(reply.id, "It is Paris", "Hm.")
    ended = store.finish_reply(reply.id, "It is Paris.", "complete", FACTS, reasoning="Hm.")
    assert (ended.id, ended.text, ended.state) == (reply.id, "It is Paris.", "complete")
    assert [hit.message_id for hit in store.search("Paris")] == [reply.id]


def test_a_reply_that_goes_on_survives_a_crash_with_what_was_saved(store, reply, path):
    store.resume_reply(reply.id)
    store.save_reply(reply.id, "It is Par", "Hm.")
    store.close()
    with ChatStore(path) as opened:
        with opened._database.writing() as connection:  # Its writer died.
            connection.execute("UPDATE messages SET owner_pid = 999999999")
        assert opened.recover() == 1
        assert (opened.message(reply.id).text, opened.message(reply.id).state) == ("It is Par", "interrupted")


def test_what_is_followed_by_more_cannot_go_on(store, reply):
    more = store.add_message(reply.chat_id, "user", "More")
    with pytest.raises(UsageError):
        store.resume_reply(reply.id)
    store.delete_message(more.id)
    assert store.resume_reply(reply.id).state == "streaming"
    with pytest.raises(UsageError):
        store.resume_reply(reply.id)
    with pytest.raises(UsageError):
        store.resume_reply(reply.parent_id)
