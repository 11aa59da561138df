"""The chats: their list, their message trees, drafts, folders, trash and search, in one SQLite file."""

import json
import sqlite3
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from engine.chats import archive, attached, branching, message_trash, odds, search, trash, tree
from engine.chats.attachment import Attachment, names
from engine.chats.database import Database, storable
from engine.chats.folders import Folders
from engine.chats.owner import Owner, this_process
from engine.chats.records import ChatSummary, ChatTree, SearchHit, StoredMessage, new_id
from engine.chats.remembered import recall, remember
from engine.chats.sweep import sweep
from engine.chats.titles import title_from
from engine.core.errors import ErrorInfo, UsageError
from engine.core.facts import ReplyFacts, Role
from engine.core.odds import TokenOdds

ACTIVE_LEAF: Final = "active-leaf"
"""As a parent: the last message on the chat's active path, none in an empty chat."""

type FinalState = Literal["complete", "interrupted", "cancelled", "failed"]

_FINAL_STATES = ("complete", "interrupted", "cancelled", "failed")
_NEW_CHAT_DRAFT = "draft of the new chat"


class ChatStore:
    """The chat database at `path`, made or migrated when opened. Usable from any thread, and beside other processes.

    Opening raises `StoreTooNew` or `StoreBroken` (the file is left untouched), `ReadOnly`, `DiskFull` or `StoreBusy`; so can
    every method, the first excepted. A failed change is undone whole. `clock` gives the time in Unix seconds.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._database = Database(path)
        self._clock = clock
        self._owner: Owner | None = None
        self.folders = Folders(self._database, clock)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._database.close()

    def __enter__(self) -> "ChatStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- the list ------------------------------------------------------------------------------------------------------

    def create_chat(self, title: str = "", model_id: str = "", settings: Mapping[str, object] | None = None) -> ChatSummary:
        """Make an empty chat. Without a title, its first user message gives it one. `settings` must be JSON values."""
        now = self._clock()
        chat = ChatSummary(new_id(), storable(title), now, now, False, storable(model_id))
        with self._database.writing() as connection:
            archive.write_chat(connection, ChatTree(chat, dict(settings or {}), "", ()))
        return chat

    def chats(self) -> list[ChatSummary]:
        """Return the chats outside the trash, newest activity first."""
        return self._summaries("deleted_at IS NULL ORDER BY updated_at DESC, row DESC")

    def chats_since(self, moment: float, chat_id: str | None = None) -> list[ChatSummary]:
        """Return those with activity at `moment` or later, and the one named, newest activity first."""
        condition = "deleted_at IS NULL AND (updated_at >= ? OR id = ?) ORDER BY updated_at DESC, row DESC"
        return self._summaries(condition, (moment, chat_id))

    def chat(self, chat_id: str) -> ChatSummary:
        """Return one chat; raise `ChatNotFound` also for one in the trash."""
        with self._database.reading() as connection:
            return self._summary(connection, tree.chat_row(connection, chat_id, trashed=False))

    def rename_chat(self, chat_id: str, title: str) -> ChatSummary:
        """Give a chat a title; an empty one lets the next user message title it. Raises `ChatNotFound`."""
        with self._database.writing() as connection:
            row = tree.chat_row(connection, chat_id)
            self._set_title(connection, row, " ".join(storable(title).split()))
            return self._summary(connection, row)

    def pin_chats(self, chat_ids: Collection[str], pinned: bool) -> None:
        """Pin chats, or let go of them, all or none. Raises `ChatNotFound`."""
        with self._database.writing() as connection:
            rows = [tree.chat_row(connection, id_) for id_ in chat_ids]
            connection.executemany("UPDATE chats SET pinned = ? WHERE row = ?", [(int(pinned), row) for row in rows])

    def set_chat_model(self, chat_id: str, model_id: str) -> None:
        """Set the model that answers in a chat. Raises `ChatNotFound`."""
        self._set("model_id", chat_id, storable(model_id))

    def chat_settings(self, chat_id: str) -> dict[str, object]:
        """Return the settings kept with a chat, {} at first. Raises `ChatNotFound`."""
        settings: dict[str, object] = json.loads(self._get("settings", chat_id))
        return settings

    def set_chat_settings(self, chat_id: str, settings: Mapping[str, object]) -> None:
        """Keep `settings` (JSON values) with a chat, in place of what was kept. Raises `ChatNotFound`."""
        self._set("settings", chat_id, tree.dump(dict(settings)))

    # -- the trash -----------------------------------------------------------------------------------------------------

    def delete_chat(self, chat_id: str) -> None:
        """Move a chat to the trash; `restore_chat` undoes it. Raises `ChatNotFound`."""
        self.delete_chats([chat_id])

    def delete_chats(self, chat_ids: Collection[str]) -> None:
        """Move chats to the trash, all or none. Raises `ChatNotFound`."""
        with self._database.writing() as connection:
            trash.put(connection, [tree.chat_row(connection, id_) for id_ in chat_ids], self._clock())

    def restore_chat(self, chat_id: str) -> ChatSummary:
        """Take a chat out of the trash, to where it stood. Raises `ChatNotFound` once it is gone for good."""
        return self.restore_chats([chat_id])[0]

    def restore_chats(self, chat_ids: Collection[str]) -> list[ChatSummary]:
        """Take chats out of the trash, all or none, each to where it stood. Raises `ChatNotFound`."""
        with self._database.writing() as connection:
            rows = [tree.chat_row(connection, id_) for id_ in chat_ids]
            trash.take_out(connection, rows)
            return [self._summary(connection, row) for row in rows]

    def trash(self) -> list[ChatSummary]:
        """Return the chats in the trash, the last deleted first."""
        return self._summaries("deleted_at >= 0 ORDER BY deleted_at DESC, row DESC")

    def trash_count(self) -> int:
        """Return how many chats are in the trash."""
        with self._database.reading() as connection:
            return int(connection.execute("SELECT COUNT(*) FROM chats WHERE deleted_at >= 0").fetchone()[0])

    def discard_trash(self, older_than_s: float | None = None) -> int:
        """Let the chats in the trash be gone (those deleted at least `older_than_s` seconds ago); return how many.

        Nobody finds them any more; `sweep` removes them from the file. What the engine remembers of them goes with
        `ForgetChats`, which whoever empties the trash sends for `removed_chats`. So it is for the messages in the chats' own
        trash, whose chats stay.
        """
        until = self._clock() - (older_than_s or 0.0)
        with self._database.writing() as connection:
            found = trash.deleted(connection, None if older_than_s is None else until)
            trimmed = message_trash.give_up(connection, until)
            if found or trimmed:
                trash.give_up(connection, found, trimmed)
        return len(found)

    def discard_chats(self, chat_ids: Collection[str]) -> None:
        """Let chats in the trash be gone, all or none, as `discard_trash` does. Raises `ChatNotFound`."""
        with self._database.writing() as connection:
            trash.give_up(connection, {tree.chat_row(connection, id_, trashed=True): id_ for id_ in chat_ids})

    def is_swept(self) -> bool:
        """Whether `sweep` has nothing to do."""
        with self._database.reading() as connection:
            return not trash.is_to_sweep(connection)

    def sweep(self, told: Callable[[int, int], object] = lambda _done, _total: None) -> None:
        """Remove what was discarded from the file, as `engine.chats.sweep` does; others can use the store meanwhile."""
        if not self.is_swept():
            sweep(self._database, told)

    def empty_trash(self, older_than_s: float | None = None) -> int:
        """Discard the trash and sweep at once; return how many chats that were."""
        found = self.discard_trash(older_than_s)
        self.sweep()
        return found

    def remove_chats(self, chat_ids: Collection[str]) -> None:
        """Discard chats in the trash, all or none, and sweep at once. Raises `ChatNotFound`."""
        self.discard_chats(chat_ids)
        self.sweep()

    def removed_chats(self) -> list[str]:
        """Return the ids of chats that are gone for good, or some messages of which are, but perhaps not yet what the engine
        remembers of them."""
        with self._database.reading() as connection:
            return trash.removed(connection)

    def forget_removed(self, chat_ids: Collection[str]) -> None:
        """Drop these from `removed_chats`: the engine has forgotten them, too."""
        with self._database.writing() as connection:
            trash.forget_removed(connection, chat_ids)

    # -- messages ------------------------------------------------------------------------------------------------------

    def messages(self, chat_id: str) -> list[StoredMessage]:
        """Return a chat's active path, from its first message to the active leaf. Raises `ChatNotFound`."""
        with self._database.reading() as connection:
            chat = tree.chat_row(connection, chat_id)
            return attached.joined(tree.active_path(connection, chat), attached.of_chat(connection, chat))

    def message(self, message_id: str) -> StoredMessage:
        """Return one message of any branch. Raises `ChatNotFound`."""
        with self._database.reading() as connection:
            row = tree.place_of(connection, message_id).row
            return replace(tree.one(connection, row), attachments=attached.of_message(connection, row))

    def siblings(self, message_id: str) -> list[StoredMessage]:
        """Return a message and the others with the same parent, oldest first. Raises `ChatNotFound`."""
        with self._database.reading() as connection:
            place = tree.place_of(connection, message_id)
            return attached.joined(tree.siblings(connection, place), attached.of_chat(connection, place.chat))

    def activate(self, message_id: str) -> None:
        """Make a message's branch the active one, down to its most recently active leaf. Raises `ChatNotFound`."""
        with self._database.writing() as connection:
            place = tree.place_of(connection, message_id)
            message_trash.insist_living(connection, place.row)
            tree.make_active(connection, place.row)

    def delete_message(self, message_id: str) -> int:
        """Move a message and all that follows it to its chat's trash; return how many went. A sibling takes its place.

        `restore_message` undoes it until the trash is emptied. Raises `ChatNotFound`.
        """
        with self._database.writing() as connection:
            return message_trash.delete(connection, tree.place_of(connection, message_id), self._clock())

    def restore_message(self, message_id: str, *, activate: bool = True) -> list[str]:
        """Bring back what was deleted with a message, and show it or leave shown what is.

        Returns the messages that are deleted no more; what followed them came along. Raises `ChatNotFound`.
        """
        with self._database.writing() as connection:
            return message_trash.restore(connection, tree.place_of(connection, message_id), activate=activate)

    def last_deleted_message(self, chat_id: str) -> str | None:
        """Return the message of a chat that was deleted last and can still be restored. Raises `ChatNotFound`."""
        with self._database.reading() as connection:
            return message_trash.newest(connection, tree.chat_row(connection, chat_id))

    def trashed_messages(self, chat_id: str | None = None) -> int:
        """Return how many messages are in a chat's own trash, or in those of all chats outside the trash.

        Raises `ChatNotFound`.
        """
        with self._database.reading() as connection:
            return message_trash.count(connection, None if chat_id is None else tree.chat_row(connection, chat_id))

    def add_message(
        self,
        chat_id: str,
        role: Role,
        text: str,
        parent_id: str | None = ACTIVE_LEAF,
        attachments: Sequence[Attachment] = (),
    ) -> StoredMessage:
        """Add a whole message and make it the active leaf. The first of a user titles an untitled chat.

        `parent_id` is the message it follows; None makes it a first message. To edit one, add its new text under its parent.
        Raises `ChatNotFound` (also for a chat in the trash), `UsageError` for a parent in another chat.
        """
        text = storable(text)
        with self._database.writing() as connection:
            chat = tree.chat_row(connection, chat_id, trashed=False)
            message = tree.NewMessage(new_id(), role, text, "complete", self._clock())
            row = self._insert(connection, chat, parent_id, message)
            attached.write_to_message(connection, row, attachments)
            search.index_message(connection, row, search.searched(text, attachments))
            if role == "user" and not self._summary(connection, chat).title:
                self._set_title(connection, chat, title_from(text) or title_from(storable(names(attachments))))
            return replace(tree.one(connection, row), attachments=attached.of_message(connection, row))

    # -- replies -------------------------------------------------------------------------------------------------------

    def begin_reply(self, chat_id: str, parent_id: str | None, model_id: str) -> StoredMessage:
        """Add an empty reply that this process will write, as the active leaf. Errors as in `add_message`."""
        with self._database.writing() as connection:
            chat = tree.chat_row(connection, chat_id, trashed=False)
            message = tree.NewMessage(
                new_id(), "assistant", "", "streaming", self._clock(), storable(model_id), owner=self._this_process()
            )
            return tree.one(connection, self._insert(connection, chat, parent_id, message))

    def edit_reply(self, message_id: str, text: str) -> StoredMessage:
        """Put a finished reply in other words, as a sibling that is shown now; return it.

        Raises `ChatNotFound`, `UsageError`.
        """
        with self._database.writing() as connection:
            place = tree.place_of(connection, message_id)
            message_trash.insist_living(connection, place.row)
            return tree.one(connection, branching.edit_reply(connection, place, text, self._clock()))

    def resume_reply(self, message_id: str) -> StoredMessage:
        """Let this process write on at a finished reply that nothing follows; return it, what it holds being kept.

        Raises `ChatNotFound`, `UsageError`.
        """
        with self._database.writing() as connection:
            place = tree.place_of(connection, message_id)
            message_trash.insist_living(connection, place.row)
            branching.resume_reply(connection, place, self._this_process())
            return tree.one(connection, place.row)

    def save_reply(self, message_id: str, text: str, reasoning: str = "") -> None:
        """Keep what a streaming reply holds so far: one row, not yet searchable.

        A late call for a finished reply changes nothing. Raises `ChatNotFound` when the chat was removed for good.
        """
        with self._database.writing() as connection:
            self._write_reply(connection, message_id, text, reasoning, "streaming", None, None)

    def finish_reply(
        self,
        message_id: str,
        text: str,
        state: FinalState,
        facts: ReplyFacts | None = None,
        error: ErrorInfo | None = None,
        reasoning: str = "",
    ) -> StoredMessage:
        """Keep a reply in its final form, make it searchable, and return it. A second call changes nothing.

        Raises `ChatNotFound` when the chat was removed for good.
        """
        if state not in _FINAL_STATES:
            raise UsageError(f"A reply cannot end as “{state}”.", f"It ends as one of {', '.join(_FINAL_STATES)}.")
        with self._database.writing() as connection:
            place = self._write_reply(connection, message_id, text, reasoning, state, facts, error)
            if place is None:
                return tree.one(connection, tree.place_of(connection, message_id).row)
            connection.execute("UPDATE messages SET owner_pid = NULL, owner_started = NULL WHERE row = ?", (place.row,))
            connection.execute("UPDATE chats SET updated_at = ? WHERE row = ?", (self._clock(), place.chat))
            search.index_message(connection, place.row, storable(text))
            return tree.one(connection, place.row)

    def keep_odds(self, message_id: str, kept: TokenOdds) -> None:
        """Keep how likely a reply's tokens were; it goes with the message. Raises `ChatNotFound`."""
        with self._database.writing() as connection:
            odds.write(connection, tree.place_of(connection, message_id).row, kept)

    def odds(self, message_id: str) -> TokenOdds | None:
        """Return how likely a reply's tokens were, where that was kept. Raises `ChatNotFound`."""
        with self._database.reading() as connection:
            data = odds.stored(connection, tree.place_of(connection, message_id).row)
        return None if data is None else odds.read(data)  # Others may use the database while it is worked out.

    def recover(self) -> int:
        """Mark the replies that a process left unfinished when it ended as interrupted, index them, and return how many.

        A reply that another live process is writing is left alone.
        """
        with self._database.writing() as connection:
            rows = connection.execute("SELECT row, text, owner_pid, owner_started FROM messages WHERE state = 'streaming'")
            left = [(row, text) for row, text, pid, started in rows if pid is None or not Owner(pid, started).is_alive()]
            for row, text in left:
                connection.execute("UPDATE messages SET state = 'interrupted' WHERE row = ?", (row,))
                search.index_message(connection, row, text)
        return len(left)

    # -- drafts and small things ---------------------------------------------------------------------------------------

    def draft(self, chat_id: str | None) -> str:
        """Return the text waiting in a chat's composer; None asks for the new chat that does not exist yet."""
        return self.recall(_NEW_CHAT_DRAFT) if chat_id is None else str(self._get("draft", chat_id))

    def set_draft(self, chat_id: str | None, text: str) -> None:
        """Keep the text waiting in a chat's composer. Raises `ChatNotFound`."""
        if chat_id is None:
            self.remember(_NEW_CHAT_DRAFT, text)
        else:
            self._set("draft", chat_id, storable(text))

    def draft_attachments(self, chat_id: str | None) -> tuple[Attachment, ...]:
        """Return what is attached in a chat's composer; None as for `draft`. Raises `ChatNotFound`."""
        with self._database.reading() as connection:
            return attached.of_draft(connection, None if chat_id is None else tree.chat_row(connection, chat_id))

    def set_draft_attachments(
        self, chat_id: str | None, attachments: Sequence[Attachment], before: Sequence[Attachment] = ()
    ) -> None:
        """Keep what is attached in a chat's composer, in place of what was; only what is not as `before` is written.

        Raises `ChatNotFound`.
        """
        with self._database.writing() as connection:
            row = None if chat_id is None else tree.chat_row(connection, chat_id)
            attached.write_to_draft(connection, row, attachments, before)

    def remember(self, key: str, value: str) -> None:
        """Keep a small value across restarts (the last chat, the last model, the window's place)."""
        with self._database.writing() as connection:
            remember(connection, key, storable(value))

    def recall(self, key: str, default: str = "") -> str:
        """Return what `remember` kept, or `default`."""
        with self._database.reading() as connection:
            return recall(connection, key, default)

    # -- search, export, import ----------------------------------------------------------------------------------------

    def search(self, query: str, limit: int = 100) -> list[SearchHit]:
        """Return where every word of `query` begins a word: titles first, then messages of every branch, newest first.

        Case and diacritics are ignored, chats in the trash left out; any text is a safe query.
        """
        with self._database.reading() as connection:
            return search.search(connection, storable(query), limit)

    def read_chat(self, chat_id: str) -> ChatTree:
        """Return a chat with all of its branches. Raises `ChatNotFound`."""
        with self._database.reading() as connection:
            return archive.read_chat(connection, tree.chat_row(connection, chat_id))

    def write_chats(self, chats: list[ChatTree]) -> list[ChatSummary]:
        """Add whole chats, all or none: under their own ids where those are free, else as copies with new ones."""
        with self._database.writing() as connection:
            ids = [archive.write_chat(connection, whole) for whole in chats]
            return [self._summary(connection, tree.chat_row(connection, id_)) for id_ in ids]

    # -- inner parts ---------------------------------------------------------------------------------------------------

    def _this_process(self) -> Owner:
        self._owner = self._owner or this_process()
        return self._owner

    def _insert(self, connection: sqlite3.Connection, chat: int, parent_id: str | None, message: tree.NewMessage) -> int:
        leaf = tree.active_leaf(connection, chat)
        parent = leaf if parent_id == ACTIVE_LEAF else tree.parent_row(connection, chat, parent_id)
        if parent is not None:
            message_trash.insist_living(connection, parent)
        row = tree.insert(connection, chat, parent, message)
        if parent is not None and parent == leaf:
            tree.lengthen(connection, parent, row)
        else:
            tree.make_active(connection, row)
        connection.execute("UPDATE chats SET updated_at = ? WHERE row = ?", (message.created_at, chat))
        return row

    def _write_reply(
        self,
        connection: sqlite3.Connection,
        message_id: str,
        text: str,
        reasoning: str,
        state: str,
        facts: ReplyFacts | None,
        error: ErrorInfo | None,
    ) -> tree.Place | None:
        """Write a reply that this process owns; return None when it was finished before.

        Matching the owner, not the state, lets the writer win where another process took it for dead (a clock that jumped).
        """
        place = tree.place_of(connection, message_id)
        owner = self._this_process()
        cursor = connection.execute(
            "UPDATE messages SET text = ?, reasoning = ?, state = ?, facts = ?, error = ?"
            " WHERE row = ? AND owner_pid = ? AND owner_started = ?",
            (
                *(storable(text), storable(reasoning), state, tree.as_json(facts), tree.as_json(error)),
                *(place.row, owner.pid, owner.started),
            ),
        )
        return place if cursor.rowcount else None

    def _summaries(self, condition: str, values: tuple[object, ...] = ()) -> list[ChatSummary]:
        with self._database.reading() as connection:
            rows = connection.execute(f"SELECT {archive.CHAT_COLUMNS} FROM chats WHERE {condition}", values)
            return [archive.summary(row) for row in rows]

    def _summary(self, connection: sqlite3.Connection, row: int) -> ChatSummary:
        return archive.summary(connection.execute(f"SELECT {archive.CHAT_COLUMNS} FROM chats WHERE row = ?", (row,)).fetchone())

    def _set_title(self, connection: sqlite3.Connection, row: int, title: str) -> None:
        connection.execute("UPDATE chats SET title = ? WHERE row = ?", (title, row))
        search.index_title(connection, row, title)

    def _get(self, column: str, chat_id: str) -> str:
        with self._database.reading() as connection:
            row = tree.chat_row(connection, chat_id)
            return str(connection.execute(f"SELECT {column} FROM chats WHERE row = ?", (row,)).fetchone()[0])

    def _set(self, column: str, chat_id: str, value: str) -> None:
        with self._database.writing() as connection:
            row = tree.chat_row(connection, chat_id)
            connection.execute(f"UPDATE chats SET {column} = ? WHERE row = ?", (value, row))
