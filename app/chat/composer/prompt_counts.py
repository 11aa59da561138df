"""What the message being written comes to in tokens, and how much of the prompt need not be read again: the composer's note."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer

from app.bridge import Bridge
from app.chat.composer.count_words import Mine, note, tip
from app.chat.composer.token_estimate import about
from app.chat.controller import ChatController
from app.chat.page import ChatPage
from app.chat.replies import Replies
from engine.chats.attachment import framed, with_attachments
from engine.chats.records import StoredMessage
from engine.chats.request import compose
from engine.chats.store import ChatStore
from engine.chats.turns import is_unanswered
from engine.core.errors import FlintError
from engine.core.messages import CountPrompt, Event, PromptCounted
from engine.core.preferences import Preferences

COUNT_AFTER_MS = 150
ESTIMATE_AFTER_MS = 400


class PromptCounts(QObject):
    """Asks for a count shortly after something changed, also while a reply is written; without a model it estimates.

    While no reply is on its way, its count is what the chat says of its context too: one number for one thing.

    `loaded_model` tells the id of the model that is loaded, or nothing.
    """

    def __init__(
        self,
        store: ChatStore,
        bridge: Bridge,
        preferences: Preferences,
        replies: Replies,
        chat: ChatController,
        page: ChatPage,
        loaded_model: Callable[[], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._bridge, self._preferences = store, bridge, preferences
        self._replies, self._chat, self._page = replies, chat, page
        self._loaded_model = loaded_model
        self._asked, self._at_rest = "", True
        self._mine = Mine()
        self._counted: tuple[int, ...] = ()
        self._growing: StoredMessage | None = None
        self._late = QTimer(self, singleShot=True, interval=ESTIMATE_AFTER_MS)
        self._late.timeout.connect(self._estimate)
        self._timer = QTimer(self, singleShot=True, interval=COUNT_AFTER_MS)
        self._timer.timeout.connect(self.count)
        page.composer.text_changed.connect(lambda _: self.touch())
        page.composer.attachments.changed.connect(self.touch)
        chat.chat_opened.connect(lambda _: self._begin())
        page.composer.submitted.connect(lambda _: self._begin())
        chat.settings_changed.connect(self.touch)
        chat.messages_shown.connect(self.touch)  # Another branch, an edit, a message that went, a reply that ended.
        bridge.received.connect(self._take)

    def touch(self) -> None:
        """Count soon. What is typed quickly is counted on the way, not only at its end."""
        if not self._timer.isActive():
            self._timer.start()

    def _begin(self) -> None:
        """What was asked before is about another message now."""
        self._asked = ""
        self._late.stop()
        self._page.composer.set_note("")
        self.touch()

    def count(self) -> None:
        """Ask for a count of what would be sent now."""
        self._timer.stop()
        composer = self._page.composer
        draft, messages = composer.draft, self._messages()
        self._asked = ""
        if draft is None and not messages:
            composer.set_note("")
            self._chat.context_changed.emit(0, 0)
        elif not self._loaded_model():
            self._estimate()
        else:
            self._ask(draft, messages)

    def _estimate(self) -> None:
        """Say about how much it is, until the model's own count comes."""
        draft = self._page.composer.draft
        self._page.composer.set_note(about(with_attachments(draft.text, draft.attachments)) if draft else "")

    def _messages(self) -> list[StoredMessage]:
        """Return the open chat's messages.

        A reply on its way stays as it was when it was first counted: what grows would be counted anew with every key.
        """
        if not self._chat.chat_id:
            return []
        messages = self._replies.as_they_stand(self._page.transcript.messages)
        if messages and messages[-1].state == "streaming":
            if self._growing is None or self._growing.id != messages[-1].id:
                # Without a word yet it would be left out, and its question be counted as part of the next.
                self._growing = replace(messages[-1], text=messages[-1].text.strip() or "…")
            messages[-1] = self._growing
        return messages

    def _ask(self, draft: StoredMessage | None, messages: Sequence[StoredMessage]) -> None:
        chat_id = self._chat.chat_id
        try:
            request = compose(
                self._store,
                chat_id,
                [*messages, draft] if draft else messages,
                request_id="",
                model_id=self._loaded_model(),
                app=self._preferences.for_model(self._loaded_model()),
                given=None if chat_id else self._chat.settings(),
            )
        except FlintError:
            return  # It is told when the message is sent.
        self._asked, self._at_rest = self._bridge.new_id("count"), not self._chat.busy
        self._mine = Mine(draft is not None and bool(draft.text.strip()), draft is not None, is_unanswered(messages))
        self._counted = tuple(item.number for item in self._page.composer.attachments.items if item.attachment)
        if not self._page.composer.note:
            self._late.start()
        self._bridge.send(CountPrompt(self._asked, request, tuple(framed(one) for one in draft.attachments) if draft else ()))

    def _take(self, event: Event) -> None:
        if not isinstance(event, PromptCounted) or event.request_id != self._asked:
            return
        self._late.stop()
        if self._at_rest and not self._chat.busy:
            self._chat.context_changed.emit(event.tokens, event.context)
        composer = self._page.composer
        text, warned = note(event, self._mine)
        composer.set_note(text, tip(event, self._mine), warned=warned)
        if self._counted == tuple(item.number for item in composer.attachments.items if item.attachment):
            composer.attachments.set_tokens(event.texts)
