"""Chats written to files: whole or not at all, and never over another one that nobody chose."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from engine.chats.export import json_pieces, to_markdown
from engine.chats.file_names import as_taken, free_name, safe_name
from engine.chats.records import ChatTree
from engine.chats.store import ChatStore
from engine.core.chosen_file import write_chosen, writing_to

type Progress = Callable[[int, int], object]
"""Called with chats written and chats in all; raises `Stopped` to end the export."""


def write_json(store: ChatStore, chat_ids: Sequence[str], path: Path, progress: Progress = lambda *_: None) -> None:
    """Write chats with everything in them to one file. Raises `ChatNotFound`, `DiskFull`, `ReadOnly` and `UsageError`."""

    def chats() -> Iterator[ChatTree]:
        for number, chat_id in enumerate(chat_ids):
            progress(number, len(chat_ids))
            yield store.read_chat(chat_id)

    write_chosen(path, json_pieces(chats()))


def write_markdown(store: ChatStore, chat_id: str, path: Path) -> None:
    """Write what is shown of a chat to a file. Raises as `write_json`."""
    write_chosen(path, [to_markdown(store.read_chat(chat_id))])


def write_markdowns(
    store: ChatStore, chat_ids: Sequence[str], folder: Path, progress: Progress = lambda *_: None
) -> list[Path]:
    """Write a file for each chat into a folder, named after it and beside what is there; return them.

    Raises as `write_json`; what was written stays.
    """
    with writing_to(folder):
        taken = {as_taken(there.name) for there in folder.iterdir()}
    written = []
    for number, chat_id in enumerate(chat_ids):
        progress(number, len(chat_ids))
        whole = store.read_chat(chat_id)
        name = free_name(safe_name(whole.chat.title), ".md", taken)
        taken.add(as_taken(name))
        write_chosen(folder / name, [to_markdown(whole)])
        written.append(folder / name)
    return written
