"""What people do with messages: copy, edit, write anew, go on, switch, fork and delete."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QMenu

from app.chat.controller import ChatController
from app.chat.conversation.message_menu import Deeds, Offer, fill
from app.chat.message_trash import MessageTrash
from app.chat.page import ChatPage
from app.chat.progress_words import WAIT
from app.chat.replies import Replies
from app.widgets.toast import Toaster
from engine.chats.continuing import is_cut
from engine.chats.fork import fork
from engine.chats.records import StoredMessage
from engine.chats.store import ChatStore
from engine.core.errors import NoModelLoaded
from engine.core.facts import ModelEntry
from engine.core.setting import Value

if TYPE_CHECKING:
    from app.chat.conversation.message import MessageView

NOTHING_CUT = "Only the last reply can go on, where it was cut."


class MessageActions(QObject):
    """Works on the open chat. Where no message is named, it is the one with the focus, else the last that it can be done with.

    `run_again_requested` carries the message of a reply that is to be made again, to see whether it comes out the same;
    `inspect_requested` the id of one whose tokens are to be looked at.
    """

    run_again_requested = Signal(object)
    inspect_requested = Signal(str)

    def __init__(
        self,
        store: ChatStore,
        chat: ChatController,
        replies: Replies,
        page: ChatPage,
        toaster: Toaster,
        models: Callable[[], Sequence[ModelEntry]],
        model_id: Callable[[], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._chat, self._replies, self._page, self._toaster = store, chat, replies, page, toaster
        self._models, self._model_id = models, model_id
        self.trash = MessageTrash(store, chat, replies, toaster, self)
        self._busy = False
        self._known: set[MessageView] = set()
        # What is written in edits that were neither sent nor cancelled, whatever their views show meanwhile.
        self._edits: dict[str, str] = {}
        transcript = page.transcript
        transcript.copy_requested.connect(self.copy)
        transcript.regenerate_requested.connect(self.regenerate)
        transcript.branch_requested.connect(self.switch_branch)
        transcript.view_filled.connect(self._dress)
        transcript.placed.connect(self._mark_last)
        transcript.installEventFilter(self)
        chat.busy_changed.connect(self._follow_busy)
        page.composer.edit_last_requested.connect(self.edit_last)

    # -- with a message that is named --------------------------------------------------------------------------------

    def copy(self, message_id: str) -> None:
        """Copy a message's text, as it was written."""
        if message := self._message(message_id):
            QGuiApplication.clipboard().setText(message.text)

    def edit(self, message_id: str) -> None:
        """Open a message for editing where it stands; also while a reply is on its way, to be sent after it."""
        message = self._message(message_id)
        transcript = self._page.transcript
        index = transcript.index_of(message_id)
        if message and index is not None and message.state != "streaming":
            transcript.hold()
            self._edits.setdefault(message_id, message.text)
            transcript.bring_in(index).begin_edit(self._edits[message_id])
            transcript.bring_in(index)  # As a whole: the field may be higher than what it stands for.
            transcript.hold()  # What is written at the end must not push the field out of sight.

    def keep_edit(self, message_id: str, text: str) -> None:
        """Put an edited text beside the first one: a user's is answered, a reply's is marked as edited.

        A user's text that was not changed is answered once more.
        """
        message = self._message(message_id)
        if message is None or self._chat.busy or self._chat.chat_id is None:
            return
        with self._chat.reporting():
            if message.role == "assistant":
                shown = self._store.edit_reply(message_id, text).id if text != message.text else message_id
                self._end_edit(message_id)
                self._chat.show(self._chat.messages())
            else:
                if not self._model_id():
                    raise NoModelLoaded("There is no model to answer this.")
                made = message
                if text != message.text:
                    made = self._store.add_message(message.chat_id, "user", text, message.parent_id, message.attachments)
                shown = made.id
                self._end_edit(message_id)
                self._chat.show(self._chat.messages())
                self._chat.answer(shown)
                self._page.transcript.jump_to_bottom()
            self._focus(shown)
            self._chat.chats_changed.emit()

    def regenerate(self, message_id: str, model_id: str = "", given: dict[str, Value] | None = None) -> None:
        """Ask for another reply beside this one, or to this question; the chat's own model and settings stay as they are."""
        message = self._message(message_id)
        if message and self._is_free():
            asked = message.parent_id if message.role == "assistant" else message.id
            if asked:
                self._chat.answer(asked, model_id=model_id, given=given)

    def go_on(self, message_id: str) -> None:
        """Let the model write on at the last message, a reply that was cut."""
        message = self._message(message_id)
        if message is None or not self._is_free():
            return
        if not is_cut(message) or self._page.transcript.messages[-1].id != message_id:
            self._toaster.show(NOTHING_CUT)
            return
        with self._chat.reporting():
            if not (message.model_id or self._model_id()):
                raise NoModelLoaded("There is no model to write on.")
            self._chat.go_on(message)

    def switch_branch(self, message_id: str, step: int) -> None:
        """Show the sibling `step` places after a message, with what followed it."""
        if self._chat.chat_id is None or not self._is_free():
            return
        with self._chat.reporting():
            siblings = self._store.siblings(message_id)
            place = [message.id for message in siblings].index(message_id) + step
            if 0 <= place < len(siblings):
                focused = self._focused() == message_id
                self._store.activate(siblings[place].id)
                self._chat.show(self._chat.messages())
                self._page.transcript.scroll_to(siblings[place].id)
                if focused:
                    self._focus(siblings[place].id)

    def fork(self, message_id: str) -> None:
        """Open a new chat that holds what leads to a message."""
        message = self._message(message_id)
        if message and message.state == "streaming":
            self._toaster.show(f"{WAIT}.")
        elif message:
            with self._chat.reporting():
                made = fork(self._store, message_id)
                self._chat.open(made.id)
                self._chat.chats_changed.emit()

    def run_again(self, message_id: str) -> None:
        """Have a reply made again exactly as it was."""
        message = self._message(message_id)
        if message and message.facts is not None and self._is_free():
            self.run_again_requested.emit(message)

    def delete(self, message_id: str) -> None:
        """Move a message and what follows it to the chat's trash."""
        message = self._message(message_id)
        if message and self._is_free():
            self.trash.delete(message)

    # -- with the message that has the focus, or the last ------------------------------------------------------------

    def edit_last(self) -> None:
        """Edit the message of the user's that has the focus, else the last one."""
        self._do(self.edit, lambda message: message.role == "user")

    def copy_last(self) -> None:
        """Copy the message with the focus, else the last reply."""
        self._do(self.copy, lambda message: message.role == "assistant", any_focused=True)

    def regenerate_last(self) -> None:
        """Write the reply anew that has the focus, else the last one."""
        self._do_when_free(self.regenerate, lambda message: message.role == "assistant")

    def continue_last(self) -> None:
        """Go on with the last message, where it is a reply that was cut."""
        for message in self._page.transcript.messages[-1:]:
            self.go_on(message.id)

    def switch_last(self, step: int) -> None:
        """Show another version of the message with the focus, else of the last message that has several."""
        self._do_when_free(lambda message_id: self.switch_branch(message_id, step), lambda message: message.sibling_count > 1)

    def delete_last(self) -> None:
        """Delete the message with the focus, else the last one."""
        self._do_when_free(self.delete, lambda _: True)

    def fork_last(self) -> None:
        """Fork the chat at the message with the focus, else at the last one."""
        self._do(self.fork, lambda _: True)

    def run_last_again(self) -> None:
        """Run the reply again that has the focus, else the last one."""
        self._do_when_free(self.run_again, lambda message: message.role == "assistant" and message.facts is not None)

    def _do_when_free(self, deed: Callable[[str], object], fits: Callable[[StoredMessage], bool]) -> None:
        if self._is_free():
            self._do(deed, fits)

    def _is_free(self) -> bool:
        """Return whether messages can be changed; while a reply is on its way, say why not."""
        if self._chat.busy:
            self._toaster.show(f"{WAIT}.")
        return not self._chat.busy

    def _do(self, deed: Callable[[str], object], fits: Callable[[StoredMessage], bool], *, any_focused: bool = False) -> None:
        focused = self._focused()
        for message in reversed(self._page.transcript.messages):
            if message.id == focused and (any_focused or fits(message)):
                deed(message.id)
                return
        last = next((message for message in reversed(self._page.transcript.messages) if fits(message)), None)
        if last is not None:
            deed(last.id)

    # -- the menu ----------------------------------------------------------------------------------------------------

    def fill_menu(self, message_id: str, menu: QMenu) -> None:
        """Put into a menu what can be done with a message."""
        message = self._message(message_id)
        if message is None:
            return
        with self._chat.reporting():
            last = self._page.transcript.messages[-1].id == message_id
            sampling = message.facts.sampling if message.facts else self._replies.sampling(self._chat.chat_id)
            fill(
                menu, Offer(message, last, self._chat.busy, self._models(), message.model_id, sampling), self._deeds(message_id)
            )

    def _deeds(self, message_id: str) -> Deeds:
        view = self._page.transcript.view(message_id)
        return Deeds(
            copy=lambda: self.copy(message_id),
            edit=lambda: self.edit(message_id),
            regenerate=lambda: self.regenerate(message_id),
            regenerate_with=lambda model_id, given: self.regenerate(message_id, model_id, given),
            go_on=lambda: self.go_on(message_id),
            switch=lambda step: self.switch_branch(message_id, step),
            fork=lambda: self.fork(message_id),
            run_again=lambda: self.run_again(message_id),
            inspect=lambda: self.inspect_requested.emit(message_id),
            measured=lambda: view.show_details() if view else None,
            delete=lambda: self.delete(message_id),
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Open the menu of the last message for the menu key, where the list itself has the focus."""
        if isinstance(event, QContextMenuEvent) and event.reason() == QContextMenuEvent.Reason.Keyboard:
            messages = self._page.transcript.messages
            view = self._page.transcript.view(messages[-1].id) if messages else None
            if view is not None and view.isVisible():
                view.open_menu()
                return True
        return super().eventFilter(watched, event)

    # -- parts -------------------------------------------------------------------------------------------------------

    def _message(self, message_id: str) -> StoredMessage | None:
        """Return a message of the open chat as it stands."""
        return next((message for message in self._page.transcript.messages if message.id == message_id), None)

    def _focused(self) -> str:
        """Return the id of the message with the focus, or nothing."""
        return self._page.transcript.focus.message_id

    def _focus(self, message_id: str) -> None:
        view = self._page.transcript.view(message_id)
        if view is not None:
            view.body.setFocus()

    # -- the views ---------------------------------------------------------------------------------------------------

    def _dress(self, view: "MessageView") -> None:
        """Listen to a view that shows a message now, and bring back the edit it was in."""
        if view not in self._known:
            self._known.add(view)
            view.edit_requested.connect(self.edit)
            view.edited.connect(self.keep_edit)
            view.edit_changed.connect(self._edits.__setitem__)
            view.edit_cancelled.connect(self._forget_edit)
            view.continue_requested.connect(self.go_on)
            view.menu_requested.connect(self.fill_menu)
        view.set_busy(self._chat.busy)
        if view.message_id in self._edits:
            view.begin_edit(self._edits[view.message_id], focus=False)  # It comes into view; the keyboard is elsewhere.

    def _follow_busy(self, busy: bool) -> None:
        if busy == self._busy:
            return
        self._busy = busy
        for _, view in self._page.transcript.views():
            view.set_busy(busy)

    def _mark_last(self) -> None:
        transcript = self._page.transcript
        for index in transcript.visible():
            view = transcript.view(transcript.messages[index].id)
            if view is not None:
                view.set_last(index == len(transcript.messages) - 1)

    def _forget_edit(self, message_id: str) -> None:
        self._edits.pop(message_id, None)
        self._page.transcript.let_go()

    def _end_edit(self, message_id: str) -> None:
        self._edits.pop(message_id, None)
        view = self._page.transcript.view(message_id)
        if view is not None:
            view.end_edit()
