"""Selecting over several messages: from one point of the conversation to another, whichever of them are on screen."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QMenu

from app.chat.conversation.drag_scroll import DragScroll
from engine.chats.records import StoredMessage
from engine.core.record import Record

if TYPE_CHECKING:
    from app.chat.conversation.message import MessageView
    from app.chat.conversation.selection_copy import SelectionCopy
    from app.chat.conversation.transcript import Transcript
    from app.chat.text.message_text import MessageText
    from app.theme import Theme

_KEEP = QTextCursor.MoveMode.KeepAnchor


class Point(Record):
    """A place in the conversation: in what was thought (`part` 0) or in the text (1) of a message, by document position."""

    message_id: str
    part: int
    position: int


class Part(Record):
    """What is selected of a message, of its thought or its text: from position `start` to `end` or, beyond it, the text's end.

    The two may be the other way round. `view` is the widget that shows the message, if one does.
    """

    message: StoredMessage
    is_thought: bool
    start: int
    end: int
    view: "MessageView | None"


type _Key = tuple[int, int, int]


class ChatSelection(QObject):
    """What is selected in a transcript, from `anchor` to `head`. Each text shows its share as its own selection.

    A text selects by itself as long as the pointer stays in it, and tells what it did by `note`.
    """

    changed = Signal()

    def __init__(self, theme: "Theme", transcript: "Transcript") -> None:
        super().__init__(transcript)
        self._theme, self._transcript = theme, transcript
        self._anchor: Point | None = None
        self._head: Point | None = None
        self._scroll = DragScroll(transcript, self.extend)
        transcript.view_filled.connect(self._show_in)
        transcript.text_changed.connect(self._take_change)
        transcript.viewport().installEventFilter(self)

    @property
    def empty(self) -> bool:
        """Whether nothing is selected."""
        return self._anchor == self._head

    @property
    def scrolling(self) -> bool:
        """Whether the list is being scrolled by a pointer over its edge."""
        return self._scroll.active

    def watch(self, view: "MessageView") -> None:
        """Let the texts of a view be selected together with those of others."""
        view.body.selecting = self
        view.thought.text_made.connect(self._watch_text)
        view.thought.height_changed.connect(lambda: self._show_in(view))

    def _watch_text(self, text: "MessageText") -> None:
        text.selecting = self

    # -- selecting --------------------------------------------------------------------------------------------------------

    def press(self, pointer: QPoint, *, extend: bool) -> bool:
        """Start at `pointer`, in global pixels, or `extend` what is selected up to it; return whether it was extended."""
        if extend and self._anchor is not None:
            self.extend(pointer)
            return True
        self.clear()
        self._anchor = self._head = self.point_at(pointer)
        return False

    def drag(self, pointer: QPoint, text: "MessageText | None" = None) -> bool:
        """Follow the pointer; return False where it is inside `text`, which then selects by itself."""
        self._scroll.follow(pointer)
        if text is not None and text.viewport().rect().contains(text.viewport().mapFromGlobal(pointer)):
            return False
        self.extend(pointer)
        return True

    def release(self) -> None:
        """The pointer was let go."""
        self._scroll.stop()

    def extend(self, pointer: QPoint) -> None:
        """Select up to `pointer`."""
        head = self.point_at(pointer)
        if head is not None and head != self._head:
            self._head = head
            self._show()

    def note(self, text: "MessageText") -> None:
        """Take over what a text has selected by itself: nothing else is selected then."""
        view = self._transcript.view_around(text)
        if view is None or not view.message_id:
            return
        part = 0 if text is view.thought.text else 1
        cursor = text.textCursor()
        self._anchor = Point(view.message_id, part, cursor.anchor())
        self._head = Point(view.message_id, part, cursor.position())
        self._show()

    def select_all(self) -> None:
        """Select the whole chat."""
        messages = self._transcript.messages
        if messages:
            self._anchor = Point(messages[0].id, 0, 0)
            self._head = Point(messages[-1].id, 1, 1 << 30)
            self._show()

    def select_message(self, message_id: str) -> None:
        """Select one message's text."""
        self._anchor, self._head = Point(message_id, 1, 0), Point(message_id, 1, 1 << 30)
        self._show()

    def clear(self) -> None:
        """Select nothing."""
        if self._anchor is not None:
            self._anchor = self._head = None
            self._show()

    def take_key(self, event: QKeyEvent) -> bool:
        """Copy or select all, where a key asks for it; return whether it did."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        else:
            return False
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Select beside the texts too: what nobody had a use for arrives at the list's viewport."""
        del watched
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonPress:
            if event.button() == Qt.MouseButton.LeftButton:
                extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
                self.press(event.globalPosition().toPoint(), extend=extend)
                return True
        elif isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            if event.buttons() & Qt.MouseButton.LeftButton:
                self.drag(event.globalPosition().toPoint())
        elif event.type() == QEvent.Type.MouseButtonRelease:
            self.release()
        elif isinstance(event, QContextMenuEvent):
            menu = QMenu(self._transcript)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self.add_actions(menu)
            menu.popup(event.globalPos())
            return True
        return False

    # -- copying ----------------------------------------------------------------------------------------------------------

    @cached_property
    def _copy(self) -> "SelectionCopy":
        from app.chat.conversation.selection_copy import SelectionCopy

        return SelectionCopy(self._theme, self._transcript, self.parts)

    def copy(self) -> None:
        """Copy what is selected, as text and as markdown."""
        self._copy.copy("both")

    def add_actions(self, menu: QMenu, message_id: str = "") -> None:
        """Put what can be done with a selection into a context menu, asked for on a message."""
        for name, title, work in (
            ("copySelection", "Copy", lambda: self._copy.copy("both")),
            ("copyAsMarkdown", "Copy as Markdown", lambda: self._copy.copy("markdown")),
            ("copyAsPlainText", "Copy as Plain Text", lambda: self._copy.copy("plain")),
        ):
            action = menu.addAction(title, work)
            action.setObjectName(name)
            action.setEnabled(not self.empty)
        menu.addSeparator()
        if message_id:
            menu.addAction("Select Message", lambda: self.select_message(message_id)).setObjectName("selectMessage")
        menu.addAction("Select All", self.select_all).setObjectName("selectAll")

    def words(self) -> str:
        """Return what is selected where that is within one text, else nothing."""
        parts = list(self.parts()) if self._anchor and self._head and self._anchor.message_id == self._head.message_id else []
        view = parts[0].view if len(parts) == 1 else None
        text = view.thought.text if view is not None and parts[0].is_thought else view.body if view is not None else None
        return text.textCursor().selectedText() if text is not None else ""

    def parts(self) -> Iterator[Part]:
        """Yield what is selected of each message, top to bottom."""
        span = self._span()
        if span is None or self.empty:
            return
        (first, *_), (last, *_) = span
        messages = self._transcript.messages
        for index in range(first, min(last + 1, len(messages))):
            view = self._transcript.view(messages[index].id)
            opened = self._transcript.is_thought_open(messages[index].id)
            for part in (0, 1) if opened and messages[index].reasoning else (1,):
                reach = self._reach(index, part)
                if reach is not None:
                    yield Part(messages[index], part == 0, *reach, view)

    # -- showing ----------------------------------------------------------------------------------------------------------

    def point_at(self, pointer: QPoint) -> Point | None:
        """Return the place nearest to a point on the screen, among the messages in view."""
        viewport = self._transcript.viewport()
        y = max(0, min(viewport.mapFromGlobal(pointer).y(), viewport.height() - 1))
        shown = [self._transcript.view(self._transcript.messages[index].id) for index in self._transcript.visible()]
        views = [view for view in shown if view is not None]
        if not views:
            return None
        view = next((view for view in reversed(views) if view.y() <= y), views[0])
        text, part = view.body, 1
        if view.thought.text is not None and view.thought.opened and y < view.y() + view.body.y():
            text, part = view.thought.text, 0
        height = text.viewport().height()
        local = text.viewport().mapFromGlobal(viewport.mapToGlobal(QPoint(0, y)))
        if local.y() < 0 or text.isHidden():
            return Point(view.message_id, part, 0)
        if local.y() >= height:
            return Point(view.message_id, part, text.document().characterCount() - 1)
        x = max(0, min(text.viewport().mapFromGlobal(pointer).x(), text.viewport().width() - 1))
        return Point(view.message_id, part, text.place_under(QPoint(x, local.y())))

    def _show(self) -> None:
        for _, view in self._transcript.views():
            self._show_in(view)
        self.changed.emit()

    def _show_in(self, view: "MessageView") -> None:
        index = self._transcript.index_of(view.message_id)
        for part, text in ((0, view.thought.text), (1, view.body)):
            if text is not None:
                _select(text, self._reach(index, part) if index is not None else None)

    def _reach(self, index: int, part: int) -> tuple[int, int] | None:
        """Return the positions between which a message's part is selected (an end beyond the text stands for its end)."""
        span = self._span()
        if span is None or self.empty:
            return None
        first, last = span
        if not first[:2] <= (index, part) <= last[:2]:
            return None
        start = first[2] if first[:2] == (index, part) else 0
        end = last[2] if last[:2] == (index, part) else 1 << 30
        backwards = self._anchor is not None and self._key(self._anchor) == last
        return (end, start) if backwards else (start, end)

    def _span(self) -> tuple[_Key, _Key] | None:
        """Return the two ends, the upper one first."""
        anchor, head = self._key(self._anchor), self._key(self._head)
        if anchor is None or head is None:
            return None
        return min(anchor, head), max(anchor, head)

    def _key(self, point: Point | None) -> _Key | None:
        index = self._transcript.index_of(point.message_id) if point is not None else None
        return (index, point.part, point.position) if point is not None and index is not None else None

    def _take_change(self, message_id: str) -> None:
        if not message_id:
            self.clear()
        elif not self.empty:
            view = self._transcript.view(message_id)
            if view is not None:
                self._show_in(view)


def _select(text: "MessageText", reach: tuple[int, int] | None) -> None:
    cursor = text.textCursor()
    if reach is None:
        if cursor.hasSelection():
            cursor.clearSelection()
            text.setTextCursor(cursor)
        return
    most = text.document().characterCount() - 1
    start, end = (min(position, most) for position in reach)
    if (cursor.anchor(), cursor.position()) != (start, end):
        cursor.setPosition(start)
        cursor.setPosition(end, _KEEP)
        text.setTextCursor(cursor)
