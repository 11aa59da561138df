"""The text formats of a reply, made once per theme: every colour, font and measure that the document uses."""

from functools import cache

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextLength,
    QTextTableCellFormat,
    QTextTableFormat,
)

from app.chat.text.blocks import Column, Mark
from app.chat.text.formula import Formula
from app.chat.text.math_object import drawn_format, written_format
from app.chat.text.math_syntax import inside
from app.chat.text.nesting import scaled
from app.theme import Theme
from app.widgets.web_link import shown_address

CODE_HEADER, CODE_PADDING_TOP, CODE_PADDING_BOTTOM, CODE_PADDING_SIDE = 28, 9, 9, 12
FRAME_LINE = 1
ABOVE_CODE = CODE_HEADER + 2 * FRAME_LINE + CODE_PADDING_TOP
ROW_PADDING = 4
CELL_PADDING = 8

_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value
_LONGEST_TIP, _NO_ADDRESS = 300, "No address"
_MINIMUM = QTextBlockFormat.LineHeightTypes.MinimumHeight.value
# A heading's text is smaller than what stands under it.
_HEAD_SIZE = 12 / 14
# The mathematical font's letters are smaller than the text's at the same size.
_MATH_SIZE, _DISPLAY_SIZE = 1.16, 1.3
# Characters: a column has room for the first at least, breaks at the second at the latest, and never before the third.
_FEWEST, _MOST, _READABLE = 4, 34, 13
_CODE_ROLES = {"key": "c-key", "fn": "c-fn", "str": "c-str", "num": "c-num", "com": "c-com", "del": "critical"}
_ALIGN = {"left": Qt.AlignmentFlag.AlignLeft, "center": Qt.AlignmentFlag.AlignHCenter, "right": Qt.AlignmentFlag.AlignRight}


class Formats:
    """Formats for one theme as it is now; `quiet` sets everything in the secondary ink, for what a model thought aloud."""

    def __init__(self, theme: Theme, quiet: bool = False) -> None:
        self._theme = theme
        self._ink = "ink-2" if quiet else "ink"
        self.run = cache(self._run)
        self.span = cache(self._span)

    @property
    def wraps_code(self) -> bool:
        """Whether long lines of code are broken where nobody chose otherwise."""
        return self._theme.code_wrap

    def code_width(self, text: str) -> float:
        """Return how many pixels a line of code takes."""
        metrics = QFontMetricsF(self._theme.font("code"))
        text = text.expandtabs(4)
        return len(text) * metrics.horizontalAdvance("0") if text.isascii() else metrics.horizontalAdvance(text)

    def column_width(self, column: Column, most: int = _MOST) -> int:
        """Return the pixels a column takes whose cells break at `most` characters."""
        advance = QFontMetricsF(self._theme.font("read-table")).averageCharWidth()
        return round(advance * min(max(column.longest, _FEWEST), most)) + 2 * CELL_PADDING

    def least_width(self, columns: tuple[Column, ...]) -> int:
        """Return the pixels under which a table's columns can't be read any more."""
        return sum(self.column_width(column, _READABLE) for column in columns)

    def indent(self, indent: int) -> int:
        """Return the pixels that `indent` comes to at the theme's text size."""
        return scaled(indent, self._theme.text_size)

    @property
    def tab_width(self) -> float:
        """Four columns of code, in pixels."""
        return 4 * QFontMetricsF(self._theme.font("code")).horizontalAdvance("0")

    def text(self, level: int = 0) -> QTextCharFormat:
        """Return the format of plain text in a paragraph or a heading of `level`."""
        return self.run(self._style(level), Mark.PLAIN, "")

    def paragraph(self, level: int, gap: int, indent: int, *, tall: bool = False, from_right: bool = False) -> QTextBlockFormat:
        """Return the block format of a paragraph or heading; `gap` above it and `indent` in pixels.

        `tall`: its lines may be higher than text is, as formulas are; `from_right`: it is read from right to left.
        """
        block = self._lines(self._theme.line(self._style(level)), gap, indent)
        if from_right:
            block.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
            block.setRightMargin(block.leftMargin())
            block.setLeftMargin(0)
        if tall:
            block.setLineHeight(block.lineHeight(), _MINIMUM)
        return block

    def equation(self, gap: int, indent: int) -> QTextBlockFormat:
        """Return the block format of a formula set apart."""
        block = self.paragraph(0, gap, indent, tall=True)
        block.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        return block

    def formula(self, source: str, formula: Formula | None, text: QTextCharFormat) -> QTextCharFormat:
        """Return the format of the character that stands for a formula, a picture or not, among `text`."""
        if formula is not None:
            return drawn_format(text, formula)
        size = text.font().pixelSize() * (_DISPLAY_SIZE if inside(source)[1] else _MATH_SIZE)
        return written_format(text, self._theme.font("code"), source, size)

    def rule(self, gap: int, indent: int) -> QTextBlockFormat:
        """Return the format of the empty block a rule is painted in."""
        return self._lines(8, gap, indent)

    def code(self, above: int, indent: int, *, wrap: bool = True) -> QTextBlockFormat:
        """Return the format of a line of code; the first one has the header's room in `above`."""
        block = self._lines(self._theme.line("code"), above, indent)
        block.setLeftMargin(block.leftMargin() + CODE_PADDING_SIDE)
        block.setRightMargin(CODE_PADDING_SIDE)
        block.setNonBreakableLines(not wrap)
        return block

    def code_text(self) -> QTextCharFormat:
        """Return the format of code before it is coloured."""
        code = QTextCharFormat()
        code.setFont(self._theme.font("code"))
        code.setForeground(self._theme.color(self._ink))
        return code

    def cell(self, column: Column, *, tall: bool = False, from_right: bool = False) -> QTextBlockFormat:
        """Return the block format of a table's cell; `tall` as with a paragraph."""
        block = self._lines(self._theme.line("read-table"), 0, 0)
        if from_right:
            block.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        if tall:
            block.setLineHeight(block.lineHeight(), _MINIMUM)
        block.setAlignment(_ALIGN[column.align] | Qt.AlignmentFlag.AlignVCenter)
        return block

    def cell_edges(self, text: QTextCharFormat, column: int, count: int) -> QTextTableCellFormat:
        """Return a cell's `text` format with its paddings: the outer columns' text meets the edges of the reading column."""
        cell = QTextTableCellFormat()
        cell.merge(text)
        cell.setTopPadding(ROW_PADDING)
        cell.setBottomPadding(ROW_PADDING)
        cell.setLeftPadding(CELL_PADDING if column else 0)
        cell.setRightPadding(CELL_PADDING if column < count - 1 else 0)
        return cell

    def table(self, columns: tuple[Column, ...], gap: int, indent: int, *, wide: bool = False) -> QTextTableFormat:
        """Return the format of a table; its lines are painted, since Qt's would be vertical too.

        It is as wide as the text, or a `wide` one as wide as its columns need.
        """
        table = QTextTableFormat()
        table.setBorder(0)
        table.setCellSpacing(0)
        table.setCellPadding(ROW_PADDING)
        table.setTopMargin(gap)
        table.setLeftMargin(self.indent(indent))
        if wide:
            widths = [self.column_width(column) for column in columns]
            table.setWidth(QTextLength(QTextLength.Type.FixedLength, sum(widths)))
            table.setColumnWidthConstraints([QTextLength(QTextLength.Type.FixedLength, width) for width in widths])
        else:
            table.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
            shares = [QTextLength(QTextLength.Type.PercentageLength, column.share) for column in columns]
            table.setColumnWidthConstraints(shares)
        return table

    def _style(self, level: int) -> str:
        return f"read-h{min(level, 3)}" if level else "read"

    def _lines(self, height: int, gap: int, indent: int) -> QTextBlockFormat:
        block = QTextBlockFormat()
        block.setLineHeight(height, _FIXED)
        block.setTopMargin(gap)
        block.setLeftMargin(self.indent(indent))
        return block

    def _run(self, style: str, marks: Mark, href: str) -> QTextCharFormat:
        form = QTextCharFormat()
        fixed = bool(marks & (Mark.CODE | Mark.SOURCE))
        font = self._theme.font("code" if fixed else style)
        if Mark.BOLD in marks:
            font.setWeight(QFont.Weight.DemiBold)
        font.setItalic(Mark.ITALIC in marks)
        font.setStrikeOut(Mark.STRIKE in marks)
        form.setFont(font)
        quiet = marks & (Mark.DIM | Mark.SOURCE)
        role = "accent-ink" if href or Mark.RAISED in marks else "ink-2" if quiet or style == "head" else self._ink
        form.setForeground(self._theme.color(role))
        if marks & (Mark.CODE | Mark.DIM):
            form.setBackground(self._theme.color("inset"))
        if Mark.RAISED in marks:
            form.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignSuperScript)
        if href:
            form.setAnchor(True)
            form.setAnchorHref(href)
            form.setFontUnderline(False)
            form.setToolTip(shown_address(href, _LONGEST_TIP) or _NO_ADDRESS)
        return form

    def head(self, marks: Mark, href: str) -> QTextCharFormat:
        """Return the format of text in a table's heading."""
        form = QTextCharFormat(self.run("read-table", marks, href))
        font = self._theme.font("code" if Mark.CODE in marks else "read-table", None if Mark.CODE in marks else 600)
        if Mark.CODE not in marks:
            font.setPixelSize(round(font.pixelSize() * _HEAD_SIZE))
        form.setFont(font)
        if not href:
            form.setForeground(self._theme.color("ink-2"))
        return form

    def _span(self, style: str) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setForeground(self._theme.color(_CODE_ROLES[style]))
        if style == "fn":
            form.setFontWeight(QFont.Weight.DemiBold)
        elif style == "com":
            form.setFontItalic(True)
        return form
