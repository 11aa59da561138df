"""A reply's text as it was written, token by token, each on the shade of its probability."""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import chain
from math import ceil, inf
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextLayout,
    QTextLine,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from app.chat.inspector.token_sheet import GROUNDS, SHADES, shade
from app.theme import Theme
from app.widgets.frame import draw_frame
from engine.core.odds import TokenOdds

_TOKENS, _LETTERS = 512, 2000


class ShadedText(QTextEdit):
    """Plain text on shades. `pointed` carries the token under the pointer, -1 for none; `picked` one that was clicked."""

    pointed = Signal(int)
    picked = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._starts: list[int] = []
        self._blanks: list[int] = []
        self._shades: list[int] = []
        self._hot = self._width = -1
        self._odds: TokenOdds | None = None
        self._taking: Iterator[None] = iter(())
        self._laying: Iterator[None] = iter(())
        self._taken = False
        self.setObjectName("shadedText")
        self.setAccessibleName("Reply, shaded by probability")
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.viewport().setMouseTracking(True)
        self.document().setDocumentMargin(0)
        theme.changed.connect(self._restyle)

    def show_odds(self, odds: TokenOdds) -> None:
        """Begin to show a reply's tokens: `lay` does it a slice at a time, `height_at` all that is left of it."""
        self._odds, self._hot = odds, -1
        self._taking, self._taken = self._take(odds), False
        self._width = -1

    def lay(self, width: int, until: float) -> bool:
        """Lay the text out for `width` pixels until the clock (`time.perf_counter`) says so; return whether all is done."""
        if width != self._width:
            self._width, self._laying = width, self._lay_out(width)
            self.resize(width, max(1, self.height()))
            # Hidden, it would be told of its width, and tell its viewport, only when it is shown.
            QGuiApplication.sendEvent(self, QResizeEvent(self.size(), self.size()))
        return all(time.perf_counter() < until for _ in chain(self._taking, self._laying))

    def height_at(self, width: int) -> int:
        """Take `width` pixels and return the height the text needs."""
        self.lay(width, inf)
        return ceil(self.document().size().height())

    def point_out(self, index: int) -> None:
        """Frame a token, -1 for none."""
        if index != self._hot:
            self._hot = index
            self.viewport().update()

    def token_at(self, place: QPoint) -> int:
        """Return the token at a place in the viewport, -1 for none."""
        cursor = self.cursorForPosition(place)
        near = cursor.position()
        # The position is a gap between letters: the one before or after it is meant.
        for position in (near, near - 1):
            index = bisect_right(self._starts, position) - 1
            if 0 <= index < len(self._shades) and any(rect.contains(place) for rect in self.token_rects(index)):
                return index
        return -1

    def token_rects(self, index: int) -> list[QRect]:
        """Return where a token stands in the viewport, one rectangle a line."""
        found, position, stop = [], self._starts[index], self._starts[index + 1]
        height = self._theme.line("read")
        while position < stop:
            block = self.document().findBlock(position)
            line = block.layout().lineForTextPosition(position - block.position())
            if not line.isValid():
                break
            end = min(stop, block.position() + line.textStart() + line.textLength())
            left, right = sorted(_x(line, at - block.position()) for at in (position, end))
            # Qt puts what a fixed line has more than its letters need above them, and counts it to the line before.
            top = self._top_of(block) + line.y() + line.height() - height
            found.append(QRect(round(left), round(top), max(2, round(right - left)), height))
            position = max(end, position + 1)
        return found

    def place_of(self, index: int) -> QRect:
        """Return the first line's rectangle of a token, for a card beside it."""
        rects = self.token_rects(index)
        return rects[0] if rects else QRect()

    # -- events ---------------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay nothing out again that is laid out for this width."""
        width, before = event.size().width(), event.oldSize()
        known = QSize(width, before.height()) if self.document().textWidth() == width else before
        super().resizeEvent(QResizeEvent(event.size(), known))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text, and a frame around the token that is pointed at."""
        super().paintEvent(event)
        if self._hot >= 0:
            painter = QPainter(self.viewport())
            for rect in self.token_rects(self._hot):
                draw_frame(painter, rect.adjusted(-2, 2, 2, -2), 2, None, self._theme.color("accent"), 2)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Point at the token under the pointer, unless text is being selected."""
        super().mouseMoveEvent(event)
        if not event.buttons():
            self._hover(self.token_at(event.position().toPoint()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click without a selection picks a token."""
        super().mouseReleaseEvent(event)
        index = self.token_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index >= 0 and not self.textCursor().hasSelection():
            self.picked.emit(index)

    def viewportEvent(self, event: QEvent) -> bool:
        """Point at nothing when the pointer leaves."""
        if event.type() == QEvent.Type.Leave:
            self._hover(-1)
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right go from token to token, Return picks; what scrolls is the list's, the rest (as Copy) Qt's."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        step = steps.get(Qt.Key(event.key()))
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif step and self._shades:
            self._hover(max(0, min(len(self._shades) - 1, self._hot + step)))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._hot >= 0:
            self.picked.emit(self._hot)
        else:
            event.ignore()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the list."""
        event.ignore()

    # -- parts ----------------------------------------------------------------------------------------------------------

    def _hover(self, index: int) -> None:
        if index != self._hot:
            self.point_out(index)
            self.pointed.emit(index)

    def _top_of(self, block: QTextBlock) -> float:
        return self.document().documentLayout().blockBoundingRect(block).y() - self.verticalScrollBar().value()

    def _take(self, odds: TokenOdds) -> Iterator[None]:
        """Take the tokens over, yielding now and then."""
        self._starts, self._blanks, self._shades = [0], [], []
        pieces = []
        for index, (written, logprob) in enumerate(zip(odds.pieces, odds.logprobs, strict=True), 1):
            # Qt counts in UTF-16, and takes a carriage return away.
            piece = written.replace("\r", "␍")
            self._starts.append(self._starts[-1] + len(piece) + sum(letter > "\uffff" for letter in piece))
            self._blanks.append(len(piece) - len(piece.lstrip(" ")))
            self._shades.append(shade(logprob))
            pieces.append(piece)
            if index % _TOKENS == 0:
                yield
        self.setPlainText("".join(pieces))
        yield from self._style()
        self._taken = True

    def _lay_out(self, width: int) -> Iterator[None]:
        """Break the lines, yielding now and then."""
        if self.document().textWidth() != width:
            self.document().setTextWidth(width)
        yield from self._in_turns(self.document().documentLayout().blockBoundingRect)  # Qt lays out up to what it is asked for.

    def _in_turns(self, work: Callable[[QTextBlock], object]) -> Iterator[None]:
        """Do something to each block, yielding after some thousand letters."""
        block, done = self.document().begin(), 0
        while block.isValid():
            work(block)
            done += block.length()
            if done >= _LETTERS:
                done = 0
                yield
            block = block.next()

    def _restyle(self) -> None:
        """Take another type or other colours over."""
        self._width = -1
        if self._taken:
            for _ in self._style():
                pass
        elif self._odds is not None:
            self.show_odds(self._odds)

    def _style(self) -> Iterator[None]:
        """Set type, line height and shades; shades lie over the text and are no part of it, so that many cost little."""
        self.setFont(self._theme.font("read"))
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        form = QTextBlockFormat()
        form.setLineHeight(self._theme.line("read"), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor.setBlockFormat(form)
        grounds = []
        for step in range(4):
            ground = QTextCharFormat()
            if GROUNDS[SHADES + step]:
                ground.setBackground(self._theme.color(GROUNDS[SHADES + step]))
            grounds.append(ground)
        yield from self._in_turns(lambda block: block.layout().setFormats(self._ranges(block, grounds)))
        self.document().markContentsDirty(0, self.document().characterCount())

    def _ranges(self, block: QTextBlock, grounds: list[QTextCharFormat]) -> list[QTextLayout.FormatRange]:
        """Return the shades of a block, neighbours of one shade as one."""
        begin, end = block.position(), block.position() + block.length()
        found: list[QTextLayout.FormatRange] = []
        steps: list[int] = []
        for index in range(max(0, bisect_right(self._starts, begin) - 1), len(self._shades)):
            start, stop = max(begin, self._starts[index]), min(end, self._starts[index + 1])
            if start >= end:
                break
            step = self._shades[index]
            if stop <= start or not step:
                continue
            if found and steps[-1] == step and found[-1].start + found[-1].length == start - begin:
                found[-1].length += stop - start
                continue
            start += self._blanks[index] if start == self._starts[index] else 0  # A word's shade begins at the word.
            piece = QTextLayout.FormatRange()
            piece.start, piece.length, piece.format = start - begin, stop - start, grounds[step]
            found.append(piece)
            steps.append(step)
        return found


def _x(line: QTextLine, position: int) -> float:
    """Return where a text position of a line's block is, in pixels."""
    found: Any = line.cursorToX(position)
    return float(found[0] if isinstance(found, tuple) else found)
