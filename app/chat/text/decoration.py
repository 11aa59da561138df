"""What stands around a reply's text and no text format can draw: code frames, bars, bullets, lines of tables."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QTextBlock, QTextBlockFormat, QTextDocument, QTextTable

from app.chat.text.blocks import Block, Code, Equation, Marker, Paragraph, Place, Rule, TableRows
from app.chat.text.code import language_name
from app.chat.text.document import Document
from app.chat.text.formats import ABOVE_CODE, CODE_HEADER, CODE_PADDING_BOTTOM, CODE_PADDING_SIDE, FRAME_LINE, ROW_PADDING
from app.chat.text.harmless import harmless_code
from app.chat.text.nesting import scaled
from app.chat.text.units import BULLET, CHECKED_BOX, OPEN_BOX
from app.theme import Theme

_RADIUS = 8
_BAR = 3
_BOX = 14
# Between a sign and its text; how large a note's label is beside its text.
_SIGN_SPACE, _NOTE_SIZE = 6, 12 / 15
# What the buttons in a code block's header take of its width.
_BUTTONS = 160


class Decoration:
    """Paints around the blocks of a `Document`, and knows where each stands; all in the document's own pixels."""

    def __init__(self, theme: Theme, text: QTextDocument, document: Document) -> None:
        self._theme = theme
        self._text = text
        self._document = document

    def extent(self, index: int) -> QRect:
        """Return the space of block `index` as wide as the text: a code block's with its frame."""
        blocks = self._document.blocks
        block = blocks[index]
        width = round(self._text.textWidth())
        left = scaled(block.place.indent, self._theme.text_size)
        if isinstance(block, TableRows):
            table = self._document.table(index)
            top = self._cell_top(table, 0)
            return QRect(left, top, width - left, self._table_bottom(table) - top)
        first, last = self._document.text_blocks(index)
        top = self._top(first)
        if isinstance(block, Paragraph | Equation) and _is_tall(last):
            bottom = round(self._text.documentLayout().blockBoundingRect(last).bottom())
        else:
            bottom = self._top(last) + max(1, last.layout().lineCount()) * self._line_height(block)
        if isinstance(block, Code):
            top, bottom = top - ABOVE_CODE, bottom + CODE_PADDING_BOTTOM + FRAME_LINE
        return QRect(left, top, width - left, bottom - top)

    def paint(self, painter: QPainter, clip: QRect, spaces: Sequence[tuple[int, QRect]]) -> None:
        """Paint what is inside `clip`, under the text; `spaces` are those of the blocks that may be seen there."""
        blocks = self._document.blocks
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        above = -1
        for index, space in spaces:
            if above < 0:
                above = self.extent(index - 1).bottom() + 1 if index else 0
            self._paint_block(painter, index, blocks[index], space, clip)
            self._paint_quotes(painter, index, blocks[index].place, above, space)
            above = space.bottom() + 1

    def visible(self, clip: QRect) -> Iterator[tuple[int, QRect]]:
        """Yield the blocks that may be seen inside `clip`, with their spaces, from top to bottom."""
        hit = self._text.documentLayout().hitTest(QPointF(0, clip.top()), Qt.HitTestAccuracy.FuzzyHit)
        index = max(0, bisect_right(self._document.starts, max(0, hit)) - 2)
        above = 0
        while index < len(self._document.blocks):
            space = self.extent(index)
            if min(space.top(), above or space.top()) > clip.bottom():
                return
            yield index, space
            above = space.bottom() + 1
            index += 1

    def _paint_block(self, painter: QPainter, index: int, block: Block, space: QRect, clip: QRect) -> None:
        match block:
            case Code():
                self._paint_frame(painter, block, space)
            case TableRows():
                self._paint_rows(painter, index, block, space, clip)
            case Rule():
                painter.fillRect(QRect(space.left(), space.center().y(), space.width(), 1), self._theme.color("separator"))
            case Paragraph() | Equation():
                pass
        if block.place.markers:
            first, _ = self._document.text_blocks(index)
            line = first.layout().lineAt(0)
            baseline = self._top(first) + (line.y() + line.ascent() if line.isValid() else 19)
            for marker in block.place.markers:
                self._paint_marker(painter, marker, baseline, self._from_right(index))

    def _paint_frame(self, painter: QPainter, block: Code, space: QRect) -> None:
        color = self._theme.color
        painter.setPen(QPen(color("separator"), FRAME_LINE))
        painter.setBrush(color("inset"))
        painter.drawRoundedRect(QRectF(space).adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)
        line = QRect(space.left() + 1, space.top() + FRAME_LINE + CODE_HEADER, space.width() - 2, FRAME_LINE)
        painter.fillRect(line, color("separator"))
        painter.setPen(color("ink-2"))
        painter.setFont(self._theme.font("caption"))
        header = QRect(space.left() + CODE_PADDING_SIDE, space.top() + FRAME_LINE, space.width() - _BUTTONS, CODE_HEADER)
        painter.drawText(header, Qt.AlignmentFlag.AlignVCenter, harmless_code(language_name(block.language)))

    def _paint_rows(self, painter: QPainter, index: int, block: TableRows, space: QRect, clip: QRect) -> None:
        table = self._document.table(index)
        for row in range(table.rows()):
            last = row + 1 == table.rows()
            bottom = space.bottom() + 1 if last else self._cell_top(table, row + 1)
            if clip.top() <= bottom <= clip.bottom() + 2:
                color = self._theme.color("border" if block.head and row == 0 else "separator")
                painter.fillRect(QRect(space.left(), bottom - 1, space.width(), 1), color)

    def _from_right(self, index: int) -> bool:
        """Return whether a block is read from right to left: what stands before its text stands at the right then."""
        first, _ = self._document.text_blocks(index)
        return first.blockFormat().layoutDirection() == Qt.LayoutDirection.RightToLeft

    def _paint_quotes(self, painter: QPainter, index: int, place: Place, above: int, space: QRect) -> None:
        mirrored = bool(place.quotes) and self._from_right(index)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("border"))
        for depth, indent in enumerate(place.quotes):
            top = above if depth < place.joined else space.top()
            left = scaled(indent, self._theme.text_size)
            left = round(self._text.textWidth()) - left - _BAR if mirrored else left
            painter.drawRect(QRect(left, top, _BAR, space.bottom() + 1 - top))

    def _paint_marker(self, painter: QPainter, marker: Marker, baseline: float, mirrored: bool) -> None:
        width, space = round(self._text.textWidth()), _SIGN_SPACE * self._scale
        right = scaled(marker.indent, self._theme.text_size) - space
        if marker.sign == BULLET:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("ink-3"))
            center = right - 6 * self._scale
            radius = 2 * self._scale
            middle = QPointF(width - center if mirrored else center, baseline - 5.5 * self._scale)
            painter.drawEllipse(middle, radius, radius)
        elif marker.sign in (OPEN_BOX, CHECKED_BOX):
            side = round(_BOX * self._scale)
            left = round(width - right if mirrored else right - side)
            top = round(baseline - 5 * self._scale - side / 2)
            self._paint_box(painter, QRect(left, top, side, side), marker.sign == CHECKED_BOX)
        else:
            painter.setPen(self._theme.color("accent-ink" if marker.note else "ink-2"))
            painter.setFont(self._sign_font(marker, right))
            start = right - painter.fontMetrics().horizontalAdvance(marker.sign)
            painter.setLayoutDirection(Qt.LayoutDirection.RightToLeft if mirrored else Qt.LayoutDirection.LeftToRight)
            painter.drawText(QPointF(width - right if mirrored else start, baseline), marker.sign)

    def _sign_font(self, marker: Marker, room: float) -> QFont:
        """Return the font of a number or a label; what is too long for its `room` is written smaller rather than cut."""
        font = self._theme.font("read")
        if marker.note:
            font.setPixelSize(round(font.pixelSize() * _NOTE_SIZE))
        needed = QFontMetricsF(font).horizontalAdvance(marker.sign)
        if needed > room:
            font.setPixelSize(max(1, int(font.pixelSize() * room / needed)))
        return font

    def _paint_box(self, painter: QPainter, box: QRect, checked: bool) -> None:
        painter.setPen(QPen(self._theme.color("border-hi"), 1))
        painter.setBrush(self._theme.color("selected") if checked else QColor(0, 0, 0, 0))
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        if checked:
            ratio = painter.device().devicePixelRatioF()
            painter.drawPixmap(box.topLeft() + QPoint(1, 1), self._theme.pixmap("check", "ink", box.width() - 2, ratio))

    @property
    def _scale(self) -> float:
        return self._theme.text_size / 100

    def _line_height(self, block: Block) -> int:
        match block:
            case Code():
                return self._theme.line("code")
            case Paragraph():
                return self._theme.line(f"read-h{min(block.level, 3)}" if block.level else "read")
            case _:
                return 8

    def _top(self, block: QTextBlock) -> int:
        return round(self._text.documentLayout().blockBoundingRect(block).top())

    def _cell_top(self, table: QTextTable, row: int) -> int:
        return self._top(table.cellAt(row, 0).firstCursorPosition().block()) - ROW_PADDING

    def _table_bottom(self, table: QTextTable) -> int:
        line = self._theme.line("read-table")
        row = table.rows() - 1
        lasts = [table.cellAt(row, column).lastCursorPosition().block() for column in range(table.columns())]
        return max(self._top(block) + max(1, block.layout().lineCount()) * line for block in lasts) + ROW_PADDING


def _is_tall(block: QTextBlock) -> bool:
    return block.blockFormat().lineHeightType() == QTextBlockFormat.LineHeightTypes.MinimumHeight.value
