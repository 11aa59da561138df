"""One message: the user's in a bubble, a reply in the open, with what the model thought and the quiet line under it."""

from PySide6.QtCore import QEvent, QPoint, QRect, Signal
from PySide6.QtGui import QContextMenuEvent, QEnterEvent, QFocusEvent, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.chat.conversation.bubble_chips import BubbleChips
from app.chat.conversation.ending import Ending, wordless
from app.chat.conversation.ledger import ledger
from app.chat.conversation.lines_to_come import paint_lines
from app.chat.conversation.message_editing import Editing
from app.chat.conversation.spacing import BLEED, estimated_height
from app.chat.conversation.stats_line import BLEED as STATS_BLEED
from app.chat.conversation.stats_line import HEIGHT as STATS_HEIGHT
from app.chat.conversation.stats_line import StatsLine
from app.chat.conversation.thought import Thought
from app.chat.inspector.shaded_reply import ShadedReply
from app.chat.text.filling import Filling
from app.chat.text.message_text import MessageText
from app.chat.text.plain import plain_blocks
from app.theme import Theme
from app.widgets.facts_popover import FactsPopover
from app.widgets.frame import draw_frame
from engine.chats.records import StoredMessage
from engine.core.messages import MemoryRefused
from engine.core.odds import TokenOdds

_BUBBLE_WIDTH, _BUBBLE_SIDE, _BUBBLE_TOP, _BUBBLE_RADIUS = 560, 14, 8, 12
_GAP = 4
_ABOVE_NOTE = 8
_MEASURED = 4_000


class MessageView(QWidget):
    """Shows one `StoredMessage`, and another one later: views are used again. `height_changed` asks for a new place."""

    copy_requested = Signal(str)
    # That a person wants to edit it, what came of that, and the menu to fill with what else can be done.
    edit_requested = Signal(str)
    edited = Signal(str, str)
    edit_changed = Signal(str, str)
    edit_cancelled = Signal(str)
    menu_requested = Signal(str, object)
    regenerate_requested = Signal(str)
    continue_requested = Signal(str)
    branch_requested = Signal(str, int)
    link_activated = Signal(str)
    height_changed = Signal(str)
    # That all of a long text is there, with the view itself.
    filled = Signal(object)
    # That the answer begins after the thinking, and that a person opened or closed what was thought.
    answer_began = Signal(str)
    thought_opened = Signal(str, bool)
    choice_made = Signal(str, object)
    odds_closed = Signal()
    odds_pointed = Signal(int)
    odds_picked = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._message: StoredMessage | None = None
        self._status = ""
        self._names_model = False
        self._arranged = (-1, 0)
        self._bubble = QRect()
        self.body = MessageText(theme, parent=self)
        self.body.setObjectName("messageText")
        self._filling = Filling(self.body)
        self.thought = Thought(theme, self)
        self.thought.hide()
        self._chips = BubbleChips(theme, self)
        self._ending = Ending(theme, self)
        self.shaded: ShadedReply | None = None
        self._stats = StatsLine(theme, self)
        self._popover: FactsPopover | None = None
        self._editing = Editing(theme, self)
        self._put_away: list[QWidget] = []
        self._connect()
        theme.changed.connect(self._restyle)

    def _restyle(self) -> None:
        """Take over another theme; text of another size needs other room."""
        self._arranged = (-1, 0)
        self.update()

    def _connect(self) -> None:
        self.body.link_activated.connect(self.link_activated)
        self.body.height_changed.connect(self._fit)
        self.body.document().documentLayout().documentSizeChanged.connect(self._show_growth)
        self._filling.filled.connect(self._take_filled)
        self.thought.filled.connect(self._take_filled)
        self.thought.link_activated.connect(self.link_activated)
        self.thought.height_changed.connect(self._fit)
        self.thought.opened_by_hand.connect(lambda opened: self.thought_opened.emit(self.message_id, opened))
        self._ending.choice_made.connect(lambda changes: self.choice_made.emit(self.message_id, changes))
        self._stats.copy_pressed.connect(lambda: self.copy_requested.emit(self.message_id))
        self._stats.regenerate_pressed.connect(lambda: self.regenerate_requested.emit(self.message_id))
        self._stats.branch_pressed.connect(lambda step: self.branch_requested.emit(self.message_id, step))
        self._stats.continue_pressed.connect(lambda: self.continue_requested.emit(self.message_id))
        self._stats.edit_pressed.connect(lambda: self.edit_requested.emit(self.message_id))
        self._stats.details_pressed.connect(self.show_details)
        self._stats.menu_pressed.connect(self.open_menu)
        self.body.menu_made.connect(self._add_actions)
        self._editing.submitted.connect(lambda text: self.edited.emit(self.message_id, text))
        self._editing.changed.connect(lambda text: self.edit_changed.emit(self.message_id, text))
        self._editing.cancelled.connect(self._cancel_edit)
        self._editing.height_changed.connect(self._fit)

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
        return self._filling.source

    @property
    def busy(self) -> bool:
        """Whether not all of its texts is shown yet: a long one comes in slices of time."""
        return self._filling.busy or self.thought.busy

    @property
    def covered(self) -> bool:
        """Whether not all of the answer is to be seen yet, and its height is an estimate."""
        return self._filling.covered

    @property
    def long(self) -> bool:
        """Whether it would take more than a moment to show it again."""
        return self._message is not None and (self._filling.long or self.thought.long)

    @property
    def blank(self) -> bool:
        """Whether there is no answer yet."""
        return not self.text or self.text.isspace()

    def show_message(self, message: StoredMessage, *, opened: bool = False) -> None:
        """Show a message from the start, `opened` with what was thought."""
        other = message.id != self.message_id
        self._message, self._status = message, ""
        if other:
            self._ending.forget_refusal()
            self.setObjectName(f"message.{message.id}")
            self.body.shown.sideways.forget_choices()
        self._chips.show(message.attachments)
        if message.role != "assistant":
            self._filling.show_blocks(message.text, plain_blocks(message.text), covered=other)
        else:
            self._filling.show(message.text, goes_on=message.state == "streaming", covered=other)
        opened = opened or (not other and self.thought.stays_open)
        thinking = message.state == "streaming" and self.blank
        seconds = _thought_s(message)
        self.thought.show_thought(message.reasoning, seconds, thinking=thinking, opened=opened, other=other)
        self._tell()

    def add_text(self, text: str, reasoning: str = "", reasoning_s: float = 0.0) -> None:
        """Append to a reply that is being written, which was thought about for `reasoning_s` so far."""
        if not self._filling.goes_on:
            return
        blank = self.blank
        if reasoning:
            self.thought.add(reasoning, reasoning_s)
        if text:
            self._filling.add(text)
        if self._status:
            self.set_status("")
        self._arranged = (-1, 0)
        if blank and not self.blank and self.thought.source:
            self.thought.end(reasoning_s)
            self.body.set_streaming(True)
            self.answer_began.emit(self.message_id)

    def set_status(self, status: str) -> None:
        """Say what a reply is waiting for."""
        if self._message is not None and status != self._status:
            self._status = status
            self._stats.show_message(self._message, status, names_model=self._names_model)

    def name_model(self, named: bool) -> None:
        """Say in the quiet line which model wrote the reply, or leave it out."""
        if named != self._names_model:
            self._names_model = named
            if self._message is not None:
                self._stats.show_message(self._message, self._status, names_model=named)

    def finish(self, message: StoredMessage) -> None:
        """Show the finished message; what is right already is left as it stands."""
        if not self._filling.goes_on or message.id != self.message_id or message.text != self.text:
            self.show_message(message)
            return
        self._filling.finish()
        self._message, self._status = message, ""
        self.thought.end(_thought_s(message))
        self._tell()

    def rest(self) -> None:
        """Show nothing more: another message comes next, or the same again, from the start where only a part of it is there."""
        self.end_edit()
        if self._popover is not None:
            self._popover.hide()
        if self.covered:
            self._message = None
        self._filling.stop()
        self.thought.rest()

    def show_refusal(self, refused: MemoryRefused) -> None:
        """Offer what would make a refused reply fit, in place of the plain note; `choice_made` carries the changes, or None."""
        self._ending.show_refusal(refused)
        self._tell()

    def show_odds(self, odds: TokenOdds | None) -> None:
        """Show the tokens of a reply on the shades of their probability in the place of its text, or None its text again."""
        if (self.shaded.odds if self.shaded else None) is odds:
            return
        if self.shaded is not None:
            self.shaded.hide()
            self.shaded.deleteLater()
            self.shaded = None
        if odds is not None:
            self.shaded = ShadedReply(self._theme, odds, self)
            self.shaded.closed.connect(self.odds_closed)
            self.shaded.text.pointed.connect(self.odds_pointed)
            self.shaded.text.picked.connect(self.odds_picked)
            self.shaded.laid.connect(self._fit)
        self._arranged = (-1, 0)
        self.height_changed.emit(self.message_id)

    def height_at(self, width: int) -> int:
        """Put every part in its place in a column of `width` pixels (the view is wider by `BLEED` on each side).

        Returns the height of it all.
        """
        if self._arranged[0] != width:
            arrange = self._arrange_reply if self._is_reply() else self._arrange_bubble
            height = arrange(width) if not self._editing.active else self._arrange_editing(width)
            self._arranged = (width, height)
        return self._arranged[1]

    def position_at(self, y: int) -> int:
        """Return the text position that stands `y` pixels under the view's top."""
        return self.body.position_at(y - self.body.y())

    def top_of(self, position: int) -> int:
        """Return how many pixels under the view's top a text position stands."""
        return self.body.y() + self.body.top_of(position)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the bubble, and lines where text is still to come."""
        if self._editing.active:
            return
        painter = QPainter(self)
        if not self._is_reply():
            draw_frame(painter, self._bubble, _BUBBLE_RADIUS, self._theme.color("inset"))
        if self.covered and not self.body.isHidden():
            shown = self.body.height_at(self.body.width()) if self.body.blocks else 0
            paint_lines(painter, self._theme, self.body.geometry(), shown, event.rect())

    def _is_reply(self) -> bool:
        return self._message is not None and self._message.role == "assistant"

    def _tell(self) -> None:
        """Bring all but the text up to the message's state."""
        message = self._message
        if message is None:
            return
        self.body.set_streaming(message.state == "streaming" and not self.thought.thinking)
        self._ending.show_message(message)
        self._stats.show_message(message, self._status, names_model=self._names_model)
        self.setAccessibleName("Reply" if message.role == "assistant" else "You said")
        attached = ", ".join(one.name for one in message.attachments)
        said = message.text or wordless(message)
        self.setAccessibleDescription(f"{said}\nAttached: {attached}" if attached else said)
        self.body.setAccessibleName(self.accessibleName())
        self._arranged = (-1, 0)
        self.update()

    # -- what can be done with it ------------------------------------------------------------------------------------------

    def set_busy(self, busy: bool) -> None:
        """Offer nothing that another reply on its way stands against."""
        self._stats.set_busy(busy)
        self._editing.set_busy(busy)

    def set_last(self, last: bool) -> None:
        """Tell whether nothing follows."""
        self._stats.set_last(last)

    def begin_edit(self, text: str, *, focus: bool = True) -> None:
        """Put a field with `text` in the message's place; `edited` carries what is to be kept."""
        if self._message is not None:
            self._editing.begin(text, reply=self._is_reply(), bare=bool(self._message.attachments), focus=focus)

    def end_edit(self) -> None:
        """Show the message again."""
        if self._editing.active:
            for part in self._put_away:
                part.show()
            self._editing.end(self.body)
            self._fit()

    def _cancel_edit(self) -> None:
        self.end_edit()
        self.edit_cancelled.emit(self.message_id)

    def open_menu(self, where: QPoint | None = None) -> None:
        """Show what can be done with the message, at a place on the screen or under its button."""
        menu = QMenu(self)
        menu.setObjectName("messageMenu")
        self._add_actions(menu)
        self._stats.hold(True)
        menu.aboutToHide.connect(lambda: self._stats.hold(False))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(where or self._stats.mapToGlobal(self._stats.menu_place().bottomLeft()))

    def _add_actions(self, menu: QMenu) -> None:
        if not menu.isEmpty():
            menu.addSeparator()
        self.menu_requested.emit(self.message_id, menu)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu, under the pointer or, when a key asked for it, under its button."""
        if not self._editing.active and self._message is not None and self._message.state != "streaming":
            self.open_menu(None if event.reason() == QContextMenuEvent.Reason.Keyboard else event.globalPos())

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The actions come with the keyboard too."""
        self._stats.hold(True)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """And go with it."""
        self._stats.hold(False)
        super().focusOutEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """The actions come with the pointer."""
        self._stats.set_hovered(True)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """The actions go with the pointer."""
        self._stats.set_hovered(False)
        super().leaveEvent(event)

    def show_details(self) -> None:
        """Open the ledger of the reply's tokens over the line."""
        if self.message is None or self.message.facts is None:
            return
        if self._popover is None:
            self._popover = FactsPopover(self._theme, self.window(), copyable=True)
        self._popover.show_rows(ledger(self.message.facts), self._stats, place=self._stats.menu_place())

    def _show_growth(self) -> None:
        if self.covered:
            self.update()

    def _take_filled(self) -> None:
        self.update()
        self.filled.emit(self)
        self._fit()

    def _fit(self) -> None:
        self._arranged = (-1, 0)
        self.height_changed.emit(self.message_id)

    # -- measures --------------------------------------------------------------------------------------------------------

    def _arrange_bubble(self, width: int) -> int:
        needed = self._stats.width_needed()
        # What comes and goes gets room beside the bubble: under it, it would keep a row that is empty nearly always.
        room = width if self._stats.branched else width - needed - _GAP
        most = min(_BUBBLE_WIDTH, room) - 2 * _BUBBLE_SIDE
        inner = max(min(self._text_width(), most), self._chips.width(most))
        left = BLEED + width - inner - _BUBBLE_SIDE
        said = bool(self.text.strip()) or not self._chips.width(most)
        self.body.setVisible(said)
        self.body.setGeometry(left, _BUBBLE_TOP, inner, max(1, self.body.height()))
        height = self.body.height_at(inner) if said else 0
        height = self._estimate(width) if self.covered else height
        self.body.setGeometry(left, _BUBBLE_TOP, inner, max(1, height))
        height += self._chips.arrange(left, _BUBBLE_TOP + height, inner, under_text=said)
        self._bubble = QRect(left - _BUBBLE_SIDE, 0, inner + 2 * _BUBBLE_SIDE, height + 2 * _BUBBLE_TOP)
        bottom = self._bubble.height()
        self.thought.hide()
        self._stats.show()
        if needed <= self._bubble.left() - BLEED:  # Beside the last line of the bubble, else under it.
            self._stats.setGeometry(
                self._bubble.left() - _GAP - needed, bottom - _BUBBLE_TOP - STATS_HEIGHT, needed, STATS_HEIGHT
            )
            return bottom
        self._stats.setGeometry(BLEED - STATS_BLEED, bottom + _GAP, width + 2 * STATS_BLEED, STATS_HEIGHT)
        return bottom + _GAP + STATS_HEIGHT

    def _arrange_editing(self, width: int) -> int:
        parts = (self.shaded, self.body, self._stats, self.thought, *self._ending.parts)
        put_away = [part for part in parts if part]
        self._put_away = [part for part in put_away if not part.isHidden()] or self._put_away
        for part in put_away:
            part.hide()
        height = self._editing.arrange(BLEED, width)
        return height + self._chips.arrange(BLEED, height + _GAP, width, under_text=False)

    def _arrange_reply(self, width: int) -> int:
        if self.shaded is not None and self.shaded.lay_at(width):
            return self._arrange_shaded(self.shaded, width)
        top = self.thought.height_at(width)
        self.thought.setVisible(top > 0)
        self.thought.setGeometry(BLEED, 0, width, max(1, top))
        failed = self._message is not None and self._message.state == "failed"
        empty = self.blank
        words = self._ending.arrange_words(self._message if empty else None, BLEED, top, width)
        top += words
        self.body.setVisible(not words and (not empty or not (failed or self.thought.thinking)))
        if not self.body.isHidden():
            self.body.setGeometry(BLEED, top, width, max(1, self.body.height()))
            height = self.body.height_at(width)
            height = self._estimate(width) if self.covered else height
            self.body.setGeometry(BLEED, top, width, height)
            top += height
        if failed:
            top += 0 if empty else _ABOVE_NOTE
            top += self._ending.arrange_failure(BLEED, top, width)
        self._stats.setVisible(True)
        self._stats.setGeometry(BLEED - STATS_BLEED, top + _GAP, width + 2 * STATS_BLEED, STATS_HEIGHT)
        return top + _GAP + STATS_HEIGHT

    def _arrange_shaded(self, shaded: ShadedReply, width: int) -> int:
        self.thought.hide()
        self.body.hide()
        self._ending.hide_words()
        height = shaded.height_at(width)
        shaded.setGeometry(BLEED, 0, width, height)
        shaded.show()
        self._stats.setVisible(True)
        self._stats.setGeometry(BLEED - STATS_BLEED, height + _GAP, width + 2 * STATS_BLEED, STATS_HEIGHT)
        return height + _GAP + STATS_HEIGHT

    def _estimate(self, width: int) -> int:
        """Return about how high the text will be, once it is all there."""
        return estimated_height(self._message, width) - STATS_HEIGHT - _GAP if self._message is not None else 0

    def _text_width(self) -> int:
        """Return how wide the text is without wrapping; a long one fills the bubble anyway."""
        text = self.text
        if len(text) > _MEASURED:
            return _BUBBLE_WIDTH
        metrics = QFontMetrics(self._theme.font("read"))
        tabs = int(self.body.tabStopDistance())
        widest = max(metrics.horizontalAdvance(line) + tabs * line.count("\t") for line in text.split("\n"))
        return max(8, widest + 2)


def _thought_s(message: StoredMessage) -> float:
    return message.facts.reasoning_s if message.facts else 0.0
