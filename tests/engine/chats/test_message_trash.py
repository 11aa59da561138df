"""Messages deleted and brought back: what is shown, found, exported and told to the model, and that nothing is lost."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.chats.export import export_json, export_markdown, import_json
from engine.chats.fork import fork
from engine.chats.request import compose
from engine.chats.store import ChatStore
from engine.core.errors import ChatNotFound, FlintError


@pytest.fixture
def chat(store):
    return store.create_chat("Letters").id


def talk(store, chat, *texts, parent=None):
    """Add turns one after the other, the user's first; return their messages."""
    made = []
    for index, text in enumerate(texts):
        above = made[-1].id if made else parent
        if index % 2 == 0:
            made.append(store.add_message(chat, "user", text, above))
        else:
            made.append(store.finish_reply(store.begin_reply(chat, above, "m").id, text, "complete"))
    return made


def shown(store, chat):
    return [message.text for message in store.messages(chat)]


def test_a_deleted_message_goes_with_what_followed_it_and_comes_back_whole(store, chat):
    made = talk(store, chat, "a", "b", "c", "d")
    assert store.delete_message(made[2].id) == 2
    assert shown(store, chat) == ["a", "b"]
    assert store.trashed_messages(chat) == store.trashed_messages() == 2
    store.restore_message(made[2].id)
    assert shown(store, chat) == ["a", "b", "c", "d"]
    assert store.trashed_messages(chat) == 0


def test_the_sibling_before_takes_the_place_else_the_one_after(store, chat):
    a = talk(store, chat, "a")[0]
    tries = [store.finish_reply(store.begin_reply(chat, a.id, "m").id, text, "complete") for text in "123"]
    store.activate(tries[1].id)
    store.delete_message(tries[1].id)
    assert shown(store, chat) == ["a", "1"]
    assert [(m.text, m.sibling_index, m.sibling_count) for m in store.siblings(tries[0].id)] == [("1", 0, 2), ("3", 1, 2)]
    store.delete_message(tries[0].id)
    assert shown(store, chat) == ["a", "3"]
    store.delete_message(tries[2].id)
    assert shown(store, chat) == ["a"]
    store.restore_message(tries[0].id)
    assert shown(store, chat) == ["a", "1"]


def test_the_first_message_can_go_too(store, chat):
    first, _ = talk(store, chat, "a", "b")
    other = store.add_message(chat, "user", "A", None)
    store.delete_message(other.id)
    assert shown(store, chat) == ["a", "b"]
    store.delete_message(first.id)
    assert shown(store, chat) == []
    store.restore_message(other.id)
    assert shown(store, chat) == ["A"]


def test_what_was_deleted_before_stays_deleted_when_its_beginning_comes_back(store, chat):
    made = talk(store, chat, "a", "b", "c", "d")
    store.delete_message(made[2].id)
    store.delete_message(made[0].id)
    store.restore_message(made[0].id)
    assert shown(store, chat) == ["a", "b"]
    store.delete_message(made[0].id)
    store.restore_message(made[2].id)
    assert shown(store, chat) == ["a", "b", "c", "d"]


def test_undo_while_another_branch_is_shown_can_leave_it_shown(store, chat):
    a, b = talk(store, chat, "a", "b")
    store.delete_message(b.id)
    talk(store, chat, "unused")
    store.activate(a.id)
    new = store.finish_reply(store.begin_reply(chat, a.id, "m").id, "new", "complete")
    store.restore_message(b.id, activate=False)
    assert shown(store, chat) == ["a", "new"]
    assert store.message(new.id).sibling_count == 2


def test_deleting_twice_changes_nothing(store, chat):
    made = talk(store, chat, "a", "b")
    assert store.delete_message(made[1].id) == 1
    assert store.delete_message(made[1].id) == 0
    store.restore_message(made[1].id)
    store.restore_message(made[1].id)
    assert shown(store, chat) == ["a", "b"]


def test_nothing_can_follow_or_lead_to_a_deleted_message(store, chat):
    made = talk(store, chat, "a", "b")
    store.delete_message(made[1].id)
    for forbidden in (
        lambda: store.activate(made[1].id),
        lambda: store.add_message(chat, "user", "x", made[1].id),
        lambda: store.edit_reply(made[1].id, "x"),
        lambda: store.resume_reply(made[1].id),
    ):
        with pytest.raises(ChatNotFound):
            forbidden()


def test_search_does_not_find_deleted_messages(store, chat):
    made = talk(store, chat, "aardvark", "zebra ++")
    store.delete_message(made[1].id)
    assert store.search("zebra") == store.search("++") == []
    store.restore_message(made[1].id)
    assert [hit.message_id for hit in store.search("zebra")] == [made[1].id]


def test_a_reply_that_ends_in_the_trash_is_kept_there(store, chat):
    a = talk(store, chat, "a")[0]
    reply = store.begin_reply(chat, a.id, "m")
    store.delete_message(a.id)
    store.finish_reply(reply.id, "walrus", "complete")
    assert store.search("walrus") == []
    store.restore_message(a.id)
    assert shown(store, chat) == ["a", "walrus"]


def test_the_model_is_not_told_what_was_deleted(store, chat):
    made = talk(store, chat, "a", "b", "c", "d")
    store.delete_message(made[2].id)
    request = compose(store, chat, store.messages(chat), request_id="r", model_id="m", app={})
    assert [message.text for message in request.messages] == ["a", "b"]


def test_markdown_leaves_deleted_messages_out_and_json_keeps_them(store, chat, tmp_path):
    made = talk(store, chat, "a", "b", "c", "d")
    store.edit_reply(made[1].id, "b in other words")
    store.activate(made[3].id)
    store.delete_message(made[2].id)
    assert "\nc\n" not in export_markdown(store, chat)
    text = export_json(store, [chat])
    with ChatStore(tmp_path / "other.sqlite3") as other:
        import_json(other, text)
        assert other.read_chat(chat) == store.read_chat(chat)
        assert shown(other, chat) == ["a", "b"]
        other.restore_message(made[2].id)
        assert shown(other, chat) == ["a", "b", "c", "d"]
    again = import_json(store, text)[0]  # A copy with new ids.
    assert shown(store, again.id) == ["a", "b"]
    assert store.trashed_messages(again.id) == 2


def test_a_file_in_which_a_living_message_follows_a_deleted_one_is_refused(store, chat):
    made = talk(store, chat, "a", "b")
    store.delete_message(made[0].id)
    text = export_json(store, [chat])
    broken = text.replace(f'"trashed_with": "{made[0].id}"', '"trashed_with": null')
    assert import_json(store, broken)
    first, second = text.rsplit('"trashed_at": ', 1)
    with pytest.raises(FlintError):
        import_json(store, first + '"trashed_at": null' + second[second.index(",") :])


def test_emptying_the_trash_removes_the_words_and_has_the_engine_forget_the_chat(store, chat, path, clock):
    made = talk(store, chat, "a", "b", "the wombat", "d")
    store.delete_message(made[3].id)
    clock.now += 100
    store.delete_message(made[2].id)
    clock.now += 100
    assert store.empty_trash(older_than_s=150) == 0
    assert store.trashed_messages(chat) == 1
    assert store.empty_trash() == 0
    assert store.trashed_messages(chat) == 0
    assert store.removed_chats() == [chat]
    assert shown(store, chat) == ["a", "b"]
    assert b"wombat" not in path.read_bytes()
    with pytest.raises(ChatNotFound):
        store.restore_message(made[2].id)


# -- any sequence ----------------------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "edit", "regenerate", "reword", "resume", "delete", "undo", "switch", "fork"]),
        st.integers(0, 50),
    ),
    max_size=30,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with ChatStore(tmp_path_factory.mktemp("steps") / "chats.sqlite3") as store:
        yield store


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_any_sequence_keeps_the_tree_valid_and_loses_no_text(shared, steps):
    chat = shared.create_chat("Steps").id
    written, deleted = {}, []
    for number, (step, pick) in enumerate(steps):
        take(shared, chat, step, pick, f"text {number}", written, deleted)
        check(shared, chat, written, deleted)
    for message_id in reversed(deleted):
        shared.restore_message(message_id)
    assert shared.trashed_messages(chat) == 0
    check(shared, chat, written, [])


def take(store, chat, step, pick, text, written, deleted):
    """Take one step at a message of the shown path, or at one that was deleted."""
    path = store.messages(chat)
    at = path[pick % len(path)] if path else None
    if step == "ask":
        made = store.add_message(chat, "user", text)
        written[made.id] = text
        reply = store.begin_reply(chat, made.id, "m")
        written[store.finish_reply(reply.id, f"{text} answered", "complete").id] = f"{text} answered"
    elif step == "undo" and deleted:
        store.restore_message(deleted.pop(pick % len(deleted)), activate=pick % 2 == 0)
    elif at is None:
        return
    elif step == "edit" and at.role == "user":
        written[store.add_message(chat, "user", text, at.parent_id).id] = text
    elif step == "regenerate" and at.role == "assistant":
        reply = store.begin_reply(chat, at.parent_id, "m")
        written[store.finish_reply(reply.id, text, "cancelled").id] = text
    elif step == "reword" and at.role == "assistant":
        written[store.edit_reply(at.id, text).id] = text
    elif step == "resume" and path[-1].role == "assistant":
        reply = store.resume_reply(path[-1].id)
        written[reply.id] = store.finish_reply(reply.id, f"{reply.text} {text}", "complete").text
    elif step == "delete":
        store.delete_message(at.id)
        deleted.append(at.id)
    elif step == "switch":
        siblings = store.siblings(at.id)
        store.activate(siblings[pick % len(siblings)].id)
    elif step == "fork":
        new = fork(store, at.id)
        assert [one.text for one in store.messages(new.id)] == [one.text for one in path[: path.index(at) + 1]]


def check(store, chat, written, deleted):
    """Every text is there; the shown path is whole and living; every living message can be shown."""
    nodes = {node.id: node for node in store.read_chat(chat).messages}
    assert {id_: node.text for id_, node in nodes.items()} == written
    living = {id_ for id_, node in nodes.items() if node.trashed_at is None}
    assert deleted or len(living) == len(nodes)
    assert all(nodes[id_].parent_id is None or nodes[id_].parent_id in living for id_ in living)
    path = store.messages(chat)
    assert {message.id for message in path} <= living
    assert bool(path) == bool(living)
    assert [message.parent_id for message in path] == [None, *(message.id for message in path)][: len(path)]
    if path:
        assert not any(nodes[id_].parent_id == path[-1].id for id_ in living)
    for message in path:
        group = store.siblings(message.id)
        assert message.sibling_count == len(group)
        assert group[message.sibling_index].id == message.id
