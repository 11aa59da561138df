"""Copying what is selected of a conversation, on screen or not: as it looks, or as the markdown behind it."""

import time
from collections.abc import Callable, Generator, Iterator
from typing import Literal

from PySide6.QtCore import QMimeData, QObject, QTimer
from PySide6.QtGui import QGuiApplication, QTextCursor

from app.chat.conversation.chat_selection import Part
from app.chat.conversation.unshown import Building, Unshown
from app.chat.text.document import Document
from app.chat.text.selection import selected_markdown, selected_pieces, selected_text
from app.theme import Theme

_SLICE_S = 0.02

type Kind = Literal["both", "markdown", "plain"]


class SelectionCopy(QObject):
    """Puts a selection's parts on the clipboard, in slices of time where that takes long; the newest request counts."""

    def __init__(self, theme: Theme, parent: QObject, parts: Callable[[], Iterator[Part]]) -> None:
        super().__init__(parent)
        self._parts = parts
        self._unshown = Unshown(theme, self)
        self._work: Iterator[None] = iter(())
        self._kind: Kind = "both"
        self._plain: list[str] = []
        self._markdown: list[str] = []
        self._timer = QTimer(self, interval=0, singleShot=True)
        self._timer.timeout.connect(self._go_on)

    def copy(self, kind: Kind) -> None:
        """Copy as plain text and as markdown, or only as one of them; nothing where nothing is selected."""
        self._kind, self._plain, self._markdown = kind, [], []
        self._work = self._take_all(list(self._parts()))
        self._go_on()

    def _go_on(self) -> None:
        until = time.perf_counter() + _SLICE_S
        for _ in self._work:
            if time.perf_counter() > until:
                self._timer.start()
                return
        self._timer.stop()
        if self._plain or self._markdown:
            QGuiApplication.clipboard().setMimeData(self._data())

    def _take_all(self, parts: list[Part]) -> Generator[None]:
        for part in parts:
            shown = _shown(part)
            if shown is not None:
                for _ in self._take(part, shown):
                    pass  # In one go: it may be another message's by the next slice.
            else:
                yield from self._take(part, (yield from self._built(part)))
            yield

    def _take(self, part: Part, document: Document) -> Generator[None]:
        cursor = QTextCursor(document.document)
        most = document.document.characterCount() - 1
        cursor.setPosition(min(part.start, most))
        cursor.setPosition(min(part.end, most), QTextCursor.MoveMode.KeepAnchor)
        if not cursor.hasSelection():
            return
        whole = cursor.selectionEnd() - cursor.selectionStart() == most
        if self._kind != "markdown":
            pieces = []
            for piece in selected_pieces(cursor, document):
                pieces.append(piece)
                yield
            self._plain.append("".join(pieces))
        if self._kind != "plain":
            source = part.message.reasoning if part.is_thought else part.message.text
            self._markdown.append(source.strip("\n") if whole else _markdown(cursor, document, part))

    def _built(self, part: Part) -> Building:
        return self._unshown.thought(part.message) if part.is_thought else self._unshown.answer(part.message)

    def _data(self) -> QMimeData:
        data = QMimeData()
        plain, markdown = "\n\n".join(self._plain), "\n\n".join(self._markdown)
        data.setText(markdown if self._kind == "markdown" else plain)
        if self._kind != "plain":
            data.setData("text/markdown", markdown.encode("utf-8", "replace"))
        return data


def _shown(part: Part) -> Document | None:
    view = part.view if part.view is not None and part.view.message_id == part.message.id and not part.view.busy else None
    if view is not None and not part.is_thought:
        return view.body.shown
    if view is not None and view.thought.text is not None and view.thought.opened:
        return view.thought.text.shown
    return None


def _markdown(cursor: QTextCursor, document: Document, part: Part) -> str:
    if part.message.role == "user":
        return selected_text(cursor, document)
    return selected_markdown(cursor, document)
