"""Whatever was done to chats: they leave and come back to the byte, are read in Markdown, and are found."""

import contextlib
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.chats.attachment import Attachment
from engine.chats.export import export_json, import_json, to_markdown
from engine.chats.export_files import write_json
from engine.chats.import_files import import_files
from engine.chats.store import ChatStore
from engine.core.errors import FlintError
from tests.engine.chats.samples import ERROR, FACTS

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12) | st.sampled_from(
    [
        "naïve café, Łódź",
        "写真を検索する 方法",
        "👩\u200d🚀 and 🫠 here",
        "한국어로 말해",
        "ก็ไม่ได้",
        "```python\nx = 1",
        "| a | b |\n|---|",
        "C++ and $HOME",
        "\r\n\x00\x1f",
        "\u2028\u2029 \ufeff",
        "# Title\n\n> quote",
    ]
)
STATES = st.sampled_from(["complete", "interrupted", "cancelled", "failed"])
NUMBER = st.integers(0, 99)
DEEDS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), TEXT),
        st.tuples(st.just("say"), NUMBER, TEXT, st.booleans()),
        st.tuples(st.just("answer"), NUMBER, TEXT, TEXT, STATES),
        st.tuples(st.just("branch"), NUMBER, TEXT),
        st.tuples(st.just("activate"), NUMBER),
        st.tuples(st.just("delete message"), NUMBER),
        st.tuples(st.just("restore message"), NUMBER),
        st.tuples(st.just("edit reply"), NUMBER, TEXT),
        st.tuples(st.just("draft"), NUMBER, TEXT),
        st.tuples(st.just("settings"), NUMBER, TEXT),
        st.tuples(st.just("rename"), NUMBER, TEXT),
        st.tuples(st.just("pin"), NUMBER, st.booleans()),
        st.tuples(st.just("folder"), TEXT),
        st.tuples(st.just("move"), NUMBER, NUMBER),
        st.tuples(st.just("delete chat"), NUMBER),
    ),
    max_size=25,
)


class Doer:
    """Does deeds to a store; what cannot be done is left."""

    def __init__(self, store):
        self.store, self.now = store, 0
        self.chats, self.messages = [store.create_chat("First").id], []

    def do(self, name, *values):
        with contextlib.suppress(FlintError):
            getattr(self, name.replace(" ", "_"))(*values)

    def _chat(self, number):
        return self.chats[number % len(self.chats)]

    def _message(self, number):
        if not self.messages:
            self.say(number, "Something", False)
        return self.messages[number % len(self.messages)]

    def create(self, title):
        self.chats.append(self.store.create_chat(title, "model", {"seed": 1}).id)

    def say(self, number, text, attached):
        files = (Attachment("a.csv", "file", text, 3),) if attached else ()
        self.messages.append(self.store.add_message(self._chat(number), "user", text, attachments=files).id)

    def answer(self, number, text, thought, state):
        chat = self._chat(number)
        path = self.store.messages(chat)
        reply = self.store.begin_reply(chat, path[-1].id if path else None, "model")
        self.messages.append(reply.id)
        self.store.finish_reply(reply.id, text, state, FACTS, ERROR if state == "failed" else None, reasoning=thought)

    def branch(self, number, text):
        message = self.store.message(self._message(number))
        self.messages.append(self.store.add_message(message.chat_id, "user", text, message.parent_id).id)

    def activate(self, number):
        self.store.activate(self._message(number))

    def delete_message(self, number):
        self.store.delete_message(self._message(number))

    def restore_message(self, number):
        self.store.restore_message(self._message(number))

    def edit_reply(self, number, text):
        self.messages.append(self.store.edit_reply(self._message(number), text).id)

    def draft(self, number, text):
        self.store.set_draft(self._chat(number), text)
        self.store.set_draft_attachments(self._chat(number), (Attachment(text, "pasted", text),))

    def settings(self, number, text):
        self.store.set_chat_settings(self._chat(number), {"system_prompt": text, "temperature": 0.25})

    def rename(self, number, text):
        self.store.rename_chat(self._chat(number), text)

    def pin(self, number, pinned):
        self.store.pin_chats([self._chat(number)], pinned)

    def folder(self, name):
        self.store.folders.create(name)

    def move(self, number, folder):
        folders = self.store.folders.all()
        self.store.folders.move([self._chat(number)], folders[folder % len(folders)].id if folders else None)

    def delete_chat(self, number):
        self.store.delete_chat(self._chat(number))


@contextlib.contextmanager
def lived_in(deeds):
    """A store in which `deeds` were done, and an empty one."""
    with tempfile.TemporaryDirectory() as home:
        moments = iter(range(1_700_000_000, 1_800_000_000))
        with (
            ChatStore(Path(home) / "one" / "chats.sqlite3", lambda: float(next(moments))) as store,
            ChatStore(Path(home) / "two" / "chats.sqlite3") as other,
        ):
            doer = Doer(store)
            for deed in deeds:
                doer.do(*deed)
            yield doer, other, Path(home)


@settings(max_examples=60)
@given(DEEDS)
def test_chats_come_back_to_the_byte(deeds):
    with lived_in(deeds) as (doer, other, home):
        text = export_json(doer.store, doer.chats)
        import_json(other, text)
        assert export_json(other, doer.chats) == text
        for chat in doer.chats:
            assert other.messages(chat) == doer.store.messages(chat)
        write_json(doer.store, doer.chats, home / "all.json")
        assert (home / "all.json").read_text("utf-8") == text
        with ChatStore(home / "three" / "chats.sqlite3") as third:
            report = import_files(third, [home / "all.json"])
            assert report.chat_ids == tuple(doer.chats)
            assert export_json(third, doer.chats) == text
            assert import_files(third, [home / "all.json"]).known == len(doer.chats)


@settings(max_examples=60)
@given(DEEDS)
def test_markdown_holds_every_word_that_is_shown(deeds):
    with lived_in(deeds) as (doer, _, _):
        for chat in doer.chats:
            text = to_markdown(doer.store.read_chat(chat))
            at = 0
            for message in doer.store.messages(chat):
                for word in [*message.reasoning.split(), *message.text.split()]:
                    at = text.find(word, at)
                    assert at >= 0, (word, text)
                    at += len(word)


@settings(max_examples=60)
@given(DEEDS)
def test_search_finds_every_word_of_what_is_not_deleted_and_nothing_else(deeds):
    with lived_in(deeds) as (doer, _, _):
        store = doer.store
        gone = {chat.id for chat in store.trash()}
        for chat in doer.chats:
            for node in store.read_chat(chat).messages:
                for word in node.text.split():
                    found = {hit.message_id for hit in store.search(word, 1000)}
                    assert (node.id in found) == (chat not in gone and node.trashed_at is None), (word, node.text)
