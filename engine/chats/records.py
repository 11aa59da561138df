"""What the chat store hands out: plain frozen records. Times are Unix seconds, ids are text made by the store."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from engine.chats.attachment import Attachment
from engine.core.errors import ErrorInfo
from engine.core.facts import ReplyFacts, Role
from engine.core.record import Record

type MessageState = Literal["complete", "streaming", "interrupted", "cancelled", "failed"]


class Folder(Record):
    """A folder of chats. `expanded`: its chats are listed under it."""

    id: str
    name: str
    created_at: float
    expanded: bool


class ChatSummary(Record):
    """A chat as the list shows it. `updated_at` is its last message's time; `deleted_at` is None outside the trash.

    `folder_id` is None outside any folder.
    """

    id: str
    title: str
    created_at: float
    updated_at: float
    pinned: bool
    model_id: str
    deleted_at: float | None = None
    folder_id: str | None = None


class StoredMessage(Record):
    """One message of a chat's tree.

    `parent_id` is None for a first message. The messages with the same parent are siblings (an edit or another try of a
    reply): `sibling_index` counts from 0, oldest first, `sibling_count` counts this one too. `model_id`, `reasoning`, `facts`
    and `error` belong to replies; `facts` is also None where a newer Flint's could not be read. `edited` marks a reply whose
    words are a person's.
    """

    id: str
    chat_id: str
    parent_id: str | None
    role: Role
    text: str
    reasoning: str
    state: MessageState
    created_at: float
    model_id: str
    facts: ReplyFacts | None
    error: ErrorInfo | None
    sibling_index: int
    sibling_count: int
    edited: bool = False
    attachments: tuple[Attachment, ...] = ()


def unsent(text: str, attachments: Sequence[Attachment] = ()) -> StoredMessage:
    """Return what somebody writes as the message it will be; its id is empty."""
    made = StoredMessage("", "", None, "user", text, "", "complete", 0.0, "", None, None, 0, 1)
    return replace(made, attachments=tuple(attachments))


class SearchHit(Record):
    """A place where a search found its words: a message, or the chat's title when `message_id` is None.

    `spans` are the (start, end) character positions of the matches in `snippet`; `created_at` is the message's time, or the
    chat's last.
    """

    chat_id: str
    message_id: str | None
    title: str
    snippet: str
    spans: tuple[tuple[int, int], ...]
    created_at: float = 0.0


class MessageNode(Record):
    """A message as export keeps it. `facts` and `error` are JSON values as stored, so that nothing unknown is lost.

    `active`: of its siblings, the one that is shown when their parent is. `trashed_at` is when it was deleted, None for one
    that is not in the chat's trash; `trashed_with` the message it was deleted with.
    """

    id: str
    parent_id: str | None
    role: Role
    text: str
    reasoning: str
    state: MessageState
    created_at: float
    model_id: str
    facts: Any
    error: Any
    active: bool
    attachments: tuple[Attachment, ...] = ()
    edited: bool = False
    trashed_at: float | None = None
    trashed_with: str | None = None


class ChatTree(Record):
    """A whole chat, every branch: `messages` in the order they were written, so a parent stands before its children.

    `folder` is the one that the chat is in; its id is the chat's `folder_id`.
    """

    chat: ChatSummary
    settings: dict[str, object]
    draft: str
    messages: tuple[MessageNode, ...]
    draft_attachments: tuple[Attachment, ...] = ()
    folder: Folder | None = None


def new_id() -> str:
    """Return a new id, never used before."""
    import uuid  # Not before a chat is made: a window that opens needs none.

    return uuid.uuid4().hex
