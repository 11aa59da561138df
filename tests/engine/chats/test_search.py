import contextlib
import sqlite3

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engine.chats.search import terms_of


@pytest.fixture
def chat(store):
    return store.create_chat("Gardening in winter").id


def found(store, query, limit=100):
    return [hit.message_id for hit in store.search(query, limit)]


def marked(hit):
    return [hit.snippet[a:b] for a, b in hit.spans]


@pytest.mark.parametrize(
    ("text", "query", "marks"),
    [
        ("The capital of France is Paris.", "paris", ["Paris"]),
        ("The capital of France is Paris.", "par", ["Par"]),
        ("The capital of France is Paris.", "fran cap", ["cap", "Fran"]),
        ("Zürich und Łódź", "zurich lodz", ["Zürich", "Łódź"]),
        ("naive plan", "naïve", ["naive"]),
        ("Straße", "STRASSE", ["Straße"]),
        ("写真を検索する方法", "検索", ["検索"]),
        ("写真を検索する方法", "法", ["法"]),
        ("hot🫠cold", "cold", ["cold"]),
        ("🫠hello", "hello", ["hello"]),
        ("so 🫠 it is", "🫠", ["🫠"]),
        ("東京タワー", "タワ", ["タワ"]),
        ("한국어로 말해 주세요", "국어", ["국어"]),
        ("สวัสดีครับ", "ครับ", ["ครับ"]),
        ("नमस्ते हिन्दी", "हिन्दी", ["हिन्दी"]),
        ("Привет, ёлка", "елка", ["ёлка"]),
        ("السَّلام عليكم", "السلام", ["السَّلام"]),
        ("I write C++ daily", "c++", ["C++"]),
        ("I write C# daily", "C#", ["C#"]),
        ("call my_function(x)", "function", ["function"]),
        ("call my_function(x)", "my_func", ["my_func"]),
        ("see example.org/path", "example.org", ["example.org"]),
        ("wait ... what?!", "?!", ["?!"]),
        ("party 🎉 time", "🎉", ["🎉"]),
        ("he said “hello there”", '"hello', ["hello"]),
        ("it's fine", "it’s", ["it's"]),
    ],
)
def test_text_is_found_and_marked(store, chat, text, query, marks):
    message = store.add_message(chat, "user", text)
    store.add_message(chat, "user", "something else entirely")
    (hit,) = store.search(query)
    assert (hit.message_id, hit.chat_id, hit.title) == (message.id, chat, "Gardening in winter")
    assert marked(hit) == marks


@pytest.mark.parametrize(
    ("text", "query"),
    [("C and Java", "c++"), ("Paris", "aris"), ("one two", "one three"), ("日本語", "日語"), ("a.b", "a b c")],
)
def test_text_that_does_not_fit_is_not_found(store, chat, text, query):
    store.add_message(chat, "user", text)
    assert store.search(query) == []


def test_titles_come_before_messages_and_newer_before_older(store, chat, clock):
    first = store.add_message(chat, "user", "winter is long")
    second = store.add_message(chat, "user", "winter is cold")
    clock.now += 5
    later = store.create_chat("Winter sports")
    hits = store.search("winter")
    assert [(hit.chat_id, hit.message_id) for hit in hits] == [
        (later.id, None),
        (chat, None),
        (chat, second.id),
        (chat, first.id),
    ]
    assert (hits[0].snippet, marked(hits[0])) == ("Winter sports", ["Winter"])
    assert store.search("winter", limit=3) == hits[:3]
    assert store.search("winter", limit=1) == hits[:1]
    assert store.search("winter", limit=0) == []


def test_every_branch_is_searched(store, chat):
    old = store.add_message(chat, "user", "aardvark")
    store.add_message(chat, "user", "edited", parent_id=None)
    assert found(store, "aardvark") == [old.id]


def test_new_title_is_found_and_the_old_one_is_not(store, chat):
    store.rename_chat(chat, "Summer plans")
    assert store.search("gardening") == []
    assert found(store, "summer") == [None]


def test_trash_is_not_searched_until_it_is_restored(store, chat):
    message = store.add_message(chat, "user", "needle and ?!")
    store.delete_chat(chat)
    assert (store.search("needle"), store.search("gardening"), store.search("?!")) == ([], [], [])
    store.restore_chat(chat)
    assert found(store, "needle") == found(store, "?!") == [message.id]


def test_emptied_trash_is_not_found_nor_its_rows_again(store, chat):
    store.add_message(chat, "user", "needle")
    store.delete_chat(chat)
    store.empty_trash()
    other = store.create_chat("Other").id
    store.add_message(other, "user", "thread")
    assert store.search("needle") == []
    assert len(store.search("thread")) == 1


@pytest.mark.parametrize("fails", [False, True])
def test_after_a_removal_the_index_is_merged_by_itself_again(store, path, chat, fails):
    store.add_message(chat, "user", "needle")
    store.delete_chat(chat)
    if fails:
        store._database._connection.execute(
            "CREATE TRIGGER refuse BEFORE DELETE ON title_index_docsize BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        with pytest.raises(sqlite3.Error):
            store.empty_trash()
        assert [kept.id for kept in store.trash()] == [chat]
    else:
        store.empty_trash()
    other = store.create_chat("Other").id
    for number in range(40):
        store.add_message(other, "user", f"thread {number}")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (parts,) = connection.execute("SELECT COUNT(DISTINCT segid) FROM message_index_idx").fetchone()
    assert parts < 20


def test_snippet_of_a_long_message_shows_the_match(store, chat):
    store.add_message(chat, "user", "padding " * 500 + "the Needle in it " + "padding " * 500)
    (hit,) = store.search("needle")
    assert marked(hit) == ["Needle"]
    assert len(hit.snippet) < 200
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_empty_query_finds_nothing(store, chat, query):
    store.add_message(chat, "user", "text")
    assert store.search(query) == []


def test_pasted_page_is_cut_to_what_tells_texts_apart(store, chat):
    page = " ".join(f"word{number}" for number in range(5000))
    message = store.add_message(chat, "user", page)
    assert len(terms_of(page)) < 50
    assert found(store, page) == [message.id]
    assert store.search("x" * 1_000_000) == []


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.one_of(st.text(max_size=20), st.text(alphabet="\"*():^-+{}[]ANDORTE. '\x00%_\\", max_size=20)))
@example(query="NEAR(a b)")
@example(query='words : "a')
@example(query="AND OR NOT")
@example(query="'; DROP TABLE chats; --")
@example(query="\ud800")
def test_any_query_is_safe_and_its_spans_fit(store, query):
    if not store.chats():
        store.add_message(store.create_chat().id, "user", "a AND b OR (c) NEAR ' \" * % _ \\ and 日本 é")
    for hit in store.search(query):
        assert all(0 <= a < b <= len(hit.snippet) for a, b in hit.spans)
    assert len(store.chats()) == 1


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_word_of_a_text_finds_it(store, data):
    text = data.draw(st.text(alphabet="aZ9éß日本한が ไทय़ि+#_-.\n", min_size=1, max_size=30))
    chat = store.create_chat("t").id
    message = store.add_message(chat, "user", text)
    for word in text.split():
        hits = [hit for hit in store.search(word) if hit.message_id == message.id]
        assert hits, (text, word)
    store.delete_chat(chat)
