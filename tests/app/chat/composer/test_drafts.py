"""What is typed but not sent: kept for each chat, through other chats and through restarts."""

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest

from app.chat.composer.composer import Composer
from app.chat.composer.drafts import SAVE_AFTER_MS, Drafts
from engine.chats.attachment import Attachment
from engine.chats.store import ChatStore
from engine.core.paths import locate


@pytest.fixture
def store():
    with ChatStore(locate().chats) as store:
        yield store


@pytest.fixture
def composer(qtbot, theme):
    composer = Composer(theme)
    qtbot.addWidget(composer)
    composer.show()
    return composer


@pytest.fixture
def drafts(store, composer):
    drafts = Drafts(store, composer)
    drafts.open(None)
    return drafts


def write(composer, text):
    QTest.keyClicks(composer.focusProxy(), text)


def refuse(store, refused=True):
    """Have SQLite itself turn every change down, as on a disk that became read-only."""
    with store._database.reading() as connection:
        connection.execute(f"PRAGMA query_only = {int(refused)}")


def test_what_is_typed_is_saved_without_being_asked(qtbot, drafts, composer, store):
    write(composer, "half a thou")
    qtbot.waitUntil(lambda: store.draft(None) == "half a thou")


def test_who_types_on_and_on_is_saved_on_the_way(qtbot, drafts, composer, store):
    keys = QTimer(interval=SAVE_AFTER_MS // 4)
    keys.timeout.connect(lambda: write(composer, "a"))
    keys.start()
    qtbot.waitUntil(lambda: store.draft(None) != "")
    assert keys.isActive(), "nobody stopped typing"
    keys.stop()


def test_each_chat_has_its_own(drafts, composer, store):
    first, second = store.create_chat(), store.create_chat()
    write(composer, "for the new one")
    drafts.open(first.id)
    assert composer.text == ""
    write(composer, "for the first")
    drafts.open(second.id)
    write(composer, "for the second")
    drafts.open(first.id)
    assert composer.text == "for the first"
    drafts.open(None)
    assert composer.text == "for the new one"
    assert (store.draft(first.id), store.draft(second.id)) == ("for the first", "for the second")


def test_first_message_takes_the_new_chats_draft_with_it(drafts, composer, store):
    write(composer, "sent")
    drafts.save()
    chat = store.create_chat()
    composer.set_text("")
    drafts.adopt(chat.id)
    write(composer, "the next one")
    drafts.save()
    assert (store.draft(None), store.draft(chat.id)) == ("", "the next one")


def test_sent_text_does_not_come_back(drafts, composer, store):
    chat = store.create_chat()
    drafts.open(chat.id)
    write(composer, "question")
    drafts.save()
    composer.submit()
    drafts.save()
    drafts.open(None)
    drafts.open(chat.id)
    assert composer.text == ""


def test_draft_that_could_not_be_saved_stays_and_is_saved_later(drafts, composer, store):
    refuse(store)
    write(composer, "precious")
    drafts.save()
    assert composer.text == "precious"
    refuse(store, False)
    write(composer, " words")
    drafts.save()
    assert store.draft(None) == "precious words"


def test_undo_does_not_bring_another_chats_words(drafts, composer, store):
    chat = store.create_chat()
    write(composer, "mine")
    drafts.open(chat.id)
    composer.focusProxy().undo()
    assert composer.text == ""


def test_what_is_attached_already_is_not_written_again_with_one_more(drafts, composer, store):
    chat = store.create_chat().id
    one, two, three = (Attachment(f"{name}.txt", "file", name * 9, 3) for name in ("one", "two", "three"))
    written = []
    with store._database.reading() as connection:
        connection.set_trace_callback(lambda statement: written.append(statement.startswith("INSERT INTO draft_attachments")))
    composer.attachments.show([one])
    drafts.save()
    composer.attachments.show([one, two])
    drafts.save()
    assert sum(written) == 2
    store.set_draft_attachments(chat, [one, two])
    drafts.open(chat)
    composer.attachments.show([two, three])
    written.clear()
    drafts.save()
    assert sum(written) == 1
    assert store.draft_attachments(chat) == (two, three)
