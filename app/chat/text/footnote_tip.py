"""What a footnote says, where it is referred to: shown under the pointer, so that nobody has to look for it."""

import html
from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextBrowser

from app.chat.text.blocks import Block, Paragraph
from app.chat.text.harmless import harmless

_LONGEST = 400


def note_under(view: QTextBrowser, blocks: Sequence[Block], place: QPoint) -> str:
    """Return the note that is referred to at a place of the view, as rich text for a tool tip; empty where none is."""
    position = view.document().documentLayout().hitTest(place.toPointF(), Qt.HitTestAccuracy.ExactHit)
    if position < 0:
        return ""
    cursor = QTextCursor(view.document())
    cursor.setPosition(position)
    block = cursor.block()
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        raised = fragment.charFormat().verticalAlignment() == QTextCharFormat.VerticalAlignment.AlignSuperScript
        if raised and fragment.contains(position):
            return _words(note_text(blocks, fragment.text()))
        iterator += 1
    return ""


def note_text(blocks: Sequence[Block], label: str) -> str:
    """Return the text of the note that has a label, its first paragraph; empty where there is none."""
    for block in blocks:
        markers = block.place.markers
        if markers and markers[-1].note and markers[-1].sign == label and isinstance(block, Paragraph):
            return "".join(run.text for run in block.runs)
    return ""


def _words(text: str) -> str:
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"<p>{html.escape(harmless(shown))}</p>" if shown else ""
