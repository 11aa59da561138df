"""Another chat made of the path to a message, so that both can go on by themselves."""

import re
import time
from collections.abc import Callable
from dataclasses import replace

from engine.chats.records import ChatSummary, ChatTree, MessageNode, new_id
from engine.chats.store import ChatStore
from engine.chats.summary import KEY

_FORKED = re.compile(r"\(fork(?: (\d+))?\)\Z")


def fork(store: ChatStore, message_id: str, clock: Callable[[], float] = time.time) -> ChatSummary:
    """Make a chat of what leads to a message, with the chat's settings, and return it. Raises `ChatNotFound`."""
    whole = store.read_chat(store.message(message_id).chat_id)
    return store.write_chats([forked(whole, message_id, clock())])[0]


def forked(whole: ChatTree, message_id: str, now: float) -> ChatTree:
    """Return a chat that holds the path of another up to a message, under new ids."""
    nodes = {node.id: node for node in whole.messages}
    path: list[MessageNode] = []
    at: str | None = message_id
    while at is not None:
        path.insert(0, nodes[at])
        at = nodes[at].parent_id
    new = {node.id: new_id() for node in path}
    chat = replace(
        whole.chat,
        id=new_id(),
        title=fork_title(whole.chat.title),
        created_at=now,
        updated_at=now,
        pinned=False,
        deleted_at=None,
    )
    messages = tuple(
        replace(node, id=new[node.id], parent_id=None if node.parent_id is None else new[node.parent_id], active=True)
        for node in path
    )
    return ChatTree(chat, _settings(whole.settings, new), "", messages)


def fork_title(title: str) -> str:
    """Return the title of a fork: “Letter (fork)”, then “Letter (fork 2)”."""
    found = _FORKED.search(title)
    if not title or not found:
        return f"{title} (fork)".strip()
    return f"{title[: found.start()]}(fork {int(found[1] or 1) + 1})"


def _settings(settings: dict[str, object], new: dict[str, str]) -> dict[str, object]:
    """Return a chat's settings for its fork: a summary goes along where the message it reaches to does."""
    summary = settings.get(KEY)
    if not isinstance(summary, dict):
        return settings
    rest = {name: value for name, value in settings.items() if name != KEY}
    upto = new.get(str(summary.get("upto")))
    return {**rest, KEY: {**summary, "upto": upto}} if upto else rest
