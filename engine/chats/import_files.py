"""Chats out of files of Flint's, ChatGPT's and LM Studio's, into the store: one at a time, so that nobody else waits."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.chats.converted import Converted
from engine.chats.export import FORMAT, chat_from_json, check_version
from engine.chats.import_chatgpt import chat_from_chatgpt
from engine.chats.import_lmstudio import chat_from_lmstudio
from engine.chats.import_source import HINT, Source, sources
from engine.chats.json_stream import pieces
from engine.chats.records import ChatTree, Folder
from engine.chats.store import ChatStore
from engine.core.errors import ChatNotFound, FlintError, UsageError
from engine.core.record import Record

type Progress = Callable[[int, int], object]
"""Called with bytes read and bytes in all; raises `Stopped` to end the import."""

_MOST_FIELDS = 1_000_000


class ImportReport(Record):
    """What came of an import: the new chats, how many were there already, and what could not be read.

    `skipped` counts messages of those chats (steps of tools among them), `unreadable` chats. `problem` says why the import
    ended before the end of a file; what was read until then is kept.
    """

    chat_ids: tuple[str, ...]
    known: int
    skipped: int
    unreadable: int
    problem: str = ""


@dataclass
class _Tally:
    """What has been counted so far."""

    chat_ids: list[str] = field(default_factory=list)
    folder_ids: set[str] = field(default_factory=set)
    known: int = 0
    skipped: int = 0
    unreadable: int = 0
    problem: str = ""
    own: bool = False
    refused: UsageError | None = None


def import_files(store: ChatStore, paths: Sequence[Path], progress: Progress = lambda *_: None) -> ImportReport:
    """Add the chats in files, folders and archives to the store; call it on a thread of its own.

    A chat that is there already, with every message, is left alone, whatever became of it here since. Where the import is
    stopped, and where a file of Flint's turns out damaged, none of it stays. Raises `UsageError` for files without chats, and
    the store's errors.
    """
    tally = _Tally()
    folders = {folder.id for folder in store.folders.all()}
    try:
        found = sources(paths)
        total = sum(source.size for source in found)
        before = 0
        for source in found:
            _import(store, source, tally, functools.partial(_tell, progress, before, total))
            before += source.size
        if not (tally.chat_ids or tally.known):
            raise tally.refused or UsageError("There are no chats in these files that Flint can read.", HINT)
    except BaseException:
        _take_back(store, tally.chat_ids, tally.folder_ids - folders)
        raise
    return ImportReport(tuple(tally.chat_ids), tally.known, tally.skipped, tally.unreadable, tally.problem)


def _import(store: ChatStore, source: Source, tally: _Tally, progress: Callable[[int], object]) -> None:
    before = len(tally.chat_ids) + tally.known
    tally.own = False
    try:
        for converted in _chats(source, tally, progress):
            tally.skipped += converted.skipped
            _add(store, converted.tree, tally)
    except UsageError as error:
        if tally.own:
            raise
        if len(tally.chat_ids) + tally.known > before:
            tally.problem = f"{source.name}: {error.text}"
        else:
            tally.refused = tally.refused or error
            tally.unreadable += source.chosen


def _tell(progress: Progress, before: int, total: int, done: int) -> None:
    progress(before + done, total)


def _add(store: ChatStore, tree: ChatTree, tally: _Tally) -> None:
    with contextlib.suppress(ChatNotFound):
        there = store.read_chat(tree.chat.id)
        said = {(node.id, node.text) for node in there.messages}
        if there.chat.deleted_at == tree.chat.deleted_at and said.issuperset((node.id, node.text) for node in tree.messages):
            tally.known += 1
            return
    tally.chat_ids += [chat.id for chat in store.write_chats([tree])]
    if tree.folder is not None:
        tally.folder_ids.add(tree.folder.id)


def _chats(source: Source, tally: _Tally, progress: Callable[[int], object]) -> Iterator[Converted]:
    """Yield the chats in one file."""
    done = 0
    document: dict[str, Any] = {}
    with source.open() as read:

        def counted(size: int) -> bytes:
            nonlocal done
            data = read(size)
            done += len(data)
            progress(done)
            return data

        for key, value, inside in pieces(counted):
            if document.get("format") == FORMAT:
                tally.own = True
                if key == "version":
                    check_version(value)
                if key == "chats" and inside:
                    yield Converted(chat_from_json(value), 0)
                elif not inside:
                    document[key] = value
            elif inside and key in ("", "conversations"):
                yield from _tolerant(value, source, tally)
            elif inside:
                document.get(key, []).append(value)
            elif len(document) < _MOST_FIELDS:
                document[key] = value
    if document.get("format") == FORMAT:
        tally.own = True
        check_version(document.get("version"))
        early = document.get("chats")  # Those before the format: somebody sorted the fields.
        yield from (Converted(chat_from_json(chat), 0) for chat in (early if isinstance(early, list) else ()))
        return
    if "" in document or "conversations" in document:
        return
    if "mapping" not in document and "messages" not in document:
        raise UsageError(_nothing(source), HINT)
    yield from _tolerant(document, source, tally)


def _tolerant(raw: Any, source: Source, tally: _Tally) -> Iterator[Converted]:
    """Yield another program's chat; count what is none."""
    try:
        converted = _converted(raw, source)
    except FlintError:
        tally.unreadable += 1
        return
    if converted.tree.messages:
        yield converted
    else:
        tally.unreadable += 1


def _converted(raw: Any, source: Source) -> Converted:
    if isinstance(raw, dict) and "mapping" in raw:
        return chat_from_chatgpt(raw, source.modified)
    if isinstance(raw, dict) and "messages" in raw:
        folder = _folder(source)
        return chat_from_lmstudio(raw, source.name, folder, source.modified)
    raise UsageError(_nothing(source), HINT)


def _folder(source: Source) -> Folder | None:
    """Return the folder a conversation of LM Studio's is in: there it is one on the disk."""
    name = " ".join(source.folder.split())
    if not name or not name.isprintable():
        return None
    return Folder(f"lmstudio-folder-{name}"[:200], name, source.modified, False)


def _nothing(source: Source) -> str:
    return f"{source.name} holds no chats that Flint can read."


def _take_back(store: ChatStore, chat_ids: list[str], folder_ids: set[str]) -> None:
    """Remove what was added by an import that came to nothing."""
    if chat_ids:
        with contextlib.suppress(FlintError):
            store.delete_chats(chat_ids)
            store.remove_chats(chat_ids)
            store.folders.remove_empty(folder_ids)
