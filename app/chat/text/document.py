"""Blocks to a `QTextDocument`, changed in place: what is already shown and still right is never touched."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextDocument, QTextTable

from app.chat.text.blocks import Block, Code, Equation, Gap, Mark, Paragraph, Row, Rule, Run, TableRows
from app.chat.text.code import find_lexer
from app.chat.text.colouring import Colouring
from app.chat.text.differences import continues, is_same_table, shared
from app.chat.text.formats import ABOVE_CODE, CODE_PADDING_BOTTOM, FRAME_LINE, Formats
from app.chat.text.formula_places import FormulaPlaces
from app.chat.text.harmless import harmless, harmless_code, reads_from_right
from app.chat.text.sideways import BAR_ROOM, Sideways

_UNDER_HEADING = 4
_KEEP = QTextCursor.MoveMode.KeepAnchor
_END = QTextCursor.MoveOperation.End


class Document:
    """Shows blocks in a `QTextDocument`.

    `show` takes the whole row each time and changes only what differs from what is shown. Code is coloured by `colour`, in
    slices of time, so that a long block never stops the window.
    """

    def __init__(self, document: QTextDocument, formats: Formats, *, draws: bool = True) -> None:
        """Show in `document`; without `draws`, nobody will look at it and formulas stay as they were written."""
        self._document = document
        self._formats = formats
        self._blocks: list[Block] = []
        self._starts: list[int] = []
        self._colourings: dict[int, Colouring] = {}
        self._waiting: list[Colouring] = []
        # Kept, since the document can't be asked for a table before the edit that inserts it has ended.
        self._tables: dict[int, QTextTable] = {}
        self._sideways = Sideways(document, formats)
        self._formulas = FormulaPlaces(document, formats, draws=draws)
        document.setUndoRedoEnabled(False)
        document.setDocumentMargin(0)

    @property
    def blocks(self) -> Sequence[Block]:
        """What is shown."""
        return self._blocks

    @property
    def document(self) -> QTextDocument:
        """What the blocks are shown in."""
        return self._document

    @property
    def waiting(self) -> bool:
        """Whether code waits to be coloured."""
        return bool(self._waiting)

    @property
    def starts(self) -> Sequence[int]:
        """The character position at which each block begins."""
        return self._starts

    @property
    def overhang(self) -> int:
        """How far the last block's frame reaches under its text, in pixels."""
        match self._blocks[-1] if self._blocks else None:
            case Code():
                return CODE_PADDING_BOTTOM + FRAME_LINE
            case TableRows() as block if self._sideways.is_wide(block):
                return BAR_ROOM
            case _:
                return 0

    def text_blocks(self, index: int) -> tuple[QTextBlock, QTextBlock]:
        """Return the first and the last text block of shown block `index`."""
        first = self._document.findBlock(self._starts[index])
        if index + 1 == len(self._starts):
            return first, self._document.lastBlock()
        return first, self._document.findBlock(self._starts[index + 1] - 1)

    def table(self, index: int) -> QTextTable:
        """Return the table that shows block `index`."""
        return self._tables[index]

    def restyle(self, formats: Formats) -> None:
        """Show the same blocks again in other formats."""
        blocks, self._formats = self._blocks, formats
        self.clear()
        self._sideways.restyle(formats)
        self._formulas.restyle(formats)
        self.show(blocks)

    def clear(self) -> None:
        """Show nothing."""
        self._document.clear()
        self._document.setDocumentMargin(0)
        self._blocks, self._starts, self._waiting = [], [], []
        self._colourings.clear()
        self._tables.clear()
        self._formulas.cut(0)
        self._sideways.cut(0)

    def show(self, blocks: Sequence[Block], unchanged: int = 0) -> None:
        """Show `blocks`; the first `unchanged` are known to be what is shown already."""
        shown = len(self._blocks)
        index = min(unchanged, shown, len(blocks))
        while index < min(len(blocks), shown) and self._blocks[index] == blocks[index]:
            index += 1
        if index == len(blocks) == shown:
            return
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        if index == shown - 1 and index < len(blocks) and self._grow(cursor, blocks[index]):
            index += 1
        self._cut(cursor, index)
        for block in blocks[index:]:
            self._append(cursor, block)
        self._make_room_above()
        cursor.endEditBlock()

    @property
    def sideways(self) -> Sideways:
        """Which blocks are wider than the text, and how code is wrapped."""
        return self._sideways

    def wrap(self, index: int, wrap: bool) -> None:
        """Break the long lines of a code block, or let them be scrolled."""
        self._sideways.choose(index, wrap)
        first, last = self.text_blocks(index)
        cursor = QTextCursor(first)
        cursor.setPosition(last.position(), _KEEP)
        form = QTextBlockFormat()
        form.setNonBreakableLines(not wrap)
        cursor.mergeBlockFormat(form)

    def fit_tables(self) -> None:
        """Give every table the columns that suit the text's width as it is now."""
        for index, table in self._tables.items():
            block = self._blocks[index]
            if not isinstance(block, TableRows):
                continue
            old = table.format().toTableFormat()
            form = self._formats.table(
                block.columns, round(old.topMargin()), block.place.indent, wide=self._sideways.is_wide(block)
            )
            if form.width().type() != old.width().type():
                form.setBottomMargin(old.bottomMargin())
                table.setFormat(form)

    def take_formulas(self) -> bool:
        """Put the formulas in place that were drawn by now; return whether anything changed."""
        return self._formulas.take(self.text_blocks)

    def colour(self, budget_s: float | None = None) -> None:
        """Colour waiting code, for `budget_s` seconds at most, or all of it."""
        until = None if budget_s is None else perf_counter() + budget_s
        while self._waiting:
            job = self._waiting[0]
            if job.run(until):
                self._waiting.pop(0)
            if until is not None and perf_counter() >= until:
                return

    def _make_room_above(self) -> None:
        """Leave room for the header of code that comes first."""
        room = ABOVE_CODE if self._blocks and isinstance(self._blocks[0], Code) else 0
        frame = self._document.rootFrame()
        form = frame.frameFormat()
        if form.topMargin() != room:
            form.setTopMargin(room)
            frame.setFrameFormat(form)

    # -- changing what is shown ------------------------------------------------------------------------------------------

    def _cut(self, cursor: QTextCursor, count: int) -> None:
        """Take away all but the first `count` blocks."""
        if count >= len(self._blocks):
            return
        gone = [self._colourings.pop(index) for index in list(self._colourings) if index >= count]
        self._waiting = [job for job in self._waiting if job not in gone]
        self._tables = {index: table for index, table in self._tables.items() if index < count}
        self._formulas.cut(count)
        self._sideways.cut(count)
        start = self._starts[count]
        before = self._blocks[count - 1] if count else None
        fresh = before is None or isinstance(before, TableRows)
        cursor.setPosition(start if fresh else start - 1)
        # An empty block would take over the format, and the colours, of what is cut after it.
        last, last_text = cursor.blockFormat(), cursor.blockCharFormat()
        cursor.movePosition(_END, _KEEP)
        cursor.removeSelectedText()
        del self._blocks[count:], self._starts[count:]
        if fresh:
            _reset(cursor)
            self._space_table(count - 1, 0)
        else:
            cursor.setBlockFormat(last)
            cursor.setBlockCharFormat(last_text)
            cursor.block().layout().clearFormats()
            if count - 1 in self._colourings:
                self._colourings[count - 1].restore_last()

    def _append(self, cursor: QTextCursor, block: Block) -> None:
        cursor.movePosition(_END)
        before = self._blocks[-1] if self._blocks else None
        # The document's first block and the one Qt keeps after a table are there already.
        if before is not None and not isinstance(before, TableRows):
            cursor.insertBlock(QTextBlockFormat(), QTextCharFormat())
            _reset(cursor)
        self._blocks.append(block)
        self._starts.append(cursor.position())
        gap = _above(before, block)
        self._space_table(len(self._blocks) - 2, gap)
        match block:
            case Paragraph():
                cursor.setBlockFormat(self._paragraph_format(block, gap))
                cursor.setBlockCharFormat(self._formats.text(block.level))
                self._insert_runs(cursor, block.runs, block.level, len(self._blocks) - 1)
            case Equation():
                cursor.setBlockFormat(self._formats.equation(gap, block.place.indent))
                cursor.setBlockCharFormat(self._formats.text())
                run = Run(block.source, Mark.MATH)
                self._formulas.insert(cursor, run, len(self._blocks) - 1, self._formats.text())
            case Rule():
                cursor.setBlockFormat(self._formats.rule(gap, block.place.indent))
            case Code():
                self._insert_code(cursor, block, gap)
            case TableRows():
                self._insert_table(cursor, block, gap)

    def _paragraph_format(self, block: Paragraph, gap: int) -> QTextBlockFormat:
        tall = any(Mark.MATH in run.marks for run in block.runs)
        from_right = reads_from_right(_prose(block.runs))
        return self._formats.paragraph(block.level, gap, block.place.indent, tall=tall, from_right=from_right)

    def _insert_runs(self, cursor: QTextCursor, runs: Sequence[Run], level: int, index: int) -> None:
        style = f"read-h{min(level, 3)}" if level else "read"
        for run in runs:
            if Mark.MATH in run.marks:
                self._formulas.insert(cursor, run, index, self._formats.run(style, run.marks & ~Mark.MATH, run.href))
            else:
                cursor.insertText(harmless(run.text), self._formats.run(style, run.marks, run.href))

    def _insert_code(self, cursor: QTextCursor, block: Code, gap: int) -> None:
        text = self._formats.code_text()
        index = len(self._blocks) - 1
        self._sideways.follow_code(index, block)
        wrap = self._sideways.wraps(index)
        cursor.setBlockFormat(self._formats.code(gap, block.place.indent, wrap=wrap))
        cursor.setBlockCharFormat(text)
        first, broken, rest = harmless_code(block.text).partition("\n")
        cursor.insertText(first, text)
        if broken:
            cursor.insertBlock(self._formats.code(0, block.place.indent, wrap=wrap), text)
            cursor.insertText(rest, text)
        self._colour_later(block)

    def _colour_later(self, block: Code) -> None:
        lexer = find_lexer(block.language)
        if lexer is None:
            return
        index = len(self._blocks) - 1
        if index not in self._colourings:
            self._colourings[index] = Colouring(self._document, self._formats, self._starts[index])
        job = self._colourings[index]
        job.follow(block, lexer)
        if job not in self._waiting:
            self._waiting.append(job)

    def _insert_table(self, cursor: QTextCursor, block: TableRows, gap: int) -> None:
        wide = self._sideways.is_wide(block)
        form = self._formats.table(block.columns, gap, block.place.indent, wide=wide)
        table = cursor.insertTable(max(1, len(block.rows)), len(block.columns), form)
        self._tables[len(self._blocks) - 1] = table
        self._fill(table, block, 0, len(self._blocks) - 1)
        cursor.movePosition(_END)
        _reset(cursor)

    def _space_table(self, index: int, below: int) -> None:
        """Give the table at `index`, if one is there, its space below: Qt drops the space above of what follows a table."""
        if index < 0 or not isinstance(self._blocks[index], TableRows):
            return
        table = self.table(index)
        if table.format().bottomMargin() != below:
            form = table.format().toTableFormat()
            form.setBottomMargin(below)
            table.setFormat(form)

    def _fill(self, table: QTextTable, block: TableRows, first: int, index: int) -> None:
        """Write the rows of shown block `index` from row `first` on."""
        for row in range(first, len(block.rows)):
            head = block.head and row == 0
            for column, runs in enumerate(_cells(block.rows[row], len(block.columns))):
                cell = table.cellAt(row, column)
                cursor = cell.firstCursorPosition()
                cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, _KEEP)
                cursor.removeSelectedText()
                tall = any(Mark.MATH in run.marks for run in runs)
                from_right = reads_from_right(_prose(runs))
                cursor.setBlockFormat(self._formats.cell(block.columns[column], tall=tall, from_right=from_right))
                # A cell's format is its first block's text format too: one call sets both.
                cell.setFormat(self._formats.cell_edges(self._run_format(Run(""), head), column, len(block.columns)))
                for run in runs:
                    if Mark.MATH in run.marks:
                        plain = replace(run, marks=run.marks & ~Mark.MATH)
                        self._formulas.insert(cursor, run, index, self._run_format(plain, head))
                    else:
                        cursor.insertText(harmless(run.text), self._run_format(run, head))

    def _run_format(self, run: Run, head: bool) -> QTextCharFormat:
        if head:
            return self._formats.head(run.marks, run.href)
        return self._formats.run("read-table", run.marks, run.href)

    # -- the last block growing ------------------------------------------------------------------------------------------

    def _grow(self, cursor: QTextCursor, block: Block) -> bool:
        """Turn the last shown block into `block` where only its end differs; return whether that was so."""
        old = self._blocks[-1]
        if old.place != block.place:
            return False
        # From here on the block is what it is about to become.
        self._blocks[-1] = block
        if isinstance(old, Paragraph) and isinstance(block, Paragraph) and old.level == block.level:
            self._grow_paragraph(cursor, old, block)
        elif isinstance(old, Code) and isinstance(block, Code) and continues(old, block):
            self._grow_code(cursor, old, block)
        elif isinstance(old, TableRows) and isinstance(block, TableRows) and is_same_table(old, block):
            self._grow_table(old, block)
        else:
            self._blocks[-1] = old
            return False
        return True

    def _grow_paragraph(self, cursor: QTextCursor, old: Paragraph, block: Paragraph) -> None:
        index = len(self._blocks) - 1
        kept, rest = shared(old.runs, block.runs)
        cursor.setPosition(self._starts[-1] + kept)
        cursor.movePosition(_END, _KEEP)
        if cursor.hasSelection():
            cursor.removeSelectedText()
        form = self._paragraph_format(block, round(cursor.blockFormat().topMargin()))
        if form != cursor.blockFormat():
            cursor.setBlockFormat(form)
        self._insert_runs(cursor, rest, block.level, index)

    def _grow_code(self, cursor: QTextCursor, old: Code, block: Code) -> None:
        added = harmless_code(block.text[len(old.text) :])
        text = self._formats.code_text()
        index = len(self._blocks) - 1
        self._sideways.follow_code(index, block, len(old.text))
        cursor.movePosition(_END)
        first, broken, rest = added.partition("\n")
        cursor.insertText(first, text)
        if broken:
            cursor.insertBlock(self._formats.code(0, block.place.indent, wrap=self._sideways.wraps(index)), text)
            cursor.insertText(rest, text)
        self._colour_later(block)

    def _grow_table(self, old: TableRows, block: TableRows) -> None:
        table = self.table(len(self._blocks) - 1)
        if len(block.rows) > len(old.rows) >= 1:
            table.appendRows(len(block.rows) - len(old.rows))
        same = next((index for index, row in enumerate(old.rows) if row != block.rows[index]), len(old.rows))
        self._fill(table, block, same, len(self._blocks) - 1)


def _above(before: Block | None, block: Block) -> int:
    """Return the pixels between the text of two blocks that follow one another: the gap, and what frames need of it."""
    if before is None:
        return 0  # Qt drops the margin over a document's first block; the root frame makes room for a header.
    header = ABOVE_CODE if isinstance(block, Code) else 0
    overhang = CODE_PADDING_BOTTOM + FRAME_LINE if isinstance(before, Code) else 0
    if isinstance(before, TableRows) and isinstance(block, TableRows) and not block.head:
        return 0
    if isinstance(before, Paragraph) and before.level and not block.place.markers and block.place.gap == Gap.BLOCK:
        return _UNDER_HEADING + header
    if _is_note(block) and _is_note(before):
        return Gap.TIGHT.value + overhang + header
    return block.place.gap.value + overhang + header


def _is_note(block: Block) -> bool:
    return any(marker.note for marker in block.place.markers)


def _reset(cursor: QTextCursor) -> None:
    """Make the block at the cursor a fresh one: cutting leaves it with what it was."""
    cursor.setBlockFormat(QTextBlockFormat())
    cursor.setBlockCharFormat(QTextCharFormat())
    cursor.setCharFormat(QTextCharFormat())
    cursor.block().layout().clearFormats()


def _cells(row: Row, count: int) -> Row:
    return (*row[:count], *[()] * (count - len(row)))


def _prose(runs: Sequence[Run]) -> str:
    """Return what says in which direction runs are read: code and formulas do not."""
    return "".join(run.text for run in runs if not run.marks & (Mark.CODE | Mark.MATH | Mark.SOURCE))
