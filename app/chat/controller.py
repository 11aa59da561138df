"""The open chat: what people do in it, and what of it is shown."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.chat.composer.drafts import Drafts
from app.chat.page import ChatPage
from app.chat.replies import Pending, Replies
from app.errors import telling
from engine.chats.attachment import Attachment
from engine.chats.beginning import Beginning
from engine.chats.records import StoredMessage
from engine.chats.store import ChatStore
from engine.chats.summary import Summary, read_summary, write_summary
from engine.core.errors import FlintError, NoModelLoaded
from engine.core.facts import ReplyFacts
from engine.core.messages import Event, MemoryRefused, PrefillProgress, TextDelta
from engine.core.setting import Value
from engine.core.settings import BY_NAME, usable


class ChatController(QObject):
    """Shows one chat at a time. `leaving` comes before another is opened.

    `messages_shown` says that other messages are shown, that a reply ended, or that another summary stands for them.
    `context_changed` carries how many tokens there are and their limit, zeros when nothing is known: those the last reply had,
    at rest soon those that the engine counts.
    """

    chats_changed = Signal()
    leaving = Signal()
    chat_opened = Signal(object)
    context_changed = Signal(int, int)
    settings_changed = Signal()
    messages_shown = Signal()
    # Whether a reply is on its way in the open chat; also sent where that stays as it was.
    busy_changed = Signal(bool)
    failed = Signal(object)

    def __init__(
        self,
        store: ChatStore,
        replies: Replies,
        page: ChatPage,
        model_id: Callable[[], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._replies = replies
        self._page = page
        self._model_id = model_id
        self._new_settings: dict[str, Value] = {}
        self.chat_id: str | None = None
        self.facts: ReplyFacts | None = None
        self._gone = 0
        self.drafts = Drafts(store, page.composer, self)
        replies.progressed.connect(self._on_progress)
        replies.ended.connect(self._on_end)
        page.composer.submitted.connect(lambda text: self.send(text, page.composer.attachments.take()))
        page.composer.attachments.failed.connect(self.failed)
        page.composer.stop_requested.connect(self.stop)
        page.transcript.summary_requested.connect(self.show_summary)
        page.transcript.choice_made.connect(self.choose)

    # -- which chat -------------------------------------------------------------------------------------------------

    def open(self, chat_id: str | None) -> None:
        """Show a stored chat, or with None an empty page whose chat is made when the first message is sent."""
        with self.reporting():
            self.leaving.emit()
            messages = self._replies.as_they_stand(self._store.messages(chat_id)) if chat_id else []
            self.drafts.open(chat_id)
            self.chat_id = chat_id
            self._new_settings = {}
            self.show(messages)
            self.chat_opened.emit(chat_id)

    def reveal(self, message_id: str) -> None:
        """Scroll to a message of the open chat, switching to its branch where it stands on another."""
        with self.reporting():
            if all(message.id != message_id for message in self.messages()) and not self._replies.of_chat(self.chat_id):
                self._store.activate(message_id)
                self.show(self.messages())
            self._page.transcript.scroll_to(message_id)

    def settings(self) -> dict[str, Value]:
        """Return what the open chat sets for itself."""
        return usable(self._store.chat_settings(self.chat_id)) if self.chat_id else dict(self._new_settings)

    def set_setting(self, name: str, value: Value) -> None:
        """Set one setting for the open chat."""
        self._keep_settings({**self.settings(), name: value})

    def set_settings(self, values: dict[str, Value]) -> None:
        """Set all that the open chat sets for itself, in place of what it did."""
        self._keep_settings(dict(values))

    def reset_setting(self, name: str) -> None:
        """Let the open chat take one setting from the app again."""
        self._keep_settings({key: value for key, value in self.settings().items() if key != name})

    def _keep_settings(self, values: dict[str, Value]) -> None:
        if self.chat_id is None:
            self._new_settings = values
            return
        with self.reporting():
            other = {key: value for key, value in self._store.chat_settings(self.chat_id).items() if key not in BY_NAME}
            self._store.set_chat_settings(self.chat_id, {**other, **values})

    # -- what people do ---------------------------------------------------------------------------------------------

    def send(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Store a message and ask for its reply. What cannot be stored goes back into the composer."""
        message = None
        try:
            chat_id = self._made_chat()
            message = self._store.add_message(chat_id, "user", text, attachments=attachments)
            reply = self._store.begin_reply(chat_id, message.id, self._model_id())
            self._page.set_mode("chat")
            self._page.transcript.append(message)
            self._page.transcript.append(reply)
            self._page.transcript.jump_to_bottom()
            self._follow(self._replies.request(reply))
            self.messages_shown.emit()
        except FlintError as error:
            self.failed.emit(error.info())
            if message is None:
                self._give_back(text, attachments)
            else:
                with self.reporting():
                    self.show(self.messages())
        self.drafts.save()
        self.chats_changed.emit()

    def _give_back(self, text: str, attachments: Sequence[Attachment]) -> None:
        if attachments:
            self._page.composer.attachments.show((*attachments, *self._page.composer.attachments.attachments))
        draft = self._page.composer.text  # There is one where the text came from a card, not from here.
        self._page.composer.set_text(f"{text}\n\n{draft}" if draft.strip() else text)

    def stop(self) -> None:
        """Stop the shown chat's reply."""
        pending = self._replies.of_chat(self.chat_id)
        if pending:
            self._replies.stop(pending)
            self._show_phase()

    def choose(self, message_id: str, changes: tuple[tuple[str, str], ...] | None) -> None:
        """Ask for a refused reply again with settings that make it fit, kept for this chat; or with None, whatever it takes."""
        for name, value in changes or ():
            self.set_setting(name, BY_NAME[name].check(value))
        self.settings_changed.emit()
        self.regenerate(message_id, guarded=changes is not None)

    def regenerate(self, message_id: str, *, guarded: bool = True) -> None:
        """Ask for another reply to the same message; the earlier one stays as a sibling."""
        parent = next((message.parent_id for message in self._page.transcript.messages if message.id == message_id), None)
        if parent:
            self.answer(parent, guarded=guarded)

    def answer(
        self, parent_id: str, *, model_id: str = "", given: Mapping[str, Value] | None = None, guarded: bool = True
    ) -> None:
        """Ask for a reply to a message, beside those it has; of another model or with settings `given` for this one alone."""
        if self.chat_id is None or self._replies.of_chat(self.chat_id):
            return
        with self.reporting():
            if not (model_id or self._model_id()):
                raise NoModelLoaded("There is no model to write another reply.")
            reply = self._store.begin_reply(self.chat_id, parent_id, model_id or self._model_id())
            self._page.transcript.set_messages(self.messages())
            self._follow(self._replies.request(reply, guarded=guarded, given=given))
            self.chats_changed.emit()
            self.messages_shown.emit()

    def branch(self, reply: StoredMessage, begins: Beginning) -> None:
        """Ask for a reply beside another one that begins with given tokens; their probabilities are kept."""
        if self.chat_id is None or reply.parent_id is None or self.busy:
            return
        with self.reporting():
            made = self._store.begin_reply(self.chat_id, reply.parent_id, reply.model_id)
            self._page.transcript.set_messages(self.messages())
            self._follow(self._replies.request(made, given={"keep_probabilities": "on"}, begins=begins))
            self.chats_changed.emit()
            self.messages_shown.emit()

    def go_on(self, before: StoredMessage) -> None:
        """Let the model write on at a stored reply that was cut."""
        with self.reporting():
            self._follow(self._replies.request(before, before=before))
            self.show(self.messages())
            self.chats_changed.emit()

    # -- what is shown ----------------------------------------------------------------------------------------------

    def _made_chat(self) -> str:
        if self.chat_id is None:
            chat = self._store.create_chat(model_id=self._model_id(), settings=self._new_settings)
            self.chat_id = chat.id
            self._new_settings = {}
            self.drafts.adopt(chat.id)
            self.chat_opened.emit(chat.id)
        return self.chat_id

    def _follow(self, pending: Pending) -> None:
        """Show what a reply that was asked for does."""
        self._page.transcript.set_status(pending.message_id, pending.status)
        self._show_phase()

    def messages(self) -> list[StoredMessage]:
        """Return the open chat's active path, a reply on its way as far as it has come."""
        return self._replies.as_they_stand(self._store.messages(self.chat_id)) if self.chat_id else []

    @property
    def busy(self) -> bool:
        """Whether a reply is on its way in the open chat."""
        return self._replies.of_chat(self.chat_id) is not None

    def show(self, messages: list[StoredMessage]) -> None:
        """Show these messages of the open chat."""
        self._page.set_mode("chat" if messages else "welcome")
        self._page.transcript.set_messages(messages)
        if pending := self._replies.of_chat(self.chat_id):
            self._page.transcript.set_status(pending.message_id, pending.status)
        self._show_phase()
        self._show_facts(next((message.facts for message in reversed(messages) if message.facts), None))
        self.messages_shown.emit()

    def _show_phase(self) -> None:
        pending = self._replies.of_chat(self.chat_id)
        self.busy_changed.emit(pending is not None)
        self._page.composer.set_phase(pending.phase if pending else "idle", pending.fraction if pending else 0.0)

    def _show_facts(self, facts: ReplyFacts | None) -> None:
        self.facts = facts
        self._gone = facts.dropped_messages if facts else 0
        self._show_left_out()
        if facts:
            self.context_changed.emit(facts.prompt_tokens + facts.output_tokens, facts.context)
        else:
            self.context_changed.emit(0, 0)

    def _show_left_out(self) -> None:
        """Mark what the model no longer sees: what a summary stands for, and what rolled out behind it."""
        summary = read_summary(self._store, self.chat_id) if self.chat_id else None
        covered = summary.covered(self._page.transcript.messages) if summary else 0
        self._page.transcript.set_left_out(covered + self._gone, summarised=covered > 0)

    def show_summary(self) -> None:
        """Let the summary of what left the context be read and changed."""
        with self.reporting():
            summary = read_summary(self._store, self.chat_id) if self.chat_id else None
            if summary is None or self.chat_id is None:
                return
            covered = summary.covered(self._page.transcript.messages)
            self._page.edit_summary(summary.text, covered, lambda text: self._keep_summary(replace(summary, text=text)))

    def _keep_summary(self, summary: Summary) -> None:
        with self.reporting():
            if self.chat_id:
                write_summary(self._store, self.chat_id, summary if summary.text.strip() else None)
                self._show_left_out()
                self.messages_shown.emit()

    def _on_progress(self, pending: Pending, event: Event) -> None:
        if pending.chat_id != self.chat_id:
            return
        self._follow(pending)
        if isinstance(event, MemoryRefused):
            self._page.transcript.show_refusal(pending.message_id, event)
        elif isinstance(event, TextDelta):
            self._page.transcript.add_text(pending.message_id, event.text, event.reasoning, event.reasoning_s)
            self.context_changed.emit(event.context_used, event.context)
            if event.dropped_messages != self._gone:
                self._gone = event.dropped_messages
                self._show_left_out()
        elif isinstance(event, PrefillProgress):
            self.context_changed.emit(event.cached + event.done, event.context)

    def _on_end(self, pending: Pending) -> None:
        if pending.chat_id == self.chat_id:
            self._page.transcript.finish(pending.writer.message)
            self._show_phase()
            if pending.writer.facts:
                self._show_facts(pending.writer.facts)
            self.messages_shown.emit()
        self.chats_changed.emit()

    def reporting(self) -> contextlib.AbstractContextManager[None]:
        """Tell of what goes wrong inside."""
        return telling(self.failed)
