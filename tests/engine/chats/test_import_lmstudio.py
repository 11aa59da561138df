import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.chats.export import from_json, to_json
from engine.chats.import_lmstudio import chat_from_lmstudio
from engine.chats.records import Folder
from engine.core.errors import UsageError
from tests.engine.chats.foreign import lmstudio, said, steps


def full():
    return lmstudio(
        [said("user", "Two cups?"), said("user", "Two cups ", "a day?")],
        [steps(("thinking", "Hm."), ("", "Yes.")), steps(("", "No."))],
        [{**said("user", "Why?"), "content": [{"type": "text", "text": "Why?"}, {"type": "file", "fileIdentifier": "w.csv"}]}],
    )


def test_versions_become_branches_and_the_selected_ones_are_shown():
    converted = chat_from_lmstudio(full(), "1727.conversation.json")
    tree = converted.tree
    assert converted.skipped == 0
    assert [(one.id, one.parent_id, one.text, one.active) for one in tree.messages] == [
        ("lmstudio-1727-0-0", None, "Two cups?", False),
        ("lmstudio-1727-0-1", None, "Two cups a day?", True),
        ("lmstudio-1727-1-0", "lmstudio-1727-0-1", "Yes.", False),
        ("lmstudio-1727-1-1", "lmstudio-1727-0-1", "No.", True),
        ("lmstudio-1727-2-0", "lmstudio-1727-1-1", "Why?\n\n[Attached: w.csv]", True),
    ]
    assert tree.messages[2].reasoning == "Hm."
    assert tree.messages[2].model_id == "org/qwen3-4b"


def test_the_chats_own_settings_times_and_draft_come_along():
    tree = chat_from_lmstudio(full(), "1727.conversation.json").tree
    chat = tree.chat
    assert (chat.title, chat.pinned, chat.created_at, chat.updated_at) == ("Cups", True, 1_727_000_000.0, 1_727_000_100.0)
    assert tree.settings == {"system_prompt": "Be brief."}
    assert tree.draft == "and then"
    assert chat.model_id == "org/qwen3-4b"


def test_the_older_form_without_versions_is_read():
    raw = {"name": "", "messages": [{"role": "user", "content": "Hello there"}, {"role": "assistant", "content": "Hi"}]}
    tree = chat_from_lmstudio(raw, "1727000000000.json", default_time=9.0).tree
    assert [(one.role, one.text) for one in tree.messages] == [("user", "Hello there"), ("assistant", "Hi")]
    assert (tree.chat.title, tree.chat.created_at) == ("Hello there", 1_727_000_000.0)


def test_steps_of_tools_are_left_out_and_counted():
    reply = steps(("", "Done."))
    reply["steps"] += [{"type": "toolCallRequest"}, {"type": "toolCallResult"}, {"type": "debugInfoBlock", "debugInfo": "x"}]
    reply["steps"][0]["content"].append({"type": "toolCallRequest", "name": "f"})
    converted = chat_from_lmstudio(lmstudio([said("user", "Go")], [reply], [{"role": "tool"}]), "1.json")
    assert [one.text for one in converted.tree.messages] == ["Go", "Done."]
    assert converted.skipped == 4


def test_it_stands_in_its_folder():
    folder = Folder("f", "Work", 1.0, False)
    tree = chat_from_lmstudio(full(), "1.json", folder).tree
    assert (tree.folder, tree.chat.folder_id) == (folder, "f")


def test_what_has_no_messages_is_refused():
    with pytest.raises(UsageError):
        chat_from_lmstudio({"messages": "none"}, "x.json")


BROKEN = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)


@settings(max_examples=200)
@given(data=st.data())
def test_whatever_is_damaged_in_it_the_rest_is_read_and_can_be_kept(data):
    raw = copy.deepcopy(full())
    for _ in range(data.draw(st.integers(1, 4))):
        place = raw
        for _ in range(data.draw(st.integers(0, 8))):
            pairs = place.items() if isinstance(place, dict) else enumerate(place)
            inner = [key for key, value in pairs if isinstance(value, dict | list) and value]
            if not inner:
                break
            place = place[data.draw(st.sampled_from(inner))]
        if place:
            key = data.draw(st.sampled_from(list(place))) if isinstance(place, dict) else 0
            place[key] = data.draw(BROKEN)
    try:
        tree = chat_from_lmstudio(raw, "1727.conversation.json").tree
    except UsageError:
        return
    assert from_json(to_json([tree])) == [tree]
