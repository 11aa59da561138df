"""One message: the user's in a bubble, a reply in the open, with what the model thought and the quiet line under it."""

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.chat.blocks import Gap, Paragraph, Place, Run
from app.chat.disclosure import HEIGHT as DISCLOSURE_HEIGHT
from app.chat.disclosure import Disclosure
from app.chat.failure_note import FailureNote
from app.chat.guard_card import GuardCard
from app.chat.ledger import ledger
from app.chat.markdown import StreamReader, read
from app.chat.message_text import MessageText
from app.chat.stats_line import BLEED as STATS_BLEED
from app.chat.stats_line import HEIGHT as STATS_HEIGHT
from app.chat.stats_line import StatsLine
from app.theme import Theme
from app.widgets.facts_popover import FactsPopover
from engine.chats.records import StoredMessage
from engine.core.messages import MemoryRefused

_BUBBLE_WIDTH, _BUBBLE_SIDE, _BUBBLE_TOP, _BUBBLE_RADIUS = 560, 14, 8, 12
_GAP = 4
# A view is this much wider than the column on each side: icons and focus rings stick out.
BLEED = 8
_UNDER_THOUGHT = 8
_THOUGHT_INDENT = 20
_MEASURED = 4_000


class MessageView(QWidget):
    """Shows one `StoredMessage`, and another one later: views are used again. `height_changed` asks for a new place."""

    copy_requested = Signal(str)
    regenerate_requested = Signal(str)
    branch_requested = Signal(str, int)
    link_activated = Signal(str)
    height_changed = Signal(str)
    choice_made = Signal(str, object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._message: StoredMessage | None = None
        self._status = ""
        self._reader: StreamReader | None = None
        self._thought_reader: StreamReader | None = None
        self._thought = ""
        self._thought_text: MessageText | None = None
        self._arranged = (-1, 0)
        self._bubble = QRect()
        self.body = MessageText(theme, parent=self)
        self.body.setObjectName("messageText")
        self._disclosure = Disclosure(theme, self)
        self._failure = FailureNote(theme, self)
        self._guard: GuardCard | None = None
        self._stats = StatsLine(theme, self)
        self._popover: FactsPopover | None = None
        self._connect()
        theme.changed.connect(self.update)

    def _connect(self) -> None:
        self.body.link_activated.connect(self.link_activated)
        self._disclosure.toggled.connect(self._open_thought)
        self._stats.copy_pressed.connect(lambda: self.copy_requested.emit(self.message_id))
        self._stats.regenerate_pressed.connect(lambda: self.regenerate_requested.emit(self.message_id))
        self._stats.branch_pressed.connect(lambda step: self.branch_requested.emit(self.message_id, step))
        self._stats.details_pressed.connect(self._show_details)

    @property
    def message(self) -> StoredMessage | None:
        """What is shown, as it was given; `text` may have grown since."""
        return self._message

    @property
    def message_id(self) -> str:
        """The id of what is shown, or nothing."""
        return self._message.id if self._message else ""

    @property
    def text(self) -> str:
        """The answer so far."""
        if self._reader is not None:
            return self._reader.text
        return self._message.text if self._message else ""

    @property
    def blank(self) -> bool:
        """Whether there is no answer yet."""
        return self._reader.blank if self._reader is not None else not self.text.strip()

    def show_message(self, message: StoredMessage) -> None:
        """Show a message from the start."""
        other = message.id != self.message_id
        self._message, self._status = message, ""
        self._reader = self._thought_reader = None
        self._thought = message.reasoning
        if other and self._guard is not None:
            self._guard.hide()
            self._guard.deleteLater()
            self._guard = None
        if other:
            if self._popover is not None:
                self._popover.hide()
            self.setObjectName(f"message.{message.id}")
            self._disclosure.setChecked(False)
        if message.role != "assistant":
            self.body.show_blocks(_plain(message.text))
        elif message.state == "streaming":
            self._reader = StreamReader()
            self._reader.feed(message.text)
            self.body.show_blocks(self._reader.blocks)
        else:
            self.body.show_blocks(read(message.text))
        self._open_thought(self._disclosure.isChecked())
        self._tell()

    def add_text(self, text: str, reasoning: str = "") -> None:
        """Append to a reply that is being written."""
        if self._reader is None:
            return
        if reasoning:
            self._thought += reasoning
            self._feed_thought(reasoning)
        if text:
            unchanged = self._reader.feed(text)
            self.body.show_blocks(self._reader.blocks, unchanged)
        if self._status:
            self.set_status("")
        self._name_thought()
        self._arranged = (-1, 0)

    def set_status(self, status: str) -> None:
        """Say what a reply is waiting for."""
        if self._message is not None and status != self._status:
            self._status = status
            self._stats.show_message(self._message, status)

    def finish(self, message: StoredMessage) -> None:
        """Show the finished message; what is right already is left as it stands."""
        if self._reader is None or message.id != self.message_id or message.text != self._reader.text:
            self.show_message(message)
            return
        unchanged = self._reader.finish()
        self.body.show_blocks(self._reader.blocks, unchanged)
        self._message, self._status, self._reader = message, "", None
        if self._thought_text is not None and self._thought_reader is not None:
            self._thought_text.show_blocks(self._thought_reader.blocks, self._thought_reader.finish())
        self._tell()

    def show_refusal(self, refused: MemoryRefused) -> None:
        """Offer what would make a refused reply fit, in place of the plain note; `choice_made` carries the changes, or None."""
        if self._guard is None:
            self._guard = GuardCard(self._theme, self)
            self._guard.chosen.connect(lambda changes: self.choice_made.emit(self.message_id, changes))
            self._guard.ignored.connect(lambda: self.choice_made.emit(self.message_id, None))
        self._guard.show_refusal(refused)
        self._tell()

    def height_at(self, width: int) -> int:
        """Put every part in its place in a column of `width` pixels (the view is wider by `BLEED` on each side).

        Returns the height of it all.
        """
        if self._arranged[0] != width:
            height = self._arrange_reply(width) if self._is_reply() else self._arrange_bubble(width)
            self._arranged = (width, height)
        return self._arranged[1]

    def position_at(self, y: int) -> int:
        """Return the text position that stands `y` pixels under the view's top."""
        return self.body.position_at(y - self.body.y())

    def top_of(self, position: int) -> int:
        """Return how many pixels under the view's top a text position stands."""
        return self.body.y() + self.body.top_of(position)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the bubble."""
        if self._is_reply():
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("inset"))
        painter.drawRoundedRect(self._bubble, _BUBBLE_RADIUS, _BUBBLE_RADIUS)

    def _is_reply(self) -> bool:
        return self._message is not None and self._message.role == "assistant"

    def _tell(self) -> None:
        """Bring all but the text up to the message's state."""
        message = self._message
        if message is None:
            return
        self.body.set_streaming(message.state == "streaming")
        self._failure.setVisible(message.state == "failed")
        if message.state == "failed":
            self._failure.show_error(message.error)
        self._stats.show_message(message, self._status)
        self._name_thought()
        self.setAccessibleName("Reply" if message.role == "assistant" else "You said")
        self.setAccessibleDescription(message.text)
        self.body.setAccessibleName(self.accessibleName())
        self._arranged = (-1, 0)
        self.update()

    # -- what the model thought ------------------------------------------------------------------------------------------

    def _show_details(self) -> None:
        """Open the ledger of the reply's tokens over the line."""
        if self.message is None or self.message.facts is None:
            return
        if self._popover is None:
            self._popover = FactsPopover(self._theme, self.window())
        self._popover.show_rows(ledger(self.message.facts), self._stats, place=self._stats.details_place())

    def _name_thought(self) -> None:
        self._disclosure.setVisible(bool(self._thought))
        thinking = self._message is not None and self._message.state == "streaming" and self.blank
        name = "Thinking…" if thinking else "Thought"
        if self._disclosure.text() != name:
            self._disclosure.say(name)

    def _open_thought(self, opened: bool) -> None:
        opened = opened and bool(self._thought)
        if opened and self._thought_text is None:
            self._thought_text = MessageText(self._theme, quiet=True, parent=self)
            self._thought_text.setObjectName("thought")
            self._thought_text.setAccessibleName("What the model thought")
            self._thought_text.link_activated.connect(self.link_activated)
        if self._thought_text is not None:
            self._thought_text.setVisible(opened)
        self._thought_reader = StreamReader() if opened else None
        if opened and self._thought_text is not None and self._thought_reader is not None:
            self._thought_reader.feed(self._thought)
            if self._reader is None:
                self._thought_reader.finish()
            self._thought_text.show_blocks(self._thought_reader.blocks)
        self._arranged = (-1, 0)
        self.height_changed.emit(self.message_id)

    def _feed_thought(self, reasoning: str) -> None:
        if self._thought_text is not None and self._thought_reader is not None:
            unchanged = self._thought_reader.feed(reasoning)
            self._thought_text.show_blocks(self._thought_reader.blocks, unchanged)

    # -- measures --------------------------------------------------------------------------------------------------------

    def _arrange_bubble(self, width: int) -> int:
        inner = min(self._text_width(), min(_BUBBLE_WIDTH, width) - 2 * _BUBBLE_SIDE)
        left = BLEED + width - inner - _BUBBLE_SIDE
        self.body.setGeometry(left, _BUBBLE_TOP, inner, max(1, self.body.height()))
        height = self.body.height_at(inner)
        self.body.setGeometry(left, _BUBBLE_TOP, inner, height)
        self._bubble = QRect(left - _BUBBLE_SIDE, 0, inner + 2 * _BUBBLE_SIDE, height + 2 * _BUBBLE_TOP)
        bottom = self._bubble.height()
        several = self._message is not None and self._message.sibling_count > 1
        self._stats.setVisible(several)
        if several:
            self._stats.setGeometry(BLEED - STATS_BLEED, bottom + _GAP, width + 2 * STATS_BLEED, STATS_HEIGHT)
            bottom += _GAP + STATS_HEIGHT
        return bottom

    def _arrange_reply(self, width: int) -> int:
        top = self._arrange_thought(width) if self._thought else 0
        failed = self._message is not None and self._message.state == "failed"
        empty = self.blank
        self.body.setVisible(not empty or not failed)
        if not self.body.isHidden():
            self.body.setGeometry(BLEED, top, width, max(1, self.body.height()))
            height = self.body.height_at(width)
            self.body.setGeometry(BLEED, top, width, height)
            top += height
        if failed:
            top += 0 if empty else _UNDER_THOUGHT
            note = self._guard or self._failure
            self._failure.setVisible(self._guard is None)
            note.setGeometry(BLEED, top, width, note.height_at(width))
            note.show()
            top += note.height()
        self._stats.setVisible(True)
        self._stats.setGeometry(BLEED - STATS_BLEED, top + _GAP, width + 2 * STATS_BLEED, STATS_HEIGHT)
        return top + _GAP + STATS_HEIGHT

    def _arrange_thought(self, width: int) -> int:
        self._disclosure.move(BLEED, 0)
        top = DISCLOSURE_HEIGHT + _GAP
        if self._thought_text is not None and not self._thought_text.isHidden():
            inner = width - _THOUGHT_INDENT
            self._thought_text.setGeometry(BLEED + _THOUGHT_INDENT, top, inner, max(1, self._thought_text.height()))
            height = self._thought_text.height_at(inner)
            self._thought_text.setGeometry(BLEED + _THOUGHT_INDENT, top, inner, height)
            top += height + 12
        return top

    def _text_width(self) -> int:
        """Return how wide the text is without wrapping; a long one fills the bubble anyway."""
        text = self.text
        if len(text) > _MEASURED:
            return _BUBBLE_WIDTH
        metrics = QFontMetrics(self._theme.font("read"))
        tabs = int(self.body.tabStopDistance())
        widest = max(metrics.horizontalAdvance(line) + tabs * line.count("\t") for line in text.split("\n"))
        return max(8, widest + 2)


def _plain(text: str) -> tuple[Paragraph, ...]:
    """Return a user's text as it was typed: a paragraph a line."""
    place = Place(gap=Gap.NONE)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(Paragraph(place, (Run(line),) if line else ()) for line in lines)
