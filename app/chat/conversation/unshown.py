"""Messages as they would be shown, for those that no widget shows."""

from collections.abc import Generator, Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QTextDocument

from app.chat.text.blocks import Block
from app.chat.text.document import Document
from app.chat.text.formats import Formats
from app.chat.text.plain import plain_blocks
from app.chat.text.portions import portions
from app.chat.text.reading import read_in_pieces
from app.theme import Theme
from engine.chats.records import StoredMessage

# What is being built, yielding every few milliseconds, and returned in the end.
type Building = Generator[None, None, Document]


class Unshown:
    """Builds a message's documents without laying them out: what it returns is good until it is asked again."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        self._theme, self._parent = theme, parent
        self._document: Document | None = None

    def answer(self, message: StoredMessage) -> Building:
        """Build a message's text."""
        blocks = (yield from read_in_pieces(message.text)) if message.role == "assistant" else plain_blocks(message.text)
        return (yield from self._show(blocks))

    def thought(self, message: StoredMessage) -> Building:
        """Build what was thought before a message."""
        return (yield from self._show((yield from read_in_pieces(message.reasoning))))

    def _show(self, blocks: Sequence[Block]) -> Building:
        if self._document is None:
            self._document = Document(QTextDocument(self._parent), Formats(self._theme, quiet=False), draws=False)
        self._document.clear()
        for part, shown in portions(blocks, 0):
            self._document.show(part, shown)
            yield
        return self._document
