"""Attachments in the store: with their message and their draft, through restarts, export, search and the trash."""

import sqlite3
from dataclasses import replace

import pytest

from engine.chats.attachment import Attachment
from engine.chats.export import export_json, export_markdown, from_json, import_json, to_json
from engine.chats.schema import MIGRATIONS, migrate
from engine.chats.store import ChatStore
from engine.core.errors import ChatNotFound, UsageError

LOG = Attachment("week-29.csv", "file", "day,cups\nmon,2\n", 288)
NOTE = Attachment("note.txt", "file", "Ask Ada", 2)
MORE = Attachment("more.txt", "file", "And Bo", 2)
PAPER = Attachment("review ü.pdf", "pdf", "Caffeine \U0001f3fa ```\n", 3186)


def test_a_message_keeps_what_was_attached_in_its_order(store, tmp_path):
    chat = store.create_chat().id
    added = store.add_message(chat, "user", "Look", attachments=[LOG, PAPER])
    assert added.attachments == (LOG, PAPER)
    plain = store.add_message(chat, "user", "Other", parent_id=None)
    store.activate(added.id)
    assert store.messages(chat) == [store.message(added.id)]
    assert [one.attachments for one in store.siblings(plain.id)] == [(LOG, PAPER), ()]


def test_a_draft_keeps_what_is_attached_and_another_chats_is_its_own(store):
    chat = store.create_chat().id
    store.set_draft_attachments(chat, [LOG])
    store.set_draft_attachments(None, [PAPER, LOG])
    assert store.draft_attachments(chat) == (LOG,)
    assert store.draft_attachments(None) == (PAPER, LOG)
    store.set_draft_attachments(None, [])
    assert (store.draft_attachments(None), store.draft_attachments(chat)) == ((), (LOG,))
    with pytest.raises(ChatNotFound):
        store.set_draft_attachments("gone", [LOG])


@pytest.mark.parametrize(
    ("after", "written"),
    [
        ([LOG, PAPER, NOTE], 0),
        ([LOG, PAPER, NOTE, MORE], 1),
        ([LOG, NOTE], 0),
        ([LOG, NOTE, MORE], 1),
        ([LOG, replace(PAPER, tokens=9), NOTE], 0),
        ([LOG, replace(PAPER, text="Other"), NOTE], 2),
        ([MORE, LOG, PAPER, NOTE], 4),
        ([], 0),
    ],
)
def test_of_a_draft_only_what_changed_is_written(store, after, written):
    store.set_draft_attachments(None, [LOG, PAPER, NOTE])
    inserts = []
    with store._database.reading() as connection:
        connection.set_trace_callback(lambda statement: inserts.append(statement.startswith("INSERT INTO draft_attachments")))
    store.set_draft_attachments(None, after, [LOG, PAPER, NOTE])
    assert sum(inserts) == written
    assert [one.text for one in store.draft_attachments(None)] == [one.text for one in after]


def test_what_is_not_known_of_a_draft_is_written_whole(store):
    store.set_draft_attachments(None, [LOG])
    store.set_draft_attachments(None, [LOG, PAPER], [LOG, PAPER])
    assert store.draft_attachments(None) == (LOG, PAPER)


def test_a_chat_of_attachments_alone_is_named_after_them(store):
    chat = store.create_chat().id
    store.add_message(chat, "user", "", attachments=[LOG])
    assert store.chat(chat).title == "week-29.csv"


def test_export_and_import_lose_nothing_of_them(store, tmp_path):
    chat = store.create_chat("Sleep").id
    store.add_message(chat, "user", "Look", attachments=[LOG, PAPER])
    store.set_draft_attachments(chat, [PAPER])
    text = export_json(store, [chat])
    assert to_json(from_json(text)) == text
    with ChatStore(tmp_path / "other" / "chats.sqlite3") as other:
        import_json(other, text)
        assert other.messages(chat) == store.messages(chat)
        assert other.draft_attachments(chat) == (PAPER,)
        assert [hit.message_id for hit in other.search("week-29")] == [store.messages(chat)[0].id]
    assert "File: week-29.csv\n```csv\nday,cups\nmon,2\n```\n\nText of the PDF" in export_markdown(store, chat)


@pytest.mark.parametrize("broken", ['"kind": "folder"', '"tokens": -1', '"text": 3'])
def test_a_damaged_attachment_is_refused(store, broken):
    chat = store.create_chat().id
    store.add_message(chat, "user", "Look", attachments=[LOG])
    name = broken.split(":")[0]
    kept = {'"kind"': '"kind": "file"', '"tokens"': '"tokens": 288', '"text"': '"text": "day,cups\\nmon,2\\n"'}[name]
    text = export_json(store, [chat])
    assert kept in text
    with pytest.raises(UsageError):
        from_json(text.replace(kept, broken))


def test_an_export_from_before_there_were_any_is_read(store):
    chat = store.create_chat().id
    store.add_message(chat, "user", "Look")
    text = export_json(store, [chat]).replace('"draft_attachments": [],', "").replace(',\n     "attachments": []', "")
    assert "attachments" not in text
    assert from_json(text)[0].messages[0].attachments == ()


def test_a_message_is_found_by_the_name_of_what_is_attached(store):
    chat = store.create_chat().id
    message = store.add_message(chat, "user", "Look at this", attachments=[LOG])
    (hit,) = store.search("week-29")
    assert hit.message_id == message.id
    assert "week-29.csv" in hit.snippet


def test_emptying_the_trash_takes_them_along(store, tmp_path):
    chat = store.create_chat().id
    store.add_message(chat, "user", "Look", attachments=[LOG])
    store.set_draft_attachments(chat, [PAPER])
    store.delete_chat(chat)
    store.empty_trash()
    with store._database.reading() as connection:
        for table in ("attachments", "draft_attachments"):
            assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)


def test_a_database_from_before_gets_the_tables(tmp_path):
    connection = sqlite3.connect(tmp_path / "old.sqlite3", isolation_level=None)
    migrate(connection, MIGRATIONS[:1])
    connection.execute("INSERT INTO chats (id, title, created_at, updated_at, model_id) VALUES ('c', 't', 0, 0, '')")
    migrate(connection)
    assert connection.execute("SELECT COUNT(*) FROM attachments").fetchone() == (0,)
    assert connection.execute("SELECT title FROM chats").fetchone() == ("t",)
    connection.close()
