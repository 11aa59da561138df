"""A long list of messages with a widget for each that is in view, and an estimate for those that are not."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.chat.conversation.context_marker import ABOVE as MARK_ABOVE
from app.chat.conversation.context_marker import HEIGHT as MARK_HEIGHT
from app.chat.conversation.context_marker import ROOM, ContextMarker
from app.chat.conversation.heights import Heights
from app.chat.conversation.spacing import BLEED, COLUMN, EDGE, LINE, MARGINS, estimated_height, gap_above
from app.chat.conversation.view_pool import ViewPool
from app.theme import Theme
from engine.chats.records import StoredMessage
from engine.core.record import Record

if TYPE_CHECKING:
    from app.chat.conversation.message import MessageView


class _Anchor(Record):
    """What the reader looks at: message `index`, its top `offset` pixels under the view's (negative: above it)."""

    index: int
    offset: int


class _Reading(Record):
    """The text a reader has at the view's top: a position in a message, `offset` pixels under the top.

    Kept over a row of resizes, of the window or the text, so that going back to the first size leads back to the first place.
    """

    message_id: str
    position: int
    offset: int


class MessageList(QAbstractScrollArea):
    """Knows where each message stands, and which of them a reader sees.

    The view follows the end while it is there. A reader who scrolled up stays with what they read, whatever is written,
    measured or resized around it. `view_filled` says that a view was given a message to show, and again when all of a long one
    is there, `placed` that everything is in its place again.
    """

    view_filled = Signal(object)
    placed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._messages: list[StoredMessage] = []
        self._index: dict[str, int] = {}
        self._heights = Heights()
        # The messages whose heights are no estimates in a column of this width.
        self._measured: set[int] = set()
        self._measured_width = 0
        self._views = ViewPool(self._make, self._hide)
        self._anchor = _Anchor(0, 0)
        self._reading: _Reading | None = None
        self._follows = True
        self._unseen = 0
        self._settling = False
        self._value = 0
        self._left_out = 0
        self._edge = EDGE
        self._marker = ContextMarker(theme, self.viewport())
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.verticalScrollBar().setSingleStep(LINE)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        # At once, before the messages take the new look over, and queued, after that.
        theme.changed.connect(self._keep_reading)
        theme.changed.connect(self._settle_again, Qt.ConnectionType.QueuedConnection)

    @abstractmethod
    def _make(self) -> "MessageView":
        """Return a new view."""

    @abstractmethod
    def _fill(self, view: "MessageView", message: StoredMessage) -> None:
        """Show a message in a view."""

    @property
    def messages(self) -> Sequence[StoredMessage]:
        """What the list holds, texts as far as they were written."""
        return self._messages

    @property
    def at_bottom(self) -> bool:
        """Whether the end is in view, and followed."""
        return self._follows

    def view(self, message_id: str) -> "MessageView | None":
        """Return the widget that shows a message now, if one does."""
        return self._views.get(message_id)

    def view_around(self, widget: QWidget | None) -> "MessageView | None":
        """Return the widget of a message that `widget` is, or is in, if it is in one."""
        found = (view for _, view in self._views if view is widget or (widget is not None and view.isAncestorOf(widget)))
        return next(found, None)

    def index_of(self, message_id: str) -> int | None:
        """Return a message's place in the list."""
        return self._index.get(message_id)

    def views(self) -> "Iterator[tuple[int, MessageView]]":
        """Yield the messages that have a widget, in view or not, with their places in the list."""
        for message_id, view in self._views:
            yield self._index[message_id], view

    def visible(self) -> range:
        """Return the places of the messages in view."""
        return self._visible()

    def measured(self, index: int) -> "MessageView":
        """Return the widget of a message, in view or not, laid out."""
        view = self._realised(index)
        self._remeasure(index)
        return view

    # -- what is listed ---------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make ready what the first message takes, while nobody waits for it."""
        self._views.prepare()

    def set_messages(self, messages: Sequence[StoredMessage]) -> None:
        """Show these messages. The same chat keeps its place (a branch was switched), another one opens at its end."""
        same_chat = bool(messages and self._messages and messages[0].chat_id == self._messages[0].chat_id)
        anchor_id = self._messages[self._anchor.index].id if same_chat else ""
        self._messages = list(messages)
        self._left_out = min(self._left_out, max(0, len(self._messages) - 1)) if same_chat else 0
        self._index = {message.id: index for index, message in enumerate(self._messages)}
        for message_id, view in self._views:
            index = self._index.get(message_id)
            if index is None or view.message != self._messages[index] or view.text != self._messages[index].text:
                self._views.release(message_id)
        width = self.column_width()
        self._measured.clear()
        self._heights = Heights([self._estimate(index, width) for index in range(len(self._messages))])
        if not same_chat:
            self._follow(True)
        elif not self._follows:
            last = max(0, len(self._messages) - 1)
            self._anchor = replace(self._anchor, index=self._index.get(anchor_id, min(self._anchor.index, last)))
        self._unseen, self._reading = 0, None
        self._settle()

    def set_left_out(self, count: int, *, summarised: bool = False) -> None:
        """Mark that the model sees nothing of the first `count` messages, or a summary; 0 takes the mark away."""
        count = count if count < len(self._messages) else 0
        self._marker.show_count(count, summarised=summarised)
        if count == self._left_out:
            return
        for index, change in ((self._left_out, -ROOM), (count, ROOM)):
            if 0 < index < len(self._messages):
                self._heights.set(index, self._heights[index] + change)
        self._left_out = count
        self._settle()

    def append(self, message: StoredMessage) -> None:
        """Add a message at the end. One's own message is always gone to; a reply only where the end is followed."""
        self._index[message.id] = len(self._messages)
        self._messages.append(message)
        self._heights.append(self._estimate(len(self._messages) - 1, self.column_width()))
        if message.role == "user":
            self._follow(True)
        elif not self._follows and message.text:
            self._unseen += self._heights[len(self._messages) - 1]
        self._settle()

    # -- where the reader is ---------------------------------------------------------------------------------------------

    def jump_to_bottom(self) -> None:
        """Go to the end, and follow it again."""
        self._follow(True)
        self._settle()

    def scroll_to(self, message_id: str) -> None:
        """Bring a message to the top of the view; an id that is not here is let pass."""
        index = self._index.get(message_id)
        if index is not None:
            self._follows, self._reading = False, None
            self._anchor = _Anchor(index, self._edge - self._gap(index))
            self._settle()
            self._follow(self._is_at_end())

    def hold(self) -> None:
        """Stay with what is in view now, whatever is written at the end."""
        self._follows = False

    def let_go(self) -> None:
        """Follow the end again if it is in view."""
        self._follow(self._is_at_end())

    def set_room_above(self, pixels: int) -> None:
        """Leave room above the first message for what lies over the top of the view; nothing else moves."""
        self._edge = EDGE + pixels
        self._settle()

    def reveal(self, message_id: str, top: int, height: int) -> None:
        """Bring `height` pixels of a message, from `top` on, into view where they are not: a third from the top."""
        index = self._index.get(message_id)
        if index is None:
            return
        self.measured(index)
        start = self._top(index) + self._gap(index) + top
        room = self.viewport().height()
        value = self.verticalScrollBar().value()
        if not value + self._edge <= start <= value + max(EDGE, room - height - EDGE):
            self._follows, self._reading = False, None
            self._anchor = _Anchor(index, max(0, room - height) // 3 - top - self._gap(index))
            self._settle()

    def bring_in(self, index: int) -> "MessageView":
        """Return the widget of a message, in view as a whole, or from its top where it is higher than the view."""
        view = self.measured(index)
        top = self._top(index) + self._gap(index)
        bottom = self._top(index) + self._heights[index]
        value, room = self.verticalScrollBar().value(), self.viewport().height()
        wanted = min(max(value, bottom + EDGE - room), top - self._edge)
        if wanted != value:
            self._follows, self._reading = False, None
            self._anchor = _Anchor(index, self._top(index) - wanted)
            self._settle()
            self._follow(self._is_at_end())
        return view

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll by what a trackpad says, to the pixel; by notches where there is a wheel."""
        pixels = event.pixelDelta().y()
        # X11 fills in pixels that mean nothing.
        if pixels and QGuiApplication.platformName() != "xcb" and not event.modifiers():
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() - pixels)
            event.accept()
        else:
            super().wheelEvent(event)
        if self._is_at_end() and min(pixels, event.angleDelta().y()) < 0:
            self._follow(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep what the reader looks at where it is: the text position, however its lines are broken now."""
        super().resizeEvent(event)
        self._keep_reading()
        self._settle_reading()

    def _settle_again(self) -> None:
        """Measure again what looks another way, as larger text or broken lines of code; what was read stays in view."""
        self._measured.clear()
        self._settle_reading()

    def column_width(self) -> int:
        """Return the width of the reading column in pixels; a scroll bar that appears does not change it."""
        return max(120, min(COLUMN, self.width() - MARGINS))

    # -- the machinery ---------------------------------------------------------------------------------------------------

    def _scrolled(self, value: int) -> None:
        if self._settling:
            return
        self._reading = None
        # Any way up is away from the end, a single pixel too: what is written next must not pull the reader back.
        self._follow(value >= self._value and self._is_at_end())
        self._value = value
        self._take_anchor()
        self._settle()

    def _follow(self, follows: bool) -> None:
        """Follow the end or not; who does has seen all that is written."""
        self._follows = follows
        if follows:
            self._unseen = 0

    def _keep_reading(self) -> None:
        """Note which text is at the top of the view, where nothing was noted since a reader scrolled."""
        if self._reading is not None or self._follows or not self._messages:
            return
        message_id = self._messages[self._anchor.index].id
        view = self._views.get(message_id)
        if view is not None:
            position = view.position_at(max(0, -view.y()))
            self._reading = _Reading(message_id, position, view.y() + view.top_of(position))

    def _forget_reading(self) -> None:
        if not self._settling:
            self._reading = None

    def _settle_reading(self) -> None:
        """Measure what is in view, and put what was read back in its place."""
        self._settle()
        view = self._views.get(self._reading.message_id) if self._reading else None
        if self._reading is not None and view is not None and not self._follows:
            index = self._index[self._reading.message_id]
            self._anchor = _Anchor(index, self._reading.offset - view.top_of(self._reading.position) - self._gap(index))
            self._settle()

    def _is_at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - 2

    def _take_anchor(self) -> None:
        """Hold on to the first message in view whose height is certain: an estimate would move what is under it."""
        value = self.verticalScrollBar().value()
        visible = self._visible()
        index = next((index for index in visible if index in self._measured), visible.start)
        self._anchor = _Anchor(index, self._top(index) - value)

    def _settle(self) -> None:
        """Measure what is in view until nothing changes any more, then put it in place."""
        if self._settling:
            return
        self._settling = True
        try:
            # Each round can bring new messages into view; a few are enough for any estimate.
            for _ in range(8):
                self._set_bar()
                if not self._measure_visible():
                    break
            self._set_bar()
            self._take_anchor()
            self._place()
        finally:
            self._settling = False
        self.placed.emit()

    def _set_bar(self) -> None:
        bar = self.verticalScrollBar()
        height = self.viewport().height()
        bar.setRange(0, max(0, self._edge + self._heights.total + EDGE - height))
        bar.setPageStep(height)
        bar.setValue(bar.maximum() if self._follows else self._top(self._anchor.index) - self._anchor.offset)
        self._value = bar.value()

    def _visible(self) -> range:
        if not self._messages:
            return range(0)
        value = self.verticalScrollBar().value()
        bottom = value + self.viewport().height()
        return range(self._heights.at(value - self._edge), self._heights.at(bottom - self._edge) + 1)

    def _measure_visible(self) -> bool:
        changed = False
        width = self.column_width()
        if width != self._measured_width:
            self._measured_width = width
            self._measured.clear()
        for index in self._visible():
            changed = self._measure(index, self._realised(index)) != 0 or changed
        return changed

    def _measure(self, index: int, view: "MessageView") -> int:
        """Take over a message's height, which is sure where its text can be seen; return by how much it changed."""
        height = self._gap(index) + view.height_at(self.column_width())
        change = height - self._heights[index]
        (self._measured.discard if view.covered else self._measured.add)(index)
        if change:
            self._heights.set(index, height)
        return change

    def _remeasure(self, index: int, *, written: bool = False) -> None:
        """Take over a message's height; only what was `written` is something that a reader elsewhere has not seen."""
        change = self._measure(index, self._views[self._messages[index].id])
        if written and not change:
            return
        if written and not self._follows:
            self._unseen += change
        self._settle()

    def _place(self) -> None:
        value = self.verticalScrollBar().value()
        width = self.column_width()
        left = (self.width() - width) // 2
        visible = self._visible()
        shown = set()
        for index in visible:
            message_id = self._messages[index].id
            view = self._views[message_id]
            self._views.touch(message_id)
            gap = self._gap(index)
            top = self._top(index) + gap - value
            view.setGeometry(left - BLEED, top, width + 2 * BLEED, self._heights[index] - gap)
            view.show()
            shown.add(message_id)
            if index == self._left_out and index:
                self._marker.setGeometry(left, top - ROOM + MARK_ABOVE, width, MARK_HEIGHT)
        for message_id, view in self._views:
            if message_id not in shown and not view.isHidden():
                self._hide(view)
        self._marker.setVisible(self._left_out > 0 and self._left_out in visible)
        self._views.release_old(len(shown), lambda message_id: self._message(message_id).state == "streaming")

    def _message(self, message_id: str) -> StoredMessage:
        return self._messages[self._index[message_id]]

    def _hide(self, view: "MessageView") -> None:
        # Hiding what has the focus would hand it to any other widget of the window.
        # The window is asked: the list itself remembers what had it last, long after somebody else has it.
        focus = self.window().focusWidget()
        if focus is not None and view.isAncestorOf(focus):
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        view.hide()

    def _realised(self, index: int) -> "MessageView":
        message = self._messages[index]
        view = self._views.get(message.id)
        if view is None:
            view = self._views.take(message.id)
            # A width before the text: a document that learns it afterwards is laid out twice.
            view.resize(self.column_width() + 2 * BLEED, max(1, view.height()))
            self._fill(view, message)
            self.view_filled.emit(view)
        return view

    def _resized(self, message_id: str) -> None:
        if not self._settling and message_id in self._views:
            self._remeasure(self._index[message_id])

    def _top(self, index: int) -> int:
        return self._edge + self._heights.top(index)

    def _gap(self, index: int) -> int:
        return gap_above(self._messages[index], first=index == 0, marked=index == self._left_out)

    def _estimate(self, index: int, width: int) -> int:
        return self._gap(index) + estimated_height(self._messages[index], width)
