"""Chats as files: JSON that loses nothing and can be imported again, and Markdown to read."""

import dataclasses
import datetime
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeGuard, get_args

from engine.chats.attachment import Attachment, AttachmentKind, framed
from engine.chats.records import ChatSummary, ChatTree, Folder, MessageNode, MessageState
from engine.chats.store import ChatStore
from engine.core.errors import UsageError
from engine.core.facts import Role

FORMAT = "flint-chats"
VERSION = 1
"""Raised only when an older Flint could no longer read what is written; fields may be added without."""

_HINT = "Choose a JSON file that Flint exported."
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_STATES = {
    "streaming": "This reply was still being written.",
    "interrupted": "This reply was interrupted.",
    "cancelled": "This reply was stopped.",
    "failed": "This reply failed.",
}


def export_json(store: ChatStore, chat_ids: Iterable[str]) -> str:
    """Return chats with every branch, facts, settings and times as JSON, deleted messages too. Raises `ChatNotFound`."""
    return to_json(store.read_chat(chat_id) for chat_id in chat_ids)


def import_json(store: ChatStore, text: str) -> list[ChatSummary]:
    """Add the chats of an exported JSON text, all or none, and return them.

    They keep their ids where those are free and become copies otherwise. Raises `UsageError` for anything but such a text.
    """
    return store.write_chats(from_json(text))


def export_markdown(store: ChatStore, chat_id: str) -> str:
    """Return a chat's active path as Markdown to read, without what was deleted. Raises `ChatNotFound`."""
    return to_markdown(store.read_chat(chat_id))


def to_json(chats: Iterable[ChatTree]) -> str:
    """Return whole chats as JSON text."""
    return "".join(json_pieces(chats))


def json_pieces(chats: Iterable[ChatTree]) -> Iterator[str]:
    """Yield the text of `to_json` chat by chat, so that no more than one of them has to be in memory."""
    yield f'{{\n "format": "{FORMAT}",\n "version": {VERSION},\n "chats": ['
    between = ""
    for whole in chats:
        text = json.dumps(_as_json(whole), ensure_ascii=False, indent=1)
        # Not splitlines: a message may hold other line breaks than the ones written here.
        yield between + "".join(f"\n  {line}" for line in text.split("\n"))
        between = ","
    yield "\n ]\n}\n" if between else "]\n}\n"


def from_json(text: str) -> list[ChatTree]:
    """Return the chats in a text that `to_json` wrote, everything in it checked. Raises `UsageError`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("This is not a JSON file, or it was cut short.", _HINT) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise UsageError("This file holds no chats that Flint exported.", _HINT)
    check_version(document.get("version"))
    return [chat_from_json(raw) for raw in _field(document, "chats", _is_list)]


def check_version(version: object) -> None:
    """Raise `UsageError` for a document whose "version" this Flint can't read."""
    if not _is_integer(version):
        raise UsageError("This file is damaged: “version” is missing or has a value it can't have.", _HINT)
    if isinstance(version, int) and version > VERSION:
        raise UsageError("These chats were exported by a newer Flint.", "Update Flint, then import the file again.")


def to_markdown(whole: ChatTree) -> str:
    """Return a chat's active path as Markdown; where other versions of a message exist, that is said."""
    parts = [f"# {whole.chat.title or 'Untitled chat'}", f"*{_when(whole.chat.created_at)}*"]
    for node, index, count in _active(whole.messages):
        name = {"user": "You", "system": "System"}.get(node.role, node.model_id or "Reply")
        version = f" (version {index + 1} of {count})" if count > 1 else ""
        parts.append(f"## {name}{version}")
        if node.reasoning.strip():
            parts.append("\n".join(f"> {line}".rstrip() for line in _closed(node.reasoning.strip()).splitlines()))
        parts += [framed(one) for one in node.attachments]
        if node.text.strip():
            parts.append(_closed(node.text.strip("\n").rstrip()))
        if notes := _notes(node):
            parts.append(f"*{notes}*")
    return "\n\n".join(parts) + "\n"


def _as_json(whole: ChatTree) -> dict[str, Any]:
    return {
        **{name: value for name, value in dataclasses.asdict(whole.chat).items() if name != "folder_id"},
        "folder": None if whole.folder is None else dataclasses.asdict(whole.folder),
        "settings": whole.settings,
        "draft": whole.draft,
        "draft_attachments": [dataclasses.asdict(one) for one in whole.draft_attachments],
        "messages": [dataclasses.asdict(node) for node in whole.messages],
    }


# -- JSON, checked ---------------------------------------------------------------------------------------------------------


def chat_from_json(raw: object) -> ChatTree:
    """Return one chat of a document, everything in it checked. Raises `UsageError`."""
    if not isinstance(raw, dict):
        raise UsageError("A chat in this file is not one.", _HINT)
    folder = None if raw.get("folder") is None else _folder(raw["folder"])  # Files of the first Flint have none.
    chat = ChatSummary(
        id=_field(raw, "id", is_id),
        title=_field(raw, "title", _is_text),
        created_at=float(_field(raw, "created_at", _is_time)),
        updated_at=float(_field(raw, "updated_at", _is_time)),
        pinned=_field(raw, "pinned", _is_bool),
        model_id=_field(raw, "model_id", _is_text),
        deleted_at=_field(raw, "deleted_at", lambda value: value is None or _is_time(value)),
        folder_id=folder.id if folder else None,
    )
    nodes: list[MessageNode] = []
    seen: set[str] = set()
    trashed: set[str] = set()
    for item in _field(raw, "messages", _is_list):
        node = _node(item)
        if node.id in seen or (node.parent_id is not None and node.parent_id not in seen):
            raise UsageError("The messages of a chat in this file do not fit together.", _HINT)
        if node.trashed_at is None and node.parent_id in trashed:
            raise UsageError("A message in this file follows one that was deleted.", _HINT)
        if node.trashed_at is not None:
            trashed.add(node.id)
        seen.add(node.id)
        nodes.append(node)
    return ChatTree(
        chat,
        _field(raw, "settings", _is_object),
        _field(raw, "draft", _is_text),
        tuple(nodes),
        _attachments(raw, "draft_attachments"),
        folder,
    )


def _folder(raw: object) -> Folder:
    if not isinstance(raw, dict):
        raise UsageError("A folder in this file is not one.", _HINT)
    return Folder(
        id=_field(raw, "id", is_id),
        name=_field(raw, "name", _is_text),
        created_at=float(_field(raw, "created_at", _is_time)),
        expanded=_field(raw, "expanded", _is_bool),
    )


def _node(raw: object) -> MessageNode:
    if not isinstance(raw, dict):
        raise UsageError("A message in this file is not one.", _HINT)
    return MessageNode(
        id=_field(raw, "id", is_id),
        parent_id=_field(raw, "parent_id", lambda value: value is None or is_id(value)),
        role=_field(raw, "role", lambda value: value in get_args(Role.__value__)),
        text=_field(raw, "text", _is_text),
        reasoning=_field(raw, "reasoning", _is_text),
        state=_field(raw, "state", lambda value: value in get_args(MessageState.__value__)),
        created_at=float(_field(raw, "created_at", _is_time)),
        model_id=_field(raw, "model_id", _is_text),
        facts=_field(raw, "facts", lambda value: value is None or _is_object(value)),
        error=_field(raw, "error", lambda value: value is None or _is_object(value)),
        active=_field(raw, "active", _is_bool),
        attachments=_attachments(raw, "attachments"),
        # Files of the first Flint have none of these.
        edited=_optional(raw, "edited", _is_bool, False),
        trashed_at=_optional(raw, "trashed_at", lambda value: value is None or _is_time(value), None),
        trashed_with=_optional(raw, "trashed_with", lambda value: value is None or is_id(value), None),
    )


def _attachments(raw: Mapping[str, Any], name: str) -> tuple[Attachment, ...]:
    """Return the attachments under `name`: none in a file from before there were any."""
    found = _optional(raw, name, _is_list, [])
    if not all(_is_object(item) for item in found):
        raise UsageError("An attachment in this file is not one.", _HINT)
    return tuple(
        Attachment(
            name=_field(item, "name", _is_text),
            kind=_field(item, "kind", lambda value: value in get_args(AttachmentKind.__value__)),
            text=_field(item, "text", _is_text),
            tokens=_field(item, "tokens", lambda value: _is_integer(value) and 0 <= value < 1 << 53),
        )
        for item in found
    )


def _field(raw: Mapping[str, Any], name: str, fits: Callable[[Any], bool]) -> Any:
    if name not in raw or not fits(raw[name]):
        raise UsageError(f"This file is damaged: “{name}” is missing or has a value it can't have.", _HINT)
    return raw[name]


def _optional(raw: Mapping[str, Any], name: str, fits: Callable[[Any], bool], default: Any) -> Any:
    return _field(raw, name, fits) if name in raw else default


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def is_id(value: object) -> TypeGuard[str]:
    """Say whether a value is an id that Flint can keep."""
    return isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable()


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18 and math.isfinite(value)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


# -- Markdown --------------------------------------------------------------------------------------------------------------


def _active(nodes: Iterable[MessageNode]) -> Iterator[tuple[MessageNode, int, int]]:
    """Yield the active path, each message with its place among its siblings (from 0) and their number; no deleted ones."""
    children: dict[str | None, list[MessageNode]] = {}
    for node in (node for node in nodes if node.trashed_at is None):
        children.setdefault(node.parent_id, []).append(node)
    parent: str | None = None
    while group := children.get(parent):
        index = next((place for place, node in enumerate(group) if node.active), len(group) - 1)
        yield group[index], index, len(group)
        parent = group[index].id


def _closed(text: str) -> str:
    """Return Markdown whose code fence is closed: an interrupted reply would swallow what follows it."""
    fence = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if not found:
            continue
        mark, rest = found[1], found[2]
        if not fence and not (mark[0] == "`" and "`" in rest):
            fence = mark
        elif fence and mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text


def _notes(node: MessageNode) -> str:
    notes = [_STATES[node.state]] if node.state in _STATES else []
    if node.edited:
        notes.append("This reply was edited.")
    if isinstance(node.error, dict):
        notes.append(str(node.error.get("text", "")))
    facts = node.facts if isinstance(node.facts, dict) else {}
    if tokens := facts.get("output_tokens"):
        rate, first = facts.get("decode_tps"), facts.get("ttft_s")
        notes.append(
            f"{tokens} tokens"
            + (f" at {rate:.1f} tokens/s" if isinstance(rate, int | float) else "")
            + (f", the first after {first:.2f} s" if isinstance(first, int | float) else "")
            + "."
        )
    return " ".join(note for note in notes if note)


def _when(time_s: float) -> str:
    try:
        return datetime.datetime.fromtimestamp(time_s).astimezone().strftime("%Y-%m-%d %H:%M %z")
    except (ValueError, OverflowError, OSError):
        return f"{time_s:.0f} s after 1970"
