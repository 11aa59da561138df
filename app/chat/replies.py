"""Replies on their way, of any chat: asked of the engine, saved as they stream, told to whoever shows them."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import QObject, QTimer, Signal

from app.bridge import Bridge
from app.chat.progress_words import reading, waiting
from engine.chats.beginning import Beginning
from engine.chats.continuing import text_to_continue
from engine.chats.records import StoredMessage
from engine.chats.reply_writer import ReplyWriter
from engine.chats.request import compose, keep_summary
from engine.chats.store import ChatStore
from engine.core.errors import FlintError
from engine.core.facts import Message
from engine.core.messages import (
    TERMINALS,
    Compacting,
    ContextCompacted,
    Event,
    Failed,
    Generate,
    ImportProgress,
    LoadProgress,
    PrefillProgress,
    TextDelta,
)
from engine.core.preferences import Preferences
from engine.core.setting import Value
from engine.core.settings import Sampling, build, usable
from engine.core.sizes import count_text

SAVE_CHECK_MS = 200
WAITING = "Waiting for the model"

type Phase = Literal["queued", "reading", "writing", "stopping"]


@dataclass
class Pending:
    """A reply on its way: where it is stored, what it is doing, how much of the prompt was read, and that in words.

    `begun` is the open turn it goes on from, if it does; `cached` of its prompt's `tokens` were known as it began, None until
    that is told. `dropped` tokens have left the context since, and with them so many messages.
    """

    request_id: str
    writer: ReplyWriter
    path: Sequence[StoredMessage] = ()
    phase: Phase = "queued"
    fraction: float = 0.0
    status: str = WAITING
    begun: Message | None = None
    cached: int | None = None
    tokens: int = 0
    dropped: tuple[int, int] = (0, 0)

    @property
    def chat_id(self) -> str:
        """The chat the reply belongs to."""
        return self.writer.message.chat_id

    @property
    def message_id(self) -> str:
        """The stored message the reply becomes."""
        return self.writer.message.id


class Replies(QObject):
    """Follows every reply that was asked for. `progressed` carries a `Pending` and the event behind it, `ended` a `Pending`."""

    progressed = Signal(object, object)
    ended = Signal(object)
    failed = Signal(object)

    def __init__(self, store: ChatStore, bridge: Bridge, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._bridge = bridge
        self._preferences = preferences
        self._pending: dict[str, Pending] = {}
        self._unsettled: list[ReplyWriter] = []
        self._complained = False
        self._saver = QTimer(self, interval=SAVE_CHECK_MS)
        self._saver.timeout.connect(self._save_due)
        bridge.received.connect(self._take)

    def request(
        self,
        reply: StoredMessage,
        *,
        guarded: bool = True,
        given: Mapping[str, Value] | None = None,
        before: StoredMessage | None = None,
        begins: Beginning | None = None,
    ) -> Pending:
        """Ask for the text of a stored reply that has none yet, or for more of one that goes on as it was `before`.

        One that `begins` with given tokens goes on from there.

        Not `guarded`, it is made whatever memory it takes. Settings that are `given` count for this reply alone. Raises a
        `FlintError` when the store or a setting is bad; a reply that has no text yet has then failed.
        """
        if before and before.facts:
            reply = replace(reply, text=text_to_continue(reply.text))
        request_id = self._bridge.new_id("reply")
        try:
            path = [message for message in self._store.messages(reply.chat_id) if message.id != reply.id]
            command = self._command(request_id, reply, path, given, goes_on=before is not None)
            odds = begins.odds if begins else self._store.odds(reply.id) if before else None
            if before:
                reply = replace(self._store.resume_reply(reply.id), text=reply.text)
        except FlintError as error:
            if before is None:
                self._end(Pending(request_id, ReplyWriter(self._store, reply)), Failed(request_id, error.info()))
            raise
        if begins:
            command = replace(command, messages=(*command.messages, begins.turn()))
        pending = Pending(request_id, ReplyWriter(self._store, reply, before=before, odds=odds), path)
        if command.messages[-1].role == "assistant":
            pending.begun = command.messages[-1]
        if not guarded:
            command = replace(command, memory_guard="off")
        self._pending[pending.request_id] = pending
        self._complained = False
        self._saver.start()
        self._bridge.send(command)
        return pending

    def _command(
        self,
        request_id: str,
        reply: StoredMessage,
        path: Sequence[StoredMessage],
        given: Mapping[str, Value] | None,
        *,
        goes_on: bool,
    ) -> Generate:
        return compose(
            self._store,
            reply.chat_id,
            path,
            request_id=request_id,
            model_id=reply.model_id,
            app=self._preferences.for_model(reply.model_id),
            given=given,
            reply=reply if goes_on else None,
        )

    def sampling(self, chat_id: str | None) -> Sampling:
        """Return how the tokens of a chat's next reply would be drawn. Raises a `FlintError`."""
        own = usable(self._store.chat_settings(chat_id)) if chat_id else {}
        return build(Sampling, {**self._preferences.for_model(""), **own})

    def of_chat(self, chat_id: str | None) -> Pending | None:
        """Return the reply on its way in a chat, if there is one."""
        return next((pending for pending in self._pending.values() if pending.chat_id == chat_id), None)

    def writing_chat(self) -> str | None:
        """Return the chat whose reply is at work, if any."""
        return next((pending.chat_id for pending in self._pending.values()), None)

    def as_they_stand(self, messages: Iterable[StoredMessage]) -> list[StoredMessage]:
        """Return stored messages with those replies brought up to date that the store does not hold in full yet."""
        writers = {writer.message.id: writer for writer in self._writers()}
        return [_as_it_stands(message, writers.get(message.id)) for message in messages]

    def settle(self) -> None:
        """Store the ends of replies that could not be stored when they came; call it before the store is closed."""
        for writer in list(self._unsettled):
            with self._saving():
                writer.settle()
        self._forget_settled()

    def stop(self, pending: Pending) -> None:
        """Ask the engine to stop a reply; it ends with what there is."""
        pending.phase = "stopping"
        self._bridge.cancel(pending.request_id)

    def _take(self, event: Event) -> None:
        pending = self._pending.get(event.request_id)
        if pending is None:
            return
        if isinstance(event, TERMINALS):
            del self._pending[event.request_id]
            self._end(pending, event)
            return
        with self._saving():
            pending.writer.take(event)
        if isinstance(event, PrefillProgress | TextDelta):
            pending.dropped = (event.dropped_tokens, event.dropped_messages)
        match event:
            case PrefillProgress():
                pending.cached, pending.tokens = event.cached, event.cached + event.total
                pending.fraction, pending.status = event.done / max(1, event.total), reading(event)
                self._enter(pending, "reading")
            case LoadProgress() | ImportProgress():
                pending.status = waiting(event)
            case Compacting():
                pending.status = f"Summarising the older messages, {count_text(event.tokens, 'token')}"
            case ContextCompacted():
                with self._saving():
                    keep_summary(self._store, pending.chat_id, pending.path, event.summary, event.messages)
            case TextDelta():
                pending.status = ""
                self._enter(pending, "writing")
        self.progressed.emit(pending, event)

    def _end(self, pending: Pending, event: Event) -> None:
        with self._saving():
            pending.writer.take(event)
        self._unsettled.append(pending.writer)
        self._saver.start()
        self._forget_settled()
        self.ended.emit(pending)
        if pending.writer.refused:
            self.failed.emit(pending.writer.refused)

    def _enter(self, pending: Pending, phase: Phase) -> None:
        if pending.phase != "stopping":
            pending.phase = phase

    def _writers(self) -> list[ReplyWriter]:
        return [*(pending.writer for pending in self._pending.values()), *self._unsettled]

    def _save_due(self) -> None:
        for writer in self._writers():
            with self._saving():
                writer.save_if_due()
        self._forget_settled()

    def _forget_settled(self) -> None:
        self._unsettled = [writer for writer in self._unsettled if not writer.settled]
        if not self._writers():
            self._saver.stop()

    @contextlib.contextmanager
    def _saving(self) -> Iterator[None]:
        """Tell of a save that failed, once until the next reply: the reply goes on and each save tries again."""
        try:
            yield
        except FlintError as error:
            if not self._complained:
                self._complained = True
                self.failed.emit(error.info())


def _as_it_stands(message: StoredMessage, writer: ReplyWriter | None) -> StoredMessage:
    if writer is None:
        return message
    return replace(
        message, text=writer.text, reasoning=writer.reasoning, state=writer.state, facts=writer.facts, error=writer.error
    )
