"""The conversation: its messages, what becomes of them, and what can be done with them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from app.chat.conversation.chat_selection import ChatSelection
from app.chat.conversation.jump_button import JumpButton
from app.chat.conversation.message_focus import MessageFocus
from app.chat.conversation.message_list import MessageList
from app.chat.conversation.reply_words import ending_words
from app.chat.conversation.scroll_keys import scroll_step
from app.chat.conversation.spacing import LINE
from app.chat.conversation.view_extras import ViewExtras
from app.theme import Theme
from app.widgets.announcement import announce
from app.widgets.halo import focus_ring
from engine.chats.records import StoredMessage
from engine.core.messages import MemoryRefused
from engine.core.odds import TokenOdds

if TYPE_CHECKING:
    from app.chat.conversation.message import MessageView


class Transcript(MessageList):
    """Shows a chat's messages, and offers a reader who left the end a button that leads back.

    `text_changed` carries the id of a message whose text is another now, or "" where all of them are others.
    """

    copy_requested = Signal(str)
    regenerate_requested = Signal(str)
    branch_requested = Signal(str, int)
    link_activated = Signal(str)
    summary_requested = Signal()
    choice_made = Signal(str, object)
    # Of the shaded reply: that its text is wanted again, the token pointed at (-1 for none), and one that was clicked.
    odds_closed = Signal()
    odds_pointed = Signal(int)
    odds_picked = Signal(int)
    text_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._extras = ViewExtras()
        self._jump = JumpButton(theme, self)
        self.selection = ChatSelection(theme, self)
        self.focus = MessageFocus(self)
        self.setObjectName("transcript")
        self.setAccessibleName("Conversation")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._marker.summary_requested.connect(self.summary_requested)
        self._jump.clicked.connect(self.jump_to_bottom)
        self.placed.connect(self._offer_jump)

    def is_thought_open(self, message_id: str) -> bool:
        """Return whether what was thought before a message is shown, or would be."""
        view = self._views.get(message_id)
        return view.thought.opened if view is not None else self._extras.is_opened(message_id)

    # -- what is shown ---------------------------------------------------------------------------------------------------

    def set_messages(self, messages: Sequence[StoredMessage]) -> None:
        """Show these messages. The same chat keeps its place (a branch was switched), another one opens at its end."""
        super().set_messages(messages)
        self._name_models()
        self.text_changed.emit("")

    def append(self, message: StoredMessage) -> None:
        """Add a message at the end. One's own message is always gone to; a reply only where the end is followed."""
        super().append(message)
        self.text_changed.emit(message.id)

    def add_text(self, message_id: str, text: str, reasoning: str = "", reasoning_s: float = 0.0) -> None:
        """Append to a reply that is being written, as `MessageView.add_text`; an id that is not here is let pass."""
        index = self._index.get(message_id)
        if index is None:
            return
        # Kept out of sight too: what is written costs the same wherever the reader is.
        view = self._realised(index)
        message = self._messages[index]
        self._messages[index] = replace(message, text=message.text + text, reasoning=message.reasoning + reasoning)
        if index not in self._measured:
            self._remeasure(index)
        view.add_text(text, reasoning, reasoning_s)
        self._remeasure(index, written=True)
        self.text_changed.emit(message_id)

    def set_status(self, message_id: str, text: str) -> None:
        """Say what a reply is waiting for, as "Reading 1,842 of 3,210 new tokens"."""
        index = self._index.get(message_id)
        if index is not None:
            # No height depends on it: nothing is measured or placed again.
            self._realised(index).set_status(text)

    def show_refusal(self, message_id: str, refused: MemoryRefused) -> None:
        """Offer choices under a reply that was refused, as long as Flint runs."""
        self._extras.refuse(message_id, refused)
        view = self._views.get(message_id)
        if view is not None:
            view.show_refusal(refused)
            self._remeasure(self._index[message_id])

    def show_odds(self, message_id: str, odds: TokenOdds | None) -> None:
        """Shade one reply by the probability of its tokens; with None none."""
        before = self._extras.shade(message_id, odds)
        for each in {before, message_id}:
            view = self._views.get(each)
            if view is not None:
                view.show_odds(odds if each == message_id else None)

    def finish(self, message: StoredMessage) -> None:
        """Show a message as it was stored in the end."""
        index = self._index.get(message.id)
        if index is None:
            return
        self._messages[index] = message
        self._name_models()
        view = self._views.get(message.id)
        if view is not None:
            view.finish(message)
            self._remeasure(index)
        announce(self, ending_words(message, view.body.toPlainText() if view is not None and not view.busy else message.text))
        self.text_changed.emit(message.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll by lines, pages and to both ends."""
        bar = self.verticalScrollBar()
        step = scroll_step(event.key(), bar)
        if event.matches(QKeySequence.StandardKey.Copy) and self.selection.empty and self.focus.message_id:
            self.copy_requested.emit(self.focus.message_id)
            return
        if self.selection.take_key(event):
            return
        if step is None:
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_End:
            self.jump_to_bottom()
        else:
            bar.setValue(bar.value() + step)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Shift+Tab from below comes to the last control first."""
        super().focusInEvent(event)
        if event.reason() == Qt.FocusReason.BacktabFocusReason:
            self.focus.enter_from_below()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab go through the messages as they stand: their widgets are used again, in any order."""
        return self.focus.go_on(forward=forward) or super().focusNextPrevChild(forward)

    # -- the views -------------------------------------------------------------------------------------------------------

    def _make(self) -> "MessageView":
        from app.chat.conversation.message import MessageView  # Not before a message is shown: the window itself comes sooner.

        view = MessageView(self._theme, self.viewport())
        view.copy_requested.connect(self.copy_requested)
        view.regenerate_requested.connect(self.regenerate_requested)
        view.branch_requested.connect(self.branch_requested)
        view.link_activated.connect(self.link_activated)
        view.choice_made.connect(self.choice_made)
        view.odds_closed.connect(self.odds_closed)
        view.odds_pointed.connect(self.odds_pointed)
        view.odds_picked.connect(self.odds_picked)
        view.height_changed.connect(self._resized)
        # Formulas are drawn a moment after the text around them; what a person opens moves what is read.
        view.body.height_changed.connect(self._settle_reading)
        view.thought.height_changed.connect(self._forget_reading)
        view.filled.connect(self.view_filled)
        view.answer_began.connect(self._fold_thought)
        view.thought_opened.connect(self._extras.keep_opened)
        self.selection.watch(view)
        focus_ring(self._theme, view, 8)
        return view

    def _fill(self, view: "MessageView", message: StoredMessage) -> None:
        self._extras.fill(view, message)

    def _fold_thought(self, message_id: str) -> None:
        """Close what opened while the model thought, unless a reader is in the middle of it."""
        if self._follows:
            self._views[message_id].thought.fold()

    def _name_models(self) -> None:
        if self._extras.count_models(self._messages):
            for _, view in self._views:
                view.name_model(self._extras.several_models)

    def _offer_jump(self) -> None:
        bar = self.verticalScrollBar()
        away = not self._follows and bar.maximum() - bar.value() > 2 * LINE
        self._jump.offer(max(0, self._unseen) // self._theme.line("read"), self.viewport().geometry(), wanted=away)
