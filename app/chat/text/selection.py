"""What copying a selection gives: plain text that reads as it looked, or the markdown that would look so again."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from PySide6.QtGui import QTextBlock, QTextCursor

from app.chat.text.blocks import Block, Code, Gap, Paragraph, Place, Row, Rule, Run, TableRows
from app.chat.text.document import Document
from app.chat.text.markdown_writer import clipped, write_markdown
from app.chat.text.math_object import OBJECT, source_of

_BREAKS = str.maketrans({"\u2028": "\n", "\u2029": "\n", "\ufdd0": "", "\ufdd1": ""})


def selected_text(cursor: QTextCursor, document: Document) -> str:
    """Return the selected text. A block that is selected from its start has its marker before it."""
    return "".join(selected_pieces(cursor, document))


def selected_pieces(cursor: QTextCursor, document: Document) -> Iterator[str]:
    """Yield what `selected_text` returns, line by line."""
    start, end = cursor.selectionStart(), cursor.selectionEnd()
    begun = False
    block = cursor.document().findBlock(start)
    while block.isValid() and block.position() <= end and start < end:
        piece = (_separator(block, document) if begun else "") + _part(block, start, end, document)
        yield piece.translate(_BREAKS)
        begun = begun or bool(piece)
        block = block.next()


def selected_markdown(cursor: QTextCursor, document: Document) -> str:
    """Return the selection as markdown. What is selected inside one block of code or one cell comes without its frame."""
    start, end = cursor.selectionStart(), cursor.selectionEnd()
    first = max(0, bisect_right(document.starts, start) - 1)
    last = max(0, bisect_right(document.starts, max(start, end - 1)) - 1)
    if start == end or not document.blocks:
        return ""
    parts = [_clipped(document, index, start, end) for index in range(first, last + 1)]
    blocks = [part for part in parts if part is not None]
    if len(blocks) == 1 and isinstance(blocks[0], Code) and blocks[0] != document.blocks[first]:
        return blocks[0].text
    return write_markdown(blocks)


def _clipped(document: Document, index: int, start: int, end: int) -> Block | None:
    """Return what is selected of a shown block; without its marker where its start is not selected."""
    block = document.blocks[index]
    begins = document.starts[index]
    if start > begins:
        place = replace(block.place, markers=())
        block = replace(block, place=place, level=0) if isinstance(block, Paragraph) else replace(block, place=place)
    match block:
        case Paragraph():
            runs = clipped(block.runs, start - begins, end - begins)
            return replace(block, runs=runs) if runs or not block.runs else None
        case Code():
            return replace(block, text=_cut(block.text, max(0, start - begins), end - begins))
        case TableRows():
            return _clipped_table(document, index, block, start, end)
        case _:
            return block


def _clipped_table(document: Document, index: int, block: TableRows, start: int, end: int) -> Block | None:
    table = document.table(index)
    rows: list[Row] = []
    within: tuple[Run, ...] | None = None
    for row, runs in enumerate(block.rows):
        cells = [table.cellAt(row, column) for column in range(len(block.columns))]
        taken = [column for column, cell in enumerate(cells) if cell.firstPosition() <= end and cell.lastPosition() >= start]
        if not taken:
            continue
        rows.append(runs)
        cell = cells[taken[0]]
        if len(taken) == 1 and cell.firstPosition() <= start and end <= cell.lastPosition() and taken[0] < len(runs):
            within = clipped(runs[taken[0]], start - cell.firstPosition(), end - cell.firstPosition())
    if within is not None:
        return Paragraph(Place(), within)
    head = block.head and bool(rows) and rows[0] is block.rows[0]
    return replace(block, rows=tuple(rows), head=head) if rows else None


def _separator(block: QTextBlock, document: Document) -> str:
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
    part = (
        _formulas_written(block, start, end)
        if OBJECT in block.text()
        else _cut(block.text(), from_unit, end - block.position())
    )
    if isinstance(owner, Rule):
        return "---"
    if first and from_unit == 0 and owner.place.markers:
        indent = " " * (2 * (len(owner.place.quotes) + owner.place.depth - len(owner.place.markers)))
        return indent + " ".join(marker.sign for marker in owner.place.markers) + " " + part
    return part


def _formulas_written(block: QTextBlock, start: int, end: int) -> str:
    """Return what a text block shows between two positions of its document, formulas as they were written."""
    pieces = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        text = _cut(fragment.text(), max(0, start - fragment.position()), end - fragment.position())
        pieces.append(source_of(fragment.charFormat()) * len(text) or text)
        iterator += 1
    return "".join(pieces)


def _cut(text: str, start: int, end: int) -> str:
    """Return a text between two positions that count UTF-16 units, as Qt does; Python counts characters."""
    if text.isascii():
        return text[start : max(start, end)]
    encoded = text.encode("utf-16-le", "surrogatepass")
    return encoded[2 * start : 2 * max(start, end)].decode("utf-16-le", "replace")


def _owner(block: QTextBlock, document: Document) -> tuple[int, bool]:
    starts = document.starts
    index = max(0, bisect_right(starts, block.position()) - 1)
    return index, starts[index] == block.position()
