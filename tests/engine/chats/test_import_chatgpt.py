import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.chats.export import from_json, to_json
from engine.chats.import_chatgpt import chat_from_chatgpt
from engine.core.errors import UsageError
from tests.engine.chats.foreign import branching, conversation, node, with_tools


def shown(tree):
    path, parent = [], None
    while group := [one for one in tree.messages if one.parent_id == parent]:
        (active,) = [one for one in group if one.active]
        path.append(active)
        parent = active.id
    return path


def test_branches_and_the_shown_path_are_kept():
    converted = chat_from_chatgpt(branching())
    tree = converted.tree
    assert converted.skipped == 0
    assert [(one.id, one.parent_id, one.role, one.text) for one in tree.messages] == [
        ("q1", None, "user", "How late?"),
        ("a1", "q1", "assistant", "Early."),
        ("q2", None, "user", "How late can I drink coffee?"),
        ("a2", "q2", "assistant", "Before 15:00."),
        ("q3", "a2", "user", "Thanks, 谢谢 🙂"),
        ("a3", "q2", "assistant", "Never."),
    ]
    assert [one.id for one in shown(tree)] == ["q2", "a2", "q3"]
    assert [one.created_at for one in tree.messages][:2] == [1_700_000_001.0, 1_700_000_002.0]
    chat = tree.chat
    assert (chat.id, chat.title, chat.created_at, chat.updated_at) == (
        "c-1",
        "Coffee at night",
        1_700_000_000.25,
        1_700_000_900.5,
    )
    assert (chat.model_id, tree.messages[3].model_id) == ("gpt-4o", "gpt-4o")


def test_a_reply_in_steps_is_one_and_what_is_hidden_stays_so():
    converted = chat_from_chatgpt(with_tools())
    question, reply = converted.tree.messages
    assert question.text == "What is in it?\n\n[Attached: week-29.csv]\n[Attached: cup.png]"
    assert (reply.parent_id, reply.text) == (question.id, "Two cups a day.\n\nAnd a cake.")
    assert reply.reasoning == "Looking\n\nIt is a table."
    assert reply.created_at == 1_700_000_009.0
    assert converted.skipped == 2
    assert "secret" not in to_json([converted.tree])


def test_a_reply_that_branches_in_its_middle_becomes_two():
    raw = conversation(
        node("q", None, ["s"], "user", ["Go"]),
        node("s", "q", ["x", "y"], "assistant", ["Start."]),
        node("x", "s", [], "assistant", ["One way."]),
        node("y", "s", ["z"], "assistant", ["Other way."]),
        node("z", "y", [], "user", ["Good"]),
        current="x",
    )
    tree = chat_from_chatgpt(raw).tree
    assert [(one.parent_id, one.text) for one in tree.messages] == [
        (None, "Go"),
        ("q", "Start.\n\nOne way."),
        ("q", "Start.\n\nOther way."),
        ("y", "Good"),
    ]
    assert [one.id for one in shown(tree)] == ["q", "x"]


def test_a_reply_that_was_followed_and_went_on_is_kept_both_ways():
    raw = conversation(
        node("q", None, ["s"], "user", ["Go"]),
        node("s", "q", ["u", "y"], "assistant", ["Start."]),
        node("u", "s", [], "user", ["Stop"]),
        node("y", "s", [], "assistant", ["More."]),
    )
    tree = chat_from_chatgpt(raw).tree
    assert [(one.parent_id, one.text) for one in tree.messages] == [
        (None, "Go"),
        ("q", "Start."),
        ("s", "Stop"),
        ("q", "Start.\n\nMore."),
    ]
    assert [one.id for one in shown(tree)] == ["q", "y"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"content_type": "code", "language": "unknown", "text": "x = 1"}, "```\nx = 1\n```"),
        ({"content_type": "code", "language": "python", "text": "x = 1"}, "```python\nx = 1\n```"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "audio_transcription", "text": "Hi"}]}, "Hi"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}]}, "[Attached: image]"),
        ({"content_type": "something_new", "text": "Kept"}, "Kept"),
        ({"parts": ["No kind"]}, "No kind"),
    ],
)
def test_other_kinds_of_content_are_told(content, text):
    raw = conversation(node("q", None, ["a"], "user", ["Go"]), node("a", "q", [], "assistant", content=content))
    assert chat_from_chatgpt(raw).tree.messages[1].text == text


def test_a_chat_as_deep_as_it_is_long_is_read():
    nodes = [
        node(f"n{n}", f"n{n - 1}" if n else None, [f"n{n + 1}"] if n < 4999 else [], ("user", "assistant")[n % 2], [f"t{n}"])
        for n in range(5000)
    ]
    assert len(chat_from_chatgpt(conversation(*nodes)).tree.messages) == 5000


def test_a_chat_without_title_times_or_shown_leaf_gets_them_from_what_there_is():
    raw = conversation(
        node("q", None, ["a"], "user", ["**Cups** a day?"], 5.0), node("a", "q", [], "assistant", ["Two."], None)
    )
    raw |= {"title": None, "create_time": None, "update_time": None, "current_node": "gone", "default_model_slug": None}
    chat = chat_from_chatgpt(raw, 123.0).tree.chat
    assert (chat.title, chat.created_at, chat.updated_at) == ("Cups a day?", 123.0, 123.0)


@pytest.mark.parametrize("raw", [{}, {"mapping": []}, {"mapping": {}, "id": 5}, {"mapping": {}, "id": "a\x00"}])
def test_what_is_no_conversation_is_refused(raw):
    with pytest.raises(UsageError):
        chat_from_chatgpt(raw)


def test_a_ring_of_nodes_ends():
    raw = conversation(node("a", "b", ["b"], "user", ["A"]), node("b", "a", ["a"], "assistant", ["B"]))
    assert chat_from_chatgpt(raw).tree.messages == ()


BROKEN = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)


@settings(max_examples=200)
@given(data=st.data())
def test_whatever_is_damaged_in_it_the_rest_is_read_and_can_be_kept(data):
    raw = copy.deepcopy(data.draw(st.sampled_from([branching(), with_tools()])))
    for _ in range(data.draw(st.integers(1, 4))):
        place = raw
        for _ in range(data.draw(st.integers(0, 6))):
            inner = [key for key, value in place.items() if isinstance(value, dict)] if isinstance(place, dict) else []
            if not inner:
                break
            place = place[data.draw(st.sampled_from(inner))]
        if place:
            place[data.draw(st.sampled_from(list(place)))] = data.draw(BROKEN)
    try:
        tree = chat_from_chatgpt(raw).tree
    except UsageError:
        return
    assert from_json(to_json([tree])) == [tree]
