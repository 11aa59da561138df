"""Scrolling what is wider than the text: each code block and table for itself, while the text around it stands still.

A text document can't scroll a part of itself. So the view paints it in bands, each as if the whole were scrolled by the band's
own offset, and hands the pointer on in the same way.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QScrollBar, QTextBrowser

from app.chat.text.blocks import Code, TableRows
from app.chat.text.decoration import Decoration
from app.chat.text.document import Document
from app.chat.text.formats import CODE_HEADER, FRAME_LINE

_BAR, _BAR_INSET = 8, 4
_SEEN_AROUND = 40


class SideScroll:
    """Keeps the offsets of a view's wide blocks, and a scroll bar under each."""

    def __init__(self, view: QTextBrowser, document: Document, decoration: Decoration) -> None:
        self._view = view
        self._document = document
        self._decoration = decoration
        # By block; a long table is several blocks, and the first of them stands for all.
        self._bars: dict[int, QScrollBar] = {}

    def arrange(self, first: int) -> None:
        """Bring the bars up to the blocks from `first` on."""
        blocks = self._document.blocks
        if first < len(blocks):
            first = self._head(first)
        needed: dict[int, tuple[QRect, int]] = {}
        for index in range(first, len(blocks)):
            width = self._document.sideways.width(index, blocks[index])
            space = self._decoration.extent(index) if width else QRect()
            if width > space.width():
                needed[self._head(index)] = (space, width)
        for index in [index for index in self._bars if index >= first and index not in needed]:
            bar = self._bars.pop(index)
            bar.hide()
            bar.deleteLater()
        for index, (space, width) in needed.items():
            self._place(index, space, width)

    def bands(self, area: QRect, spaces: Iterable[tuple[int, QRect]]) -> Iterator[tuple[QRect, int]]:
        """Yield the parts of `area` from top to bottom, each with how far what it shows is scrolled.

        `spaces` are those of the blocks that may be seen there.
        """
        # Qt takes an empty band for no bound at all, and would paint the whole message.
        return ((band, offset) for band, offset in self._cut(area, spaces) if not band.isEmpty())

    def _cut(self, area: QRect, spaces: Iterable[tuple[int, QRect]]) -> Iterator[tuple[QRect, int]]:
        top = area.top()
        for index, space in spaces if self._bars else ():
            bar = self._bars.get(self._head(index))
            if bar is None:
                continue
            yield QRect(area.left(), top, area.width(), space.top() - top).intersected(area), 0
            yield self._inside(index, space).intersected(area), bar.value()
            top = max(top, space.bottom() + 1)
        yield QRect(area.left(), top, area.width(), area.bottom() + 1 - top), 0

    def offset_at(self, place: QPoint) -> int:
        """Return how far what stands at a place of the view is scrolled."""
        bar = self._bar_at(place)
        return bar.value() if bar is not None else 0

    def scroll_at(self, place: QPoint, by: int) -> bool:
        """Scroll what stands at a place of the view; return whether something there can be scrolled."""
        bar = self._bar_at(place)
        if bar is None:
            return False
        bar.setValue(bar.value() + by)
        return True

    def reveal(self, caret: QRect) -> None:
        """Scroll so that a place, given where it would stand unscrolled, can be seen."""
        bar = self._bar_at(caret.center())
        if bar is None:
            return
        if caret.left() < bar.value() + _SEEN_AROUND:
            bar.setValue(caret.left() - _SEEN_AROUND)
        elif caret.right() > bar.value() + bar.pageStep() - _SEEN_AROUND:
            bar.setValue(caret.right() - bar.pageStep() + _SEEN_AROUND)

    @contextmanager
    def scrolled(self, offset: int) -> Iterator[None]:
        """Let the view, while this lasts, be scrolled by `offset` without moving anything."""
        bar = self._view.horizontalScrollBar()
        before = bar.value()
        blocked = bar.blockSignals(True)
        bar.setRange(0, max(offset, before))
        bar.setValue(offset)
        try:
            yield
        finally:
            bar.setValue(before)
            bar.setRange(0, before)
            bar.blockSignals(blocked)

    def _bar_at(self, place: QPoint) -> QScrollBar | None:
        if not self._bars:
            return None
        row = QRect(0, place.y(), 1, 1)
        for index, space in self._decoration.visible(row):
            if space.top() <= place.y() <= space.bottom():
                return self._bars.get(self._head(index))
        return None

    def _head(self, index: int) -> int:
        """Return the first block of the table that block `index` is a part of."""
        blocks = self._document.blocks
        while index > 0 and _goes_on(blocks[index]) and isinstance(blocks[index - 1], TableRows):
            index -= 1
        return index

    def _inside(self, index: int, space: QRect) -> QRect:
        if isinstance(self._document.blocks[index], Code):
            return space.adjusted(_BAR_INSET, FRAME_LINE + CODE_HEADER, -_BAR_INSET, -FRAME_LINE)
        return space

    def _place(self, index: int, space: QRect, width: int) -> None:
        bar = self._bars.get(index)
        if bar is None:
            bar = QScrollBar(Qt.Orientation.Horizontal, self._view.viewport())
            bar.setObjectName("sideScroll")
            bar.setAccessibleName("Scroll sideways")
            bar.setCursor(Qt.CursorShape.ArrowCursor)
            bar.valueChanged.connect(self._view.viewport().update)
            self._bars[index] = bar
        bar.setRange(0, width - space.width())
        bar.setPageStep(space.width())
        bar.setSingleStep(_SEEN_AROUND)
        top = space.bottom() - _BAR if isinstance(self._document.blocks[index], Code) else space.bottom() + 2
        bar.setGeometry(space.left() + _BAR_INSET, top, space.width() - 2 * _BAR_INSET, _BAR)
        bar.show()


def _goes_on(block: object) -> bool:
    return isinstance(block, TableRows) and not block.head
