"""From a stored conversation to what a model is given."""

import pytest

from engine.chats.turns import turns
from engine.core.errors import ContextFull, GenerationFailed


@pytest.fixture
def chat(store):
    """A function that stores messages, “u:” a question and “a:” a reply, and returns the turns made of them."""
    made = store.create_chat()

    def build(*lines, system=""):
        parent = None
        for line in lines:
            who, _, text = line.partition(":")
            if who == "u":
                parent = store.add_message(made.id, "user", text, parent).id
            else:
                parent = store.begin_reply(made.id, parent, "m").id
                store.finish_reply(parent, text, "complete" if text.strip() else "cancelled")
        return [(turn.role, turn.text) for turn in turns(store.messages(made.id), system)]

    return build


def test_questions_and_replies_come_in_order(chat):
    assert chat("u:one", "a:two", "u:three") == [("user", "one"), ("assistant", "two"), ("user", "three")]


def test_the_system_prompt_comes_first_as_it_is_written(chat):
    assert chat("u:one", system=" Be brief.\n") == [("system", " Be brief.\n"), ("user", "one")]


@pytest.mark.parametrize("system", ["", "  \n "])
def test_an_empty_system_prompt_is_none(chat, system):
    assert chat("u:one", system=system) == [("user", "one")]


@pytest.mark.parametrize("nothing", ["", " \n"])
def test_a_reply_without_a_word_is_left_out_and_the_questions_around_it_are_one_turn(chat, nothing):
    assert chat("u:one", f"a:{nothing}", "u:two", "a:", "u:three", "a:four", "u:five") == [
        ("user", "one\n\ntwo\n\nthree"),
        ("assistant", "four"),
        ("user", "five"),
    ]


def test_users_and_assistants_take_turns_whatever_was_stored(chat):
    roles = [role for role, _ in chat("u:a", "a:", "u:b", "u:c", "a:d", "u:e", "a: ", "u:f", system="s")]
    assert roles == ["system", "user", "assistant", "user"]


def test_a_stopped_reply_with_words_counts(chat):
    assert chat("u:one", "a:half a", "u:two")[1] == ("assistant", "half a")


def test_nothing_stored_is_nothing_to_say(chat):
    assert chat() == []
    assert turns([]) == ()


@pytest.mark.parametrize("lines", [(), ("one", "two")])
def test_a_question_that_did_not_fit_is_left_out_and_one_that_failed_otherwise_is_not(store, lines):
    made = store.create_chat()
    parent = None
    for line in lines:
        role = "assistant" if line == "two" else "user"
        parent = store.add_message(made.id, role, line, parent).id
    for question, error in (("too long", ContextFull("Full.")), ("unlucky", GenerationFailed("Broken."))):
        parent = store.add_message(made.id, "user", question, parent).id
        parent = store.begin_reply(made.id, parent, "m").id
        store.finish_reply(parent, "", "failed", error=error.info())
    store.add_message(made.id, "user", "short", parent)
    assert [turn.text for turn in turns(store.messages(made.id))] == [*lines, "unlucky\n\nshort"]
