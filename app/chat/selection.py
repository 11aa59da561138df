"""What copying a selection gives: plain text that reads as it looked, with bullets, numbers and cells kept apart."""

from bisect import bisect_right
from collections.abc import Iterator

from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextCursor

from app.chat.blocks import Gap, Rule, TableRows
from app.chat.document import Document
from app.chat.math_object import source_of

_BREAKS = str.maketrans({"\u2028": "\n", "\u2029": "\n", "\ufdd0": "", "\ufdd1": ""})


def selected_text(cursor: QTextCursor, document: Document) -> str:
    """Return the selected text. A block that is selected from its start has its marker before it."""
    start, end = cursor.selectionStart(), cursor.selectionEnd()
    pieces: list[str] = []
    block = cursor.document().findBlock(start)
    while block.isValid() and block.position() <= end and start < end:
        pieces.append(_separator(pieces, block, document) + _part(block, start, end, document))
        block = block.next()
    return "".join(pieces).translate(_BREAKS)


def _separator(pieces: list[str], block: QTextBlock, document: Document) -> str:
    if not any(pieces):
        return ""
    index, first = _owner(block, document)
    owner = document.blocks[index]
    if isinstance(owner, TableRows):
        inside = QTextCursor(block)
        table = inside.currentTable()
        if table is None:
            # The block that Qt keeps before a table.
            return "\n" if owner.head else ""
        if table.cellAt(inside).column():
            return "\t"
        return "\n"
    return "\n\n" if first and owner.place.gap in (Gap.BLOCK, Gap.PART) else "\n"


def _part(block: QTextBlock, start: int, end: int, document: Document) -> str:
    index, first = _owner(block, document)
    owner = document.blocks[index]
    from_unit = max(0, start - block.position())
    part = "".join(source_of(form) * len(text) or text for text, form in pieces_of(block, start, end))
    if isinstance(owner, Rule):
        return "---"
    if first and from_unit == 0 and owner.place.markers:
        indent = " " * (2 * (len(owner.place.quotes) + max(0, owner.place.indent // 20 - len(owner.place.markers))))
        return indent + " ".join(marker.sign for marker in owner.place.markers) + " " + part
    return part


def pieces_of(block: QTextBlock, start: int, end: int) -> Iterator[tuple[str, QTextCharFormat]]:
    """Yield what a text block has between two positions of its document, cut where the format changes."""
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        # Positions count UTF-16 units, Python counts characters.
        encoded = fragment.text().encode("utf-16-le", "surrogatepass")
        first, last = max(0, start - fragment.position()), min(fragment.length(), end - fragment.position())
        if first < last:
            yield encoded[2 * first : 2 * last].decode("utf-16-le", "replace"), fragment.charFormat()
        iterator += 1


def _owner(block: QTextBlock, document: Document) -> tuple[int, bool]:
    starts = document.starts
    index = max(0, bisect_right(starts, block.position()) - 1)
    return index, starts[index] == block.position()
