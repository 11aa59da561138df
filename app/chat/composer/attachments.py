"""What is attached to the message that is being written."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from engine.chats.attachment import Attachment
from engine.core.errors import ErrorInfo, FileRefused

if TYPE_CHECKING:
    from app.chat.composer.file_reader import FileReader

MOST = 20
LARGEST_PASTE = 20_000_000
MOST_TOLD = 8
"""Refused files of a drop that are told by name."""
PASTED = "Pasted text"
ATTACHED_ALREADY = "This text is attached already"


@dataclass(eq=False)
class Batch:
    """Files that were attached together: how many are still being read, and why the others were refused."""

    reading: int = 0
    refused: list[ErrorInfo] = field(default_factory=list)


@dataclass(eq=False)
class Item:
    """One chip: a file that is being read (`attachment` is None, `fraction` of it is read), or what came of it.

    `counted` says that the tokens are the model's own count; `path` is where a file is read from, `batch` what it came with.
    """

    number: int
    name: str
    attachment: Attachment | None = None
    fraction: float = 0.0
    counted: bool = False
    path: Path | None = None
    batch: Batch = field(default_factory=Batch)


class Attachments(QObject):
    """Reads files, takes texts, and keeps them in order. `changed` comes when the list does, `progressed` with a chip's number.

    The list belongs to one chat. A file that is being read when another chat's list is shown goes on being read for its own:
    `settled_aside` carries that chat (None is the new one) once such a file was read or failed.

    `said` carries a few words for the composer's note, `failed` an `ErrorInfo` that names the files that were refused
    together.
    """

    changed = Signal()
    progressed = Signal(int)
    said = Signal(str)
    failed = Signal(object)
    settled_aside = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers = 0
        self._reading: dict[int, Item] = {}
        self._chat_id: str | None = None
        self._aside: dict[str | None, list[Item]] = {}
        self.items: list[Item] = []

    @cached_property
    def _reader(self) -> "FileReader":
        from app.chat.composer.file_reader import FileReader  # Not before a file is read: the window itself comes sooner.

        reader = FileReader(self)
        reader.progressed.connect(self._on_progress)
        reader.done.connect(self._on_done)
        reader.failed.connect(self._on_failed)
        return reader

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """What is ready, in order."""
        return tuple(item.attachment for item in self.items if item.attachment)

    @property
    def reading(self) -> str:
        """The name of a file that is still being read, or nothing."""
        return next((item.name for item in self.items if item.attachment is None), "")

    def attach_files(self, paths: Iterable[Path]) -> None:
        """Read files and attach what they say. What can't be is told in one refusal, the rest is attached all the same."""
        batch = Batch(reading=1)  # Nothing is told before all of them are asked for.
        for path in paths:
            if len(self.items) >= MOST:
                text = f"No more than {MOST} files go with one message."
                hint = "Send some with the next message, or join them into one file."
                batch.refused.append(FileRefused(text, hint).info())
                break
            item = self._add(Item(0, path.name or str(path), path=path, batch=batch))
            batch.reading += 1
            self._reading[self._reader.read(path)] = item
        self.changed.emit()
        self._settle(batch)

    def attach_text(self, text: str, name: str = PASTED) -> None:
        """Attach a text that was pasted."""
        taken = {item.name for item in self.items}
        numbered = (name if number == 1 else f"{name} {number}" for number in range(1, MOST + 2))
        lines = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        if any(one.text == lines for one in self.attachments):
            self.said.emit(ATTACHED_ALREADY)
        elif len(text) > LARGEST_PASTE:
            hint = "Paste the part that matters."
            self.failed.emit(FileRefused(f"The pasted text is too long: {len(text):,} characters.", hint).info())
        elif len(self.items) >= MOST:
            self.failed.emit(FileRefused(f"No more than {MOST} texts go with one message.", "Remove one first.").info())
        else:
            self._add(Item(0, name, Attachment(next(one for one in numbered if one not in taken), "pasted", lines)))
            self.items[-1].name = self.items[-1].attachment.name if self.items[-1].attachment else name
            self.changed.emit()

    def show(self, attachments: Sequence[Attachment]) -> None:
        """Have these in place of all that is ready; files that are being read come after them."""
        reading = [item for item in self.items if item.attachment is None]
        self.items = []
        for one in attachments:
            self._add(Item(0, one.name, one))
        self.items += reading
        self.changed.emit()

    def turn_to(self, chat_id: str | None, attachments: Sequence[Attachment]) -> None:
        """Show a chat's list: `attachments`, then what is still being read for it. What is at hand is set aside."""
        reading = [item for item in self.items if item.attachment is None]
        self.items = []
        if reading:
            self._aside.setdefault(self._chat_id, []).extend(reading)
        self._chat_id = chat_id
        self.show(attachments)
        self.items += self._aside.pop(chat_id, [])
        self.changed.emit()

    def adopt(self, chat_id: str) -> None:
        """The list at hand is this chat's, which was made just now."""
        self._chat_id = chat_id

    def unread(self, chat_id: str | None) -> tuple[Path, ...]:
        """Return which files are being read for a chat, in order."""
        return tuple(item.path for item in self._of(chat_id) if item.attachment is None and item.path)

    def aside(self) -> tuple[str | None, ...]:
        """Return the chats that are not shown and have files here."""
        return tuple(self._aside)

    def read_aside(self, chat_id: str | None) -> tuple[Attachment, ...]:
        """Return what was read for a chat that is not shown, in order."""
        return tuple(item.attachment for item in self._aside.get(chat_id, ()) if item.attachment)

    def forget_read(self, chat_id: str | None) -> None:
        """Let go of what was read for a chat that is not shown: it is kept elsewhere."""
        left = [item for item in self._aside.pop(chat_id, ()) if item.attachment is None]
        if left:
            self._aside[chat_id] = left

    def take(self) -> tuple[Attachment, ...]:
        """Return what is ready and have it no more: the message is sent."""
        taken = self.attachments
        if taken:
            self.show(())
        return taken

    def remove(self, number: int) -> None:
        """Take one away, also while it is being read."""
        for item in [item for item in self.items if item.number == number]:
            self._let_go(item)
            self.items.remove(item)
            self.changed.emit()

    def set_tokens(self, tokens: Sequence[int]) -> None:
        """Keep the model's count of what is ready, in order."""
        ready = [item for item in self.items if item.attachment]
        for item, count in zip(ready, tokens, strict=False):
            if item.attachment and (not item.counted or item.attachment.tokens != count):
                item.attachment, item.counted = replace(item.attachment, tokens=count), True
                self.progressed.emit(item.number)

    def _add(self, item: Item) -> Item:
        self._numbers += 1
        item.number = self._numbers
        self.items.append(item)
        return item

    def _let_go(self, item: Item) -> None:
        for number in [number for number, other in self._reading.items() if other is item]:
            self._reader.cancel(number)
            del self._reading[number]
            self._settle(item.batch)

    def _on_progress(self, number: int, fraction: float) -> None:
        item = self._reading.get(number)
        if item:
            item.fraction = fraction
            self.progressed.emit(item.number)

    def _on_done(self, number: int, attachment: Attachment) -> None:
        item = self._reading.pop(number, None)
        if item is None:
            return
        if item not in self.items:
            item.attachment = attachment
            self._settle_aside(item)
        elif any(one.name == attachment.name and one.text == attachment.text for one in self.attachments):
            self.items.remove(item)
            self.said.emit(f"{attachment.name} is attached already")
            self.changed.emit()
        else:
            item.attachment = attachment
            self.changed.emit()
        self._settle(item.batch)

    def _on_failed(self, number: int, error: ErrorInfo) -> None:
        item = self._reading.pop(number, None)
        if item is None:
            return
        if item in self.items:
            self.items.remove(item)
            self.changed.emit()
        else:
            self._settle_aside(item)
        if error.code == FileRefused.code:
            item.batch.refused.append(error)
        else:
            self.failed.emit(error)
        self._settle(item.batch)

    def _settle(self, batch: Batch) -> None:
        """One more of these is through; after the last one, tell which were refused."""
        batch.reading -= 1
        if batch.reading == 0 and batch.refused:
            self.failed.emit(_joined(batch.refused))

    def _settle_aside(self, item: Item) -> None:
        """Tell of a file of a chat that is not shown; one that could not be read is no longer among its files."""
        for chat_id, items in list(self._aside.items()):
            if item in items:
                if item.attachment is None:
                    items.remove(item)
                self.settled_aside.emit(chat_id)

    def _of(self, chat_id: str | None) -> Sequence[Item]:
        return self.items if chat_id == self._chat_id else self._aside.get(chat_id, ())


def _joined(refused: Sequence[ErrorInfo]) -> ErrorInfo:
    """Return refusals as one that names each of them, or as many as can be read at a glance."""
    if len(refused) == 1:
        return refused[0]
    told = [error.text for error in refused[:MOST_TOLD]]
    if len(refused) > MOST_TOLD:
        told.append(f"{len(refused) - MOST_TOLD} more were refused.")
    return FileRefused("Some files could not be attached.", " ".join(told)).info()
