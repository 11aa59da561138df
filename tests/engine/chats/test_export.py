import json
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.chats.attachment import Attachment
from engine.chats.export import export_json, export_markdown, from_json, import_json, to_json, to_markdown
from engine.chats.records import ChatSummary, ChatTree, Folder, MessageNode
from engine.chats.store import ChatStore
from engine.core.errors import ChatNotFound, UsageError
from tests.engine.chats.samples import ERROR, FACTS


@pytest.fixture
def other(tmp_path):
    with ChatStore(tmp_path / "other" / "chats.sqlite3") as opened:
        yield opened


@pytest.fixture
def chat(store, clock):
    chat = store.create_chat("Trip to 東京", "smollm2", {"temperature": 0.3, "system_prompt": "Be kind."})
    question = store.add_message(chat.id, "user", "Where to?")
    for state, facts, error in (("complete", FACTS, None), ("failed", None, ERROR)):
        clock.now += 1.5
        reply = store.begin_reply(chat.id, question.id, "smollm2")
        store.finish_reply(reply.id, f"A {state} reply.", state, facts, error, reasoning="Hm.\n\nWell.")
    store.add_message(chat.id, "user", "Edited: where from?", parent_id=None)
    store.activate(question.id)
    store.set_draft(chat.id, "and then")
    return chat.id


def test_import_into_an_empty_store_loses_nothing(store, other, chat):
    text = export_json(store, [chat])
    (imported,) = import_json(other, text)
    assert imported == store.chat(chat)
    assert other.read_chat(chat) == store.read_chat(chat)
    assert other.messages(chat) == store.messages(chat)
    assert other.draft(chat) == "and then"
    assert other.chat_settings(chat) == store.chat_settings(chat)
    assert export_json(other, [chat]) == text
    assert other.search("tokyo") == []
    assert {hit.message_id for hit in other.search("reply")} == {hit.message_id for hit in store.search("reply")}


def test_branches_switch_as_before_after_an_import(store, other, chat):
    import_json(other, export_json(store, [chat]))
    for opened in (store, other):
        edited = opened.siblings(opened.messages(chat)[0].id)[1]
        opened.activate(edited.id)
    assert other.messages(chat) == store.messages(chat)


def test_import_beside_the_original_makes_a_copy(store, chat):
    text = export_json(store, [chat])
    (copy,) = import_json(store, text)
    assert copy.id != chat
    assert len(store.chats()) == 2
    original, copied = store.read_chat(chat), store.read_chat(copy.id)
    assert not {node.id for node in original.messages} & {node.id for node in copied.messages}
    assert [(n.text, n.active, n.facts) for n in copied.messages] == [(n.text, n.active, n.facts) for n in original.messages]
    assert [m.text for m in store.messages(copy.id)] == [m.text for m in store.messages(chat)]


def test_unknown_facts_of_a_newer_flint_travel_along(store, other, chat):
    document = json.loads(export_json(store, [chat]))
    document["chats"][0]["messages"][1]["facts"]["future"] = {"a": [1, None]}
    document["chats"][0]["mood"] = "sunny"
    import_json(other, json.dumps(document))
    assert other.read_chat(chat).messages[1].facts["future"] == {"a": [1, None]}
    assert other.messages(chat)[0].facts is None
    assert other.siblings(other.read_chat(chat).messages[1].id)[0].facts == FACTS


def test_reply_that_was_streaming_arrives_interrupted(store, other):
    chat = store.create_chat("x").id
    reply = store.begin_reply(chat, None, "m")
    store.save_reply(reply.id, "half")
    import_json(other, export_json(store, [chat]))
    assert (other.messages(chat)[0].text, other.messages(chat)[0].state) == ("half", "interrupted")


def test_several_chats_travel_in_one_file_also_from_the_trash(store, other, chat, clock):
    empty = store.create_chat().id
    store.delete_chat(empty)
    import_json(other, export_json(store, [chat, empty]))
    assert [summary.id for summary in other.chats()] == [chat]
    assert other.trash() == store.trash()


TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.sampled_from(
        ["\x00\x01\x1f\x7f", "\r\n\r", "שלום \u202eعليكم\u202c", "\u2028\u2029", "\ufeff", "👩\u200d🚀", '"\\/', "\U0010ffff"]
    ),
)
TIMES = st.floats(0, 4e9)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)

ATTACHMENTS = st.lists(
    st.builds(Attachment, TEXT, st.sampled_from(["file", "pdf", "pasted"]), TEXT, st.integers(0, 2**40)), max_size=2
).map(tuple)


@st.composite
def trees(draw):
    chat = ChatSummary("chat", draw(TEXT), draw(TIMES), draw(TIMES), draw(st.booleans()), draw(TEXT), draw(st.none() | TIMES))
    shape = draw(st.lists(st.integers(-1, 7), max_size=8))
    parents = [None if not number or choice < 0 else choice % number for number, choice in enumerate(shape)]
    chosen = {parent: draw(st.sampled_from([n for n, p in enumerate(parents) if p == parent])) for parent in parents}
    nodes = tuple(
        MessageNode(
            id=f"m{number}",
            parent_id=None if parent is None else f"m{parent}",
            role=draw(st.sampled_from(["user", "assistant", "system"])),
            text=draw(TEXT),
            reasoning=draw(TEXT),
            state=draw(st.sampled_from(["complete", "interrupted", "cancelled", "failed"])),
            created_at=draw(TIMES),
            model_id=draw(TEXT),
            facts=draw(st.none() | st.dictionaries(TEXT, JSON, max_size=2)),
            error=draw(st.none() | st.just(asdict(ERROR))),
            active=chosen[parent] == number,
            attachments=draw(ATTACHMENTS),
        )
        for number, parent in enumerate(parents)
    )
    folder = draw(st.none() | st.builds(Folder, st.just("folder"), TEXT, TIMES, st.booleans()))
    chat = replace(chat, folder_id=folder.id if folder else None)
    return ChatTree(chat, draw(st.dictionaries(TEXT, JSON, max_size=3)), draw(TEXT), nodes, draw(ATTACHMENTS), folder)


@settings(max_examples=40)
@given(chats=st.lists(trees(), max_size=3))
def test_chat_by_chat_gives_what_the_whole_document_is(chats):
    document = json.loads(to_json(chats))
    assert to_json(chats) == json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    assert len(document["chats"]) == len(chats)


def renamed(tree, number):
    """The tree under ids of its own."""
    nodes = [replace(n, id=f"{number}.{n.id}", parent_id=n.parent_id and f"{number}.{n.parent_id}") for n in tree.messages]
    return replace(tree, chat=replace(tree.chat, id=f"chat {number}"), messages=tuple(nodes))


@settings(max_examples=80)
@given(chats=st.lists(trees(), max_size=3))
def test_any_chats_survive_the_round_trip_to_the_byte(chats):
    # One folder has one name: that of the first chat in it.
    folder = next((tree.folder for tree in chats if tree.folder), None)
    chats = [renamed(replace(tree, folder=tree.folder and folder), number) for number, tree in enumerate(chats)]
    text = to_json(chats)
    assert from_json(text) == chats
    with tempfile.TemporaryDirectory() as home, ChatStore(Path(home) / "chats.sqlite3") as store:
        imported = import_json(store, text)
        assert [store.read_chat(summary.id) for summary in imported] == chats
        assert export_json(store, [tree.chat.id for tree in chats]) == text
        assert {chat.id for chat in store.trash()} == {tree.chat.id for tree in chats if tree.chat.deleted_at is not None}
        assert {chat.id for chat in store.chats()} == {tree.chat.id for tree in chats if tree.chat.deleted_at is None}


def shown(tree):
    """The messages on the active path."""
    parent, path = None, []
    while group := [node for node in tree.messages if node.parent_id == parent]:
        path.append(next(node for node in group if node.active))
        parent = path[-1].id
    return path


@settings(max_examples=80)
@given(tree=trees())
def test_markdown_of_any_chat_loses_no_text_of_what_is_shown(tree):
    text = to_markdown(tree)
    at = 0
    for node in shown(tree):
        for said in [*node.reasoning.split(), *node.text.split()]:
            at = text.find(said, at)
            assert at >= 0, (said, text)
            at += len(said)


@settings(max_examples=60)
@given(chats=st.lists(trees(), max_size=3))
def test_search_finds_every_word_of_every_chat_but_nothing_of_deleted_ones(chats):
    chats = [renamed(tree, number) for number, tree in enumerate(chats)]
    with tempfile.TemporaryDirectory() as home, ChatStore(Path(home) / "chats.sqlite3") as store:
        store.write_chats(chats)
        gone = {tree.chat.id for tree in chats if tree.chat.deleted_at is not None}
        for tree in chats:
            for node in tree.messages:
                for word in node.text.split():
                    hits = store.search(word)
                    assert not {hit.chat_id for hit in hits} & gone
                    assert tree.chat.id in gone or node.id in {hit.message_id for hit in hits}, (word, node.text)


def valid(store, chat):
    return json.loads(export_json(store, [chat]))


BREAKS = {
    "no chats": lambda d: d.pop("chats"),
    "no format": lambda d: d.pop("format"),
    "other format": lambda d: d.update(format="other"),
    "newer": lambda d: d.update(version=99),
    "version text": lambda d: d.update(version="1"),
    "chat is text": lambda d: d.update(chats=["x"]),
    "message is text": lambda d: d["chats"][0].update(messages=["x"]),
    "title number": lambda d: d["chats"][0].update(title=5),
    "empty id": lambda d: d["chats"][0].update(id=""),
    "control id": lambda d: d["chats"][0].update(id="a\x00b"),
    "settings list": lambda d: d["chats"][0].update(settings=[]),
    "time text": lambda d: d["chats"][0].update(created_at="now"),
    "time nan": lambda d: d["chats"][0].update(created_at=float("nan")),
    "time huge": lambda d: d["chats"][0].update(created_at=10**400),
    "unknown role": lambda d: d["chats"][0]["messages"][0].update(role="tool"),
    "role list": lambda d: d["chats"][0]["messages"][0].update(role=[]),
    "unknown state": lambda d: d["chats"][0]["messages"][0].update(state="odd"),
    "facts text": lambda d: d["chats"][0]["messages"][0].update(facts="x"),
    "text missing": lambda d: d["chats"][0]["messages"][0].pop("text"),
    "own parent": lambda d: d["chats"][0]["messages"][0].update(parent_id=d["chats"][0]["messages"][0]["id"]),
    "child first": lambda d: d["chats"][0]["messages"].reverse(),
    "same id twice": lambda d: d["chats"][0]["messages"].append(d["chats"][0]["messages"][0]),
}


@pytest.mark.parametrize("name", BREAKS)
def test_damaged_file_is_refused_and_nothing_is_added(store, other, chat, name):
    document = valid(store, chat)
    good = json.loads(export_json(store, [chat]))["chats"][0]
    BREAKS[name](document)
    document.get("chats", []).insert(0, good)
    with pytest.raises(UsageError) as caught:
        import_json(other, json.dumps(document))
    assert caught.value.hint
    assert other.chats() == []


@pytest.mark.parametrize("text", ["", "nothing", "[]", "null", "{}", "[" * 100_000, '{"format": "flint-chats"'])
def test_other_text_is_refused(other, text):
    with pytest.raises(UsageError):
        import_json(other, text)


def test_lone_surrogates_in_a_file_do_no_harm(store, other, chat):
    text = export_json(store, [chat]).replace("Where to?", "Where \\ud800 to?").replace("Be kind.", "\\udfff")
    (imported,) = import_json(other, text)
    assert other.messages(imported.id)[0].text == "Where \ufffd to?"


def test_exporting_an_unknown_chat_is_told(store):
    with pytest.raises(ChatNotFound):
        export_json(store, ["nope"])
    with pytest.raises(ChatNotFound):
        export_markdown(store, "nope")


# -- Markdown --------------------------------------------------------------------------------------------------------------


def test_markdown_shows_the_active_path_with_its_facts(store, chat):
    text = export_markdown(store, chat)
    assert text.startswith("# Trip to 東京\n\n*2023-11-1")
    assert "## You (version 1 of 2)\n\nWhere to?" in text
    assert "## smollm2 (version 2 of 2)\n\n> Hm.\n>\n> Well.\n\nA failed reply." in text
    assert f"*This reply failed. {ERROR.text}*" in text
    assert "A complete reply." not in text
    store.activate(store.siblings(store.messages(chat)[-1].id)[0].id)
    assert "*64 tokens at 25.2 tokens/s, the first after 0.12 s.*" in export_markdown(store, chat)


@pytest.mark.parametrize(
    ("reply", "closed"),
    [
        ("```python\nx = 1", "```python\nx = 1\n```"),
        ("```python\nx = 1\n```", "```python\nx = 1\n```"),
        ("~~~~\n```\n~~~", "~~~~\n```\n~~~\n~~~~"),
        ("a ``` b", "a ``` b"),
        ("``` inline ``` code", "``` inline ``` code"),
        ("```\na\n```\n\n```\nb", "```\na\n```\n\n```\nb\n```"),
    ],
)
def test_open_code_in_an_interrupted_reply_does_not_swallow_the_rest(store, reply, closed):
    chat = store.create_chat("x").id
    store.finish_reply(store.begin_reply(chat, None, "m").id, reply, "interrupted")
    store.add_message(chat, "user", "next")
    assert f"## m\n\n{closed}\n\n*This reply was interrupted.*\n\n## You\n\nnext\n" in export_markdown(store, chat)


def test_markdown_of_an_empty_untitled_chat_is_a_heading(store):
    assert export_markdown(store, store.create_chat().id).startswith("# Untitled chat\n")
