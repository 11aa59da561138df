import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.chats.store import ACTIVE_LEAF, ChatStore
from engine.core.errors import ChatNotFound, UsageError


@pytest.fixture
def chat(store):
    return store.create_chat("tree").id


def texts(messages):
    return [message.text for message in messages]


def places(messages):
    return [(message.text, message.sibling_index, message.sibling_count) for message in messages]


def test_messages_follow_one_another(store, chat, clock):
    question = store.add_message(chat, "user", "question")
    clock.now += 1
    answer = store.add_message(chat, "assistant", "answer")
    assert store.messages(chat) == [question, answer]
    assert (question.parent_id, answer.parent_id) == (None, question.id)
    assert (question.role, question.state, question.chat_id) == ("user", "complete", chat)
    assert answer.created_at == question.created_at + 1


def test_edit_adds_a_sibling_and_keeps_the_old_branch(store, chat):
    first = store.add_message(chat, "user", "first")
    store.add_message(chat, "assistant", "reply to first")
    edited = store.add_message(chat, "user", "edited", parent_id=first.parent_id)
    assert places(store.messages(chat)) == [("edited", 1, 2)]
    store.add_message(chat, "assistant", "reply to edited")
    assert texts(store.messages(chat)) == ["edited", "reply to edited"]
    assert places(store.siblings(edited.id)) == [("first", 0, 2), ("edited", 1, 2)]
    store.activate(first.id)
    assert places(store.messages(chat)) == [("first", 0, 2), ("reply to first", 0, 1)]


def test_regenerated_reply_is_a_sibling(store, chat):
    question = store.add_message(chat, "user", "question")
    replies = [store.begin_reply(chat, question.id, f"model {number}") for number in range(3)]
    assert [(reply.sibling_index, reply.sibling_count) for reply in replies] == [(0, 1), (1, 2), (2, 3)]
    assert store.messages(chat)[-1].id == replies[2].id
    store.activate(replies[1].id)
    shown = store.messages(chat)[-1]
    assert (shown.id, shown.model_id, shown.sibling_index) == (replies[1].id, "model 1", 1)


def test_activating_leads_to_the_most_recently_active_leaf(store, chat):
    root = store.add_message(chat, "user", "root")
    a = store.add_message(chat, "assistant", "a", root.id)
    a1 = store.add_message(chat, "user", "a1", a.id)
    store.add_message(chat, "user", "a2", a.id)
    store.activate(a1.id)
    store.add_message(chat, "assistant", "b", root.id)
    assert texts(store.messages(chat)) == ["root", "b"]
    store.activate(a.id)
    assert texts(store.messages(chat)) == ["root", "a", "a1"]


def test_activating_what_is_shown_changes_nothing(store, chat):
    for name in ("one", "two", "three"):
        store.add_message(chat, "user", name)
    path = store.messages(chat)
    for message in path:
        store.activate(message.id)
        assert store.messages(chat) == path


def test_new_message_follows_the_active_leaf(store, chat):
    root = store.add_message(chat, "user", "root")
    a = store.add_message(chat, "assistant", "a", root.id)
    store.add_message(chat, "assistant", "b", root.id)
    store.activate(a.id)
    assert store.add_message(chat, "user", "next").parent_id == a.id


def test_new_message_under_one_in_the_middle_starts_a_branch(store, chat):
    one = store.add_message(chat, "user", "one")
    store.add_message(chat, "user", "two")
    store.add_message(chat, "user", "three")
    assert places([store.add_message(chat, "user", "other", one.id)]) == [("other", 1, 2)]
    assert texts(store.messages(chat)) == ["one", "other"]


def test_parent_must_be_of_the_same_chat(store, chat):
    other = store.add_message(store.create_chat("other").id, "user", "there")
    with pytest.raises(UsageError):
        store.add_message(chat, "user", "here", other.id)
    with pytest.raises(UsageError):
        store.begin_reply(chat, other.id, "m")
    with pytest.raises(ChatNotFound):
        store.add_message(chat, "user", "here", "no such id")
    assert store.messages(chat) == []


def test_facts_and_errors_of_a_newer_flint_still_open(store, chat, path):
    from tests.engine.chats.samples import ERROR, FACTS

    reply = store.begin_reply(chat, None, "m")
    store.finish_reply(reply.id, "text", "failed", FACTS, ERROR)
    other = sqlite3.connect(path)
    change = "UPDATE messages SET facts = json_set(facts, '$.from_the_future', json('[1]'), '$.sampling.more', 2), error = json_set(error, '$.x', 1)"
    other.execute(change)
    other.commit()
    assert (store.message(reply.id).facts, store.message(reply.id).error) == (FACTS, ERROR)
    other.execute("UPDATE messages SET facts = json_set(facts, '$.finish_reason', 'telepathy'), error = '{\"code\": 5}'")
    other.commit()
    other.close()
    opened = store.message(reply.id)
    assert (opened.facts, opened.error, opened.text) == (None, None, "text")


class Model:
    """The same tree in plain Python."""

    def __init__(self):
        self.parents = {}
        self.shown = {}

    def path(self):
        found, at = [], None
        while (at := self.shown.get(at)) is not None:
            found.append(at)
        return found

    def add(self, name, parent):
        self.parents[name] = parent
        self.activate(name)

    def activate(self, name):
        while name is not None:
            self.shown[self.parents[name]] = name
            name = self.parents[name]

    def siblings(self, name):
        return [other for other, parent in self.parents.items() if parent == self.parents[name]]


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["append", "append", "under", "sibling", "root", "activate", "reply"]), st.integers(0, 30)),
    max_size=25,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with ChatStore(tmp_path_factory.mktemp("tree") / "chats.sqlite3") as store:
        yield store


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=OPERATIONS)
def test_any_tree_behaves_like_a_plain_model(shared, operations):
    chat = shared.create_chat("random").id
    model, ids = Model(), {}
    for number, (kind, choice) in enumerate(operations):
        name = f"message {number}"
        old = f"message {sorted(int(key.split()[1]) for key in ids)[choice % len(ids)]}" if ids else None
        if kind == "activate":
            if old:
                shared.activate(ids[old])
                model.activate(old)
            continue
        if kind == "append":
            parent = model.path()[-1] if ids else None
            message = shared.add_message(chat, "user", name)
        else:
            parent = {"root": None, "sibling": model.parents.get(old)}.get(kind, old)
            parent_id = ids.get(parent)
            if kind == "reply":
                message = shared.begin_reply(chat, parent_id, "m")
                message = shared.finish_reply(message.id, name, "complete")
            else:
                message = shared.add_message(chat, "user", name, parent_id)
        ids[name] = message.id
        model.add(name, parent)
        assert message.parent_id == ids.get(parent)
    expected = [
        (name, ids[name], ids.get(model.parents[name]), model.siblings(name).index(name), len(model.siblings(name)))
        for name in model.path()
    ]
    found = [(m.text, m.id, m.parent_id, m.sibling_index, m.sibling_count) for m in shared.messages(chat)]
    assert found == expected
    for name in ids:
        assert texts(shared.siblings(ids[name])) == model.siblings(name)


def test_active_leaf_name_can_never_be_an_id(store, chat):
    assert store.add_message(chat, "user", "x").id != ACTIVE_LEAF
