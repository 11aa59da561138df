"""Tokens as chips under section headings: one widget that breaks its own lines and paints only what is in view."""

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.chat.inspector.token_block import HEADER, Opening, TokenBlock
from app.chat.inspector.token_lines import APART, TokenLines
from app.chat.inspector.token_painter import TokenPainter
from app.chat.inspector.token_sheet import TokenSheet, shown
from app.theme import Theme

LEFT, RIGHT, ABOVE, BETWEEN, BELOW = 16, 14, 12, 8, 16
_SLICE_S, _FIRST_S = 0.005, 0.008
_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class TokenView(QAbstractScrollArea):
    """Shows a `TokenSheet`. `pointed` carries the token under the pointer or the keyboard's, -1 for none.

    `picked` carries a token that was clicked, or on which Return was pressed.
    """

    pointed = Signal(int)
    picked = Signal(int)

    def __init__(self, theme: Theme, name: str, *, whole: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._whole = theme, whole
        self._sheet: TokenSheet | None = None
        self._blocks: list[TokenBlock] = []
        self._tops: list[int] = []
        self._painter = TokenPainter(theme)
        # The token that the keyboard is at, -1 before it was used; a closed section is at its first token.
        self._current = self._hovered = -1
        self._link = self._laid_room = -1
        self._slices = QTimer(self, interval=0)
        self._slices.timeout.connect(self._lay_slice)
        self.setObjectName("tokens")
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().setSingleStep(24)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.viewport().setAutoFillBackground(False)
        self.viewport().setMouseTracking(True)
        theme.changed.connect(self._restyle)

    @property
    def sheet(self) -> TokenSheet | None:
        """What is shown."""
        return self._sheet

    @property
    def current(self) -> int:
        """The token the pointer or the keyboard is at, -1 for none."""
        return self._hovered if self._hovered >= 0 else self._current

    @property
    def laid(self) -> bool:
        """Whether every line that is to be shown was broken."""
        return not self._slices.isActive()

    def show_sheet(self, sheet: TokenSheet | None) -> None:
        """Show another sheet from its top; with the same tokens before, the place and what is open stay.

        Of the same tokens throughout, only what is said of them is new.
        """
        if sheet and self._sheet and sheet.tokens == self._sheet.tokens:
            self._mark(self._sheet, sheet)
            return
        kept = self._kept(sheet)
        self._sheet = sheet
        self._current = self._hovered = self._link = -1
        self._painter.show_sheet(sheet)
        self._blocks, start = [], 0
        for section in sheet.sections if sheet else ():
            lines = TokenLines(sheet.ids if sheet else (), start, section.stop, self._painter.width_of)
            self._blocks.append(TokenBlock(lines, self._painter.chip, whole=self._whole))
            start = section.stop
        for block, opening in zip(self._blocks, kept, strict=False):
            block.opening = opening
        place = self.verticalScrollBar().value() if kept else 0
        self._restart()
        self.verticalScrollBar().setValue(place)
        self.pointed.emit(-1)
        self._describe()

    def _mark(self, before: TokenSheet, sheet: TokenSheet) -> None:
        self._sheet = sheet
        self._painter.mark(sheet)
        self.viewport().update()
        self._describe()
        if self.current >= 0 and (self.current in before.gone) != (self.current in sheet.gone):
            self.pointed.emit(self.current if self._hovered >= 0 or self.hasFocus() else -1)

    def chip_rect(self, index: int) -> QRect:
        """Return where a token is shown in the viewport; empty where it is not."""
        for block, top in self._placed():
            number = block.lines.line_of(index)
            if number >= 0 and number < block.shown and self._sheet:
                x = LEFT + block.lines.left_of(index)
                width = self._painter.width_of(self._sheet.ids[index])
                return QRect(x, top + block.line_top(number), width, block.chip)
        return QRect()

    def header_rect(self, section: int) -> QRect:
        """Return where a section's heading is in the viewport."""
        return QRect(0, self._tops[section] - self.verticalScrollBar().value(), self.viewport().width(), HEADER)

    def more_rect(self, section: int) -> QRect:
        """Return where the link under a section's lines is in the viewport; empty where there is none."""
        block = self._blocks[section]
        if not block.more:
            return QRect()
        top = self._tops[section] - self.verticalScrollBar().value() + block.more_top()
        return QRect(LEFT, top, self._painter.link_width(block.more), 16)

    def opening(self, section: int) -> str:
        """Return whether a section is "closed", "short" or "open"."""
        return self._blocks[section].opening

    def token_at(self, place: QPoint) -> int:
        """Return the token at a place in the viewport, -1 for none."""
        for block, top in self._placed():
            if top <= place.y() < top + block.height:
                number = block.line_at(place.y() - top)
                if number < 0 or self._sheet is None:
                    return -1
                x = LEFT
                for index in block.lines.line(number):
                    width = self._painter.width_of(self._sheet.ids[index])
                    if x <= place.x() < x + width:
                        return index
                    x += width + APART
        return -1

    # -- events ---------------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the sections in view, and of them the lines in view."""
        if self._sheet is None:
            return
        painter = QPainter(self.viewport())
        hot = self.current if self._hovered >= 0 or self.hasFocus() else -1
        for number, (block, top) in enumerate(self._placed()):
            if top > event.rect().bottom() or top + block.height < event.rect().top():
                continue
            section = self._sheet.sections[number]
            area = QRect(LEFT, top, self.width() - 2 * LEFT, HEADER)
            ringed = block.opening == "closed" and hot == block.lines.start and self._hovered < 0
            self._painter.heading(painter, area, section, closed=block.opening == "closed", ringed=ringed)
            first = max(0, (event.rect().top() - top - HEADER) // block.pitch - 1)
            last = min(block.shown, (event.rect().bottom() - top - HEADER) // block.pitch + 1)
            for line in range(first, last):
                tokens = block.lines.line(line)
                self._painter.line(painter, LEFT, top + block.line_top(line), tokens, hot, self._room())
            if block.more:
                self._painter.link(painter, self.more_rect(number), block.more, under=self._link == number)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the lines anew where the room changed."""
        super().resizeEvent(event)
        if self._room() != self._laid_room:
            self._restart()
        else:
            self._set_bar()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Point at the token under the pointer."""
        place = event.position().toPoint()
        link = self._section_at(place, self.more_rect)
        if link != self._link:
            self._link = link
            self.viewport().update()
        clickable = link >= 0 or self._section_at(place, self.header_rect) >= 0
        shape = Qt.CursorShape.PointingHandCursor if clickable else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)
        self._hover(self.token_at(place))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Open or close a section, or pick a token."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        place = event.position().toPoint()
        more, header = self._section_at(place, self.more_rect), self._section_at(place, self.header_rect)
        index = self.token_at(place)
        if more >= 0:
            self._open(more, self._blocks[more].next_opening())
        elif header >= 0:
            block = self._blocks[header]
            self._open(header, block.next_opening() if block.opening == "closed" else "closed")
        elif index >= 0:
            self._current = index
            self._describe()
            self.picked.emit(index)

    def viewportEvent(self, event: QEvent) -> bool:
        """Point at nothing when the pointer leaves."""
        if event.type() == QEvent.Type.Leave:
            self._link = -1
            self._hover(-1)
        return super().viewportEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The keyboard begins at the first token in view."""
        super().focusInEvent(event)
        if event.reason() in _KEYBOARD and self._current < 0 and self._blocks:
            place = QPoint(LEFT + 1, 0)
            starts = (self.token_at(QPoint(place.x(), y)) for y in range(0, self.viewport().height(), 12))
            self._move_to(next((index for index in starts if index >= 0), 0))
        self.viewport().update()
        if self._current >= 0:
            self.pointed.emit(self.current)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Without focus nothing is pointed at by the keyboard."""
        super().focusOutEvent(event)
        self.viewport().update()
        self.pointed.emit(self._hovered)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from token to token and from line to line, Home and End to both ends; Return picks, Space opens."""
        key = event.key()
        if not self._blocks:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._move_to(self._beside(1 if key == Qt.Key.Key_Right else -1))
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._move_to(self._above_or_below(1 if key == Qt.Key.Key_Down else -1))
        elif key == Qt.Key.Key_Home:
            self._move_to(0)
        elif key == Qt.Key.Key_End:
            self._move_to(max(self._blocks[-1].lines.start, self._blocks[-1].shown_stop - 1))
        elif key == Qt.Key.Key_Space and self._current >= 0:
            number = self._block_of(self._current)
            self._open(number, self._blocks[number].next_opening())
            self._move_to(min(self._current, max(self._blocks[number].lines.start, self._blocks[number].shown_stop - 1)))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._current >= 0:
            self.picked.emit(self._current)
        else:
            super().keyPressEvent(event)

    # -- moving ---------------------------------------------------------------------------------------------------------

    def _block_of(self, index: int) -> int:
        return next((number for number, block in enumerate(self._blocks) if index < block.lines.stop), 0)

    def _beside(self, step: int) -> int:
        if self._current < 0:
            return 0
        number, index = self._block_of(self._current), self._current + step
        block = self._blocks[number]
        if block.lines.start <= index < block.shown_stop:
            return index
        other = number + step
        if not 0 <= other < len(self._blocks):
            return self._current
        following = self._blocks[other]
        return following.lines.start if step > 0 else max(following.lines.start, following.shown_stop - 1)

    def _above_or_below(self, step: int) -> int:
        if self._current < 0:
            return 0
        rect, lines = self.chip_rect(self._current), self._line_places()
        block = self._block_of(self._current)
        here = (block, max(0, self._blocks[block].lines.line_of(self._current)) if rect.height() else -1)
        place = lines.index(here) + step if here in lines else 0
        if not 0 <= place < len(lines):
            return self._current
        other, line = lines[place]
        lines_of = self._blocks[other].lines
        if line < 0 or self._sheet is None:
            return lines_of.start
        x, nearest = LEFT, lines_of.line(line).start
        for index in lines_of.line(line):
            if x <= max(LEFT, rect.center().x()):
                nearest = index
            x += self._painter.width_of(self._sheet.ids[index]) + APART
        return nearest

    def _line_places(self) -> list[tuple[int, int]]:
        """Every shown line as (section, line); a closed section is one line, -1."""
        return [
            (number, line)
            for number, block in enumerate(self._blocks)
            for line in (range(block.shown) if block.opening != "closed" else (-1,))
        ]

    def _move_to(self, index: int) -> None:
        self._current, self._hovered = index, -1
        rect = self.chip_rect(index)
        rect = rect if rect.height() else self.header_rect(self._block_of(index))
        bar = self.verticalScrollBar()
        if rect.top() < 0:
            bar.setValue(bar.value() + rect.top() - ABOVE - HEADER)
        elif rect.bottom() > self.viewport().height():
            bar.setValue(bar.value() + rect.bottom() - self.viewport().height() + BELOW)
        self.viewport().update()
        self._describe()
        self.pointed.emit(index)

    def _hover(self, index: int) -> None:
        if index != self._hovered:
            self._hovered = index
            self.viewport().update()
            self.pointed.emit(self.current if self._hovered >= 0 or self.hasFocus() else -1)

    def _scrolled(self) -> None:
        if self._hovered >= 0:
            self._hover(-1)
        self.viewport().update()

    def _describe(self) -> None:
        """Tell assistive tools what the keyboard is at."""
        if self._sheet is None:
            self.setAccessibleDescription("")
            return
        total = len(self._sheet.ids)
        text = f"{total:,} tokens"
        if 0 <= self._current < total:
            token = self._sheet.ids[self._current]
            section = self._sheet.sections[self._block_of(self._current)]
            text = f"Token {self._current:,} of {total:,}: {shown(self._sheet.faces[token])}, id {token}, {section.title}"
            text += ", left the context" if self._current in self._sheet.gone else ""
        self.setAccessibleDescription(text)

    # -- laying out -----------------------------------------------------------------------------------------------------

    def _kept(self, sheet: TokenSheet | None) -> list[Opening]:
        """Return how the sections are opened where the new sheet continues the one shown."""
        old, kept, start = self._sheet, [], 0
        if sheet is None or old is None:
            return []
        for before, after, block in zip(old.sections, sheet.sections, self._blocks, strict=False):
            if before.stop != after.stop or sheet.ids[start : after.stop] != old.ids[start : after.stop]:
                break
            kept.append(block.opening)
            start = after.stop
        return kept

    def _room(self) -> int:
        # A scroll bar that takes room takes it from the margin, so that lines are not broken anew when it appears.
        return max(60, self.width() - LEFT - RIGHT)

    def _restyle(self) -> None:
        self._painter.show_sheet(self._sheet)
        for block in self._blocks:
            block.chip = self._painter.chip
        self._restart()

    def _restart(self) -> None:
        self._laid_room = self._room()
        for block in self._blocks:
            block.restart(self._room())
        self._lay(_FIRST_S)

    def _lay_slice(self) -> None:
        self._lay(_SLICE_S)

    def _lay(self, seconds: float) -> None:
        until = time.perf_counter() + seconds
        done = all(block.lay(until) for block in self._blocks)
        if done:
            self._slices.stop()
        elif not self._slices.isActive():
            self._slices.start()
        self._set_bar()
        self.viewport().update()

    def _open(self, number: int, opening: Opening) -> None:
        block = self._blocks[number]
        block.opening = opening
        if opening != "closed":
            block.restart(self._room())
        self._lay(_FIRST_S)

    def _set_bar(self) -> None:
        top, self._tops = ABOVE, []
        for block in self._blocks:
            self._tops.append(top)
            top += block.height + BETWEEN
        height = self.viewport().height()
        self.verticalScrollBar().setRange(0, max(0, top - BETWEEN + BELOW - height))
        self.verticalScrollBar().setPageStep(height)

    def _placed(self) -> Iterator[tuple[TokenBlock, int]]:
        """Yield the sections with where each begins in the viewport."""
        value = self.verticalScrollBar().value()
        for block, top in zip(self._blocks, self._tops, strict=False):
            yield block, top - value

    def _section_at(self, place: QPoint, rect_of: Callable[[int], QRect]) -> int:
        for number in range(len(self._tops)):
            if rect_of(number).contains(place):
                return number
        return -1
