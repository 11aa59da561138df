"""The marks on what was found, in the texts in view."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QPoint
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit
from shiboken6 import isValid

from app.chat.conversation.message import MessageView
from app.chat.conversation.needle import Span
from app.chat.text.message_text import MessageText
from app.theme import Theme


class FindMarks:
    """Only what is in view is marked: a common letter in a long code block would be thousands of marks to paint."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._shown: dict[MessageText, tuple[tuple[Span, ...], Span | None]] = {}

    def show(self, text: MessageText, spans: Sequence[Span], current: int | None) -> None:
        """Mark `spans` in a text, the one numbered `current` stronger."""
        first, last = _in_view(text) if spans else (0, 0)  # What is in view is laid out for that.
        # Spans do not overlap, so their ends are in order too.
        start = bisect_left(spans, first, key=lambda span: span[1])
        near = tuple(spans[start : bisect_right(spans, last, key=lambda span: span[0])])
        strong = spans[current] if current is not None and 0 <= current < len(spans) else None
        if self._shown.get(text, ((), None)) == (near, strong):
            return
        self._shown[text] = (near, strong)
        marks = [self._mark(text, span, strong=span == strong) for span in near]
        text.setExtraSelections(marks)

    def forget(self, view: MessageView) -> None:
        """Take the marks off a view that shows another message now."""
        for text in (view.body, view.thought.text):
            if text is not None and text in self._shown:
                del self._shown[text]
                text.setExtraSelections([])

    def clear(self) -> None:
        """Take all marks away."""
        for text in self._shown:
            if isValid(text):
                text.setExtraSelections([])
        self._shown.clear()

    def _mark(self, text: MessageText, span: Span, *, strong: bool) -> QTextEdit.ExtraSelection:
        mark = QTextEdit.ExtraSelection()
        cursor = QTextCursor(text.document())
        last = text.document().characterCount() - 1
        cursor.setPosition(min(span[0], last))
        cursor.setPosition(min(span[1], last), QTextCursor.MoveMode.KeepAnchor)
        form = QTextCharFormat()
        form.setBackground(self._theme.color("accent-fill" if strong else "p3"))
        form.setForeground(self._theme.color("on-accent" if strong else "ink"))
        mark.cursor, mark.format = cursor, form
        return mark


def _in_view(text: MessageText) -> Span:
    """Return the first and the last position of a text that can be seen."""
    visible = text.visibleRegion().boundingRect()
    first = text.cursorForPosition(QPoint(0, visible.top())).position()
    return first, text.cursorForPosition(QPoint(text.width(), visible.bottom())).position()
