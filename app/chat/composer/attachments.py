"""What is attached to the message that is being written."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.chat.composer.file_reader import FileReader
from engine.chats.attachment import Attachment
from engine.core.errors import ErrorInfo, FileRefused

MOST = 20
LARGEST_PASTE = 20_000_000
PASTED = "Pasted text"


@dataclass
class Item:
    """One chip: a file that is being read (`attachment` is None, `fraction` of it is read), or what came of it.

    `counted` says that the tokens are the model's own count.
    """

    number: int
    name: str
    attachment: Attachment | None = None
    fraction: float = 0.0
    counted: bool = False


class Attachments(QObject):
    """Reads files, takes texts, and keeps them in order. `changed` comes when the list does, `progressed` with a chip's number.

    `said` carries a few words for the composer's note, `failed` an `ErrorInfo` that names a file.
    """

    changed = Signal()
    progressed = Signal(int)
    said = Signal(str)
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reader = FileReader(self)
        self._numbers = 0
        self._reading: dict[int, Item] = {}
        self.items: list[Item] = []
        self._reader.progressed.connect(self._on_progress)
        self._reader.done.connect(self._on_done)
        self._reader.failed.connect(self._on_failed)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """What is ready, in order."""
        return tuple(item.attachment for item in self.items if item.attachment)

    @property
    def reading(self) -> str:
        """The name of a file that is still being read, or nothing."""
        return next((item.name for item in self.items if item.attachment is None), "")

    def attach_files(self, paths: Iterable[Path]) -> None:
        """Read files and attach what they say. What can't be is told by name, the rest is attached all the same."""
        for path in paths:
            if len(self.items) >= MOST:
                text = f"No more than {MOST} files go with one message."
                self.failed.emit(FileRefused(text, "Send some with the next message, or join them into one file.").info())
                break
            item = self._add(Item(0, path.name or str(path)))
            self._reading[self._reader.read(path)] = item
        self.changed.emit()

    def attach_text(self, text: str, name: str = PASTED) -> None:
        """Attach a text that was pasted."""
        taken = {item.name for item in self.items}
        numbered = (name if number == 1 else f"{name} {number}" for number in range(1, MOST + 2))
        lines = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        if any(one.text == lines for one in self.attachments):
            self.said.emit("This text is attached already")
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
        """Have these in place of all there is; files that are being read are let go of."""
        for item in list(self.items):
            self._let_go(item)
        self.items = []
        for one in attachments:
            self._add(Item(0, one.name, one))
        self.changed.emit()

    def take(self) -> tuple[Attachment, ...]:
        """Return what is ready and have nothing any more: the message is sent."""
        taken = self.attachments
        if self.items:
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

    def _on_progress(self, number: int, fraction: float) -> None:
        item = self._reading.get(number)
        if item:
            item.fraction = fraction
            self.progressed.emit(item.number)

    def _on_done(self, number: int, attachment: Attachment) -> None:
        item = self._reading.pop(number, None)
        if item is None:
            return
        if any(one.name == attachment.name and one.text == attachment.text for one in self.attachments):
            self.items.remove(item)
            self.said.emit(f"{attachment.name} is attached already")
        else:
            item.attachment = attachment
        self.changed.emit()

    def _on_failed(self, number: int, error: ErrorInfo) -> None:
        item = self._reading.pop(number, None)
        if item is not None:
            self.items.remove(item)
            self.changed.emit()
            self.failed.emit(error)
