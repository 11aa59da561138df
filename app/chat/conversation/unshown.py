"""Messages as they would be shown, for those that no widget shows."""

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QTextDocument

from app.chat.text.blocks import Block
from app.chat.text.document import Document
from app.chat.text.formats import Formats
from app.chat.text.markdown import read
from app.chat.text.plain import plain_blocks
from app.theme import Theme
from engine.chats.records import StoredMessage


class Unshown:
    """Builds a message's documents without laying them out: what it returns is good until it is asked again."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        self._theme, self._parent = theme, parent
        self._document: Document | None = None

    def answer(self, message: StoredMessage) -> Document:
        """Return a message's text as a document."""
        return self._show(read(message.text) if message.role == "assistant" else plain_blocks(message.text))

    def thought(self, message: StoredMessage) -> Document:
        """Return what was thought before a message as a document."""
        return self._show(read(message.reasoning))

    def _show(self, blocks: Sequence[Block]) -> Document:
        if self._document is None:
            self._document = Document(QTextDocument(self._parent), Formats(self._theme, quiet=False), draws=False)
        self._document.clear()
        self._document.show(blocks)
        return self._document
