"""Bringing a text into its widget: a short one at once, a long one in slices of time, so that the window goes on meanwhile."""

from collections.abc import Iterator, Sequence
from math import inf
from time import perf_counter

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.text.blocks import Block
from app.chat.text.markdown import StreamReader
from app.chat.text.message_text import MessageText
from app.chat.text.portions import portions

_SLICE_S = 0.006
# Characters: what is read in one go, and the longest text that is shown at once: two frames of prose and code, three of tables.
_PIECE, _AT_ONCE = 1_000, 6_000


class Filling(QObject):
    """Shows a source in a `MessageText`. `filled` says that all of a long one is there."""

    filled = Signal()

    def __init__(self, text: MessageText) -> None:
        super().__init__(text)
        self._text = text
        self._source = ""
        self._reader: StreamReader | None = None
        self._read = 0
        self._goes_on = self._covered = False
        self._work: Iterator[None] = iter(())
        self._slices = QTimer(self, interval=0)
        self._slices.timeout.connect(self._take_slice)

    @property
    def source(self) -> str:
        """What is shown, or will be, as it was written."""
        return self._source

    @property
    def long(self) -> bool:
        """Whether showing it takes more than a moment."""
        return len(self._source) > _AT_ONCE

    @property
    def goes_on(self) -> bool:
        """Whether more is being written."""
        return self._goes_on

    @property
    def busy(self) -> bool:
        """Whether not all is shown yet."""
        return self._slices.isActive()

    @property
    def covered(self) -> bool:
        """Whether all that is to be seen is what was shown by now."""
        return self.busy and self._covered

    def show(self, source: str, *, goes_on: bool = False, covered: bool = True) -> None:
        """Show markdown; `goes_on`, more will be added. Not `covered`, what stands there stays in sight until then."""
        self._goes_on, self._reader, self._read = goes_on, StreamReader(), 0
        self._start(source, self._fill(), covered)

    def show_blocks(self, source: str, blocks: Sequence[Block], *, covered: bool = True) -> None:
        """Show a `source` that is read already."""
        self._goes_on, self._reader = False, None
        self._start(source, self._show(blocks), covered)

    def add(self, piece: str) -> None:
        """Append to what goes on."""
        if self._reader is None or not self._goes_on:
            return
        self._source += piece
        if not self.busy:
            self._read = len(self._source)
            unchanged = self._reader.feed(piece)
            self._text.show_blocks(self._reader.blocks, unchanged)

    def finish(self) -> None:
        """Say that nothing more will be added; where an address or a note was given late, all is read again, in slices."""
        self._goes_on = False
        if self._reader is None or self.busy:
            return
        informed = self._reader.informed()
        if informed is not None:
            self._reader, self._read = informed, 0
            self._start(self._source, self._fill(), covered=False)
            return
        unchanged = self._reader.finish()
        self._text.show_blocks(self._reader.blocks, unchanged)
        self._reader = None

    def stop(self) -> None:
        """Leave it as it is: nobody will look at it."""
        self._slices.stop()
        self._work = iter(())
        self._goes_on, self._reader = False, None

    # -- slice by slice ---------------------------------------------------------------------------------------------------

    def _start(self, source: str, work: Iterator[None], covered: bool) -> None:
        self._source, self._work, self._covered = source, work, covered
        self._slices.start()
        if not self.long:
            self._go_on(inf)
        elif covered:
            self._text.show_blocks(())  # What was there would be laid out once more as its widget takes its place.

    def _take_slice(self) -> None:
        if self._go_on(perf_counter() + _SLICE_S):
            self.filled.emit()

    def _go_on(self, until: float) -> bool:
        """Work until the clock (`time.perf_counter`) says so; return whether all is done."""
        for _ in self._work:
            if perf_counter() >= until:
                return False
        self._slices.stop()
        return True

    def _fill(self) -> Iterator[None]:
        """Read and show, with what is added meanwhile, yielding now and then."""
        while self._reader is not None:
            yield from self._read_on(self._reader)
            ended = not self._goes_on
            if ended:
                informed = self._reader.informed()
                yield
                if informed is not None:
                    self._reader, self._read = informed, 0
                    yield from self._read_on(informed)
                self._reader.finish()
            yield from self._show(self._reader.blocks)
            if ended:
                self._reader = None
            elif self._goes_on and self._read == len(self._source):
                return

    def _read_on(self, reader: StreamReader) -> Iterator[None]:
        while self._read < len(self._source):
            # What is read again with each piece, as a quote without end, is so only as often as it doubles.
            end = self._read + max(_PIECE, reader.unsettled)
            reader.feed(self._source[self._read : end])
            self._read = min(end, len(self._source))
            yield

    def _show(self, blocks: Sequence[Block]) -> Iterator[None]:
        there = self._text.blocks
        same = 0
        while same < min(len(there), len(blocks)) and there[same] == blocks[same]:
            same += 1
        # What is in sight is replaced in one go: cut in slices it would be gone until all is back.
        stays = self._covered or same == len(there)
        for part, shown in portions(blocks, same) if stays else ((blocks, same),):
            if part is blocks:
                self._text.show_blocks(blocks, shown)
            else:
                self._text.grow(part, shown)
            yield
