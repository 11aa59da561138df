"""Putting a code block's colours into its document, line after line, as much at a time as there is time for."""

from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtGui import QTextDocument, QTextLayout

from app.chat.text.blocks import Code
from app.chat.text.code import LineLexer, Span, lex_lines
from app.chat.text.formats import Formats

if TYPE_CHECKING:
    from pygments.lexer import Lexer


class Colouring:
    """The colours of one code block: what is known of its lines, and what is still to be lexed."""

    def __init__(self, document: QTextDocument, formats: Formats, start: int) -> None:
        self._document = document
        self._formats = formats
        self._start = start
        self._lines: list[str] = []
        self._spans: list[list[Span]] = []
        self._done = 0
        self._stream: LineLexer | None = None
        self._whole: Iterator[list[Span]] | None = None
        self._closed = False

    def follow(self, block: Code, lexer: "Lexer") -> None:
        """Take the block as it is now."""
        self._lines = block.text.split("\n")
        if block.closed and not self._closed:
            self._closed, self._done = True, 0
            self._whole = lex_lines(lexer, block.text)
        elif self._stream is None and not self._closed:
            self._stream = LineLexer(lexer)

    def run(self, until: float | None) -> bool:
        """Colour line after line until the time `until`; return whether all is done."""
        first = self._document.findBlock(self._start).blockNumber()
        touched: list[int] = []
        finished = True
        last = len(self._lines) - 1
        while self._done < len(self._lines):
            spans = self._next(last)
            if self._set(first + self._done, self._done, spans):
                touched.append(self._done)
            if self._done == last and not self._closed:
                break
            self._done += 1
            if until is not None and perf_counter() >= until and self._done < len(self._lines):
                finished = False
                break
        if touched:
            self._relayout(first + touched[0], first + touched[-1])
        return finished

    def restore_last(self) -> None:
        """Colour the last line again, as far as its colours are known."""
        if len(self._spans) == len(self._lines):
            first = self._document.findBlock(self._start).blockNumber()
            self._apply(first + len(self._lines) - 1, self._spans[-1])

    def _next(self, last: int) -> list[Span]:
        # A lexer is other people's code run on any text at all: where one fails, the line stays plain.
        try:
            return self._lexed(last)
        except Exception:
            return []

    def _lexed(self, last: int) -> list[Span]:
        if self._whole is not None:
            return next(self._whole, [])
        line = self._lines[self._done]
        if self._stream is None:
            return []
        return self._stream.add(line) if self._done < last else self._stream.peek(line)

    def _set(self, number: int, line: int, spans: list[Span]) -> bool:
        if line < len(self._spans):
            if self._spans[line] == spans:
                return False
            self._spans[line] = spans
        else:
            self._spans.append(spans)
            if not spans:
                return False
        self._apply(number, spans)
        return True

    def _apply(self, number: int, spans: list[Span]) -> None:
        ranges = []
        for span in spans:
            entry = QTextLayout.FormatRange()
            entry.start, entry.length, entry.format = span.start, span.length, self._formats.span(span.style)
            ranges.append(entry)
        self._document.findBlockByNumber(number).layout().setFormats(ranges)

    def _relayout(self, first: int, last: int) -> None:
        start = self._document.findBlockByNumber(first).position()
        end = self._document.findBlockByNumber(last)
        self._document.markContentsDirty(start, end.position() + end.length() - start)
