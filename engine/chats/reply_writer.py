"""A reply on its way into the store: saved while it streams, so that a crash loses a second of it at most."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace

from engine.chats.continuing import joined
from engine.chats.records import MessageState, StoredMessage
from engine.chats.store import ChatStore, FinalState
from engine.core.errors import ChatNotFound, ErrorInfo
from engine.core.facts import ReplyFacts
from engine.core.messages import Cancelled, Event, Failed, Finished, ReplyOdds, TextDelta
from engine.core.odds import TokenOdds

SAVE_EVERY_S = 0.75
"""With a caller that looks five times a second, what was shown is never more than a second older than what is stored."""


class ReplyWriter:
    """Follows one request's events and keeps its stored reply up to date; where its chat was removed for good, nothing is kept.

    `text`, `reasoning`, `state`, `facts` and `error` are the reply as it stands; `settled` says that its end is stored.
    `clock` gives seconds. A reply that goes on was `before`: where nothing was added it is that again, and `refused` says why.
    `odds` are those of the tokens that it has already.
    """

    def __init__(
        self,
        store: ChatStore,
        message: StoredMessage,
        clock: Callable[[], float] = time.monotonic,
        *,
        before: StoredMessage | None = None,
        odds: TokenOdds | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._saved_at = clock()
        self._dirty = False
        self.message = message
        self._before = before
        self.text = message.text
        self.reasoning = message.reasoning
        self.state: MessageState = "streaming"
        self.facts: ReplyFacts | None = None
        self.error: ErrorInfo | None = None
        self.odds = odds
        self.refused: ErrorInfo | None = None
        self.settled = False

    def take(self, event: Event) -> None:
        """Take one event of the request in; saves about once a second and at the end.

        Raises `DiskFull` or `ReadOnly` when the store cannot save; the reply goes on in memory and the next save tries again.
        """
        match event:
            case TextDelta():
                self.text += event.text
                self.reasoning += event.reasoning
                self._dirty = self._dirty or bool(event.text or event.reasoning)
                self.save_if_due()
            case ReplyOdds():
                self.odds = self.odds.joined(event.odds) if self.odds else event.odds
            case Finished():
                self._end("complete", event.reply, None)
            case Cancelled():
                self._end("cancelled", event.reply, None)
            case Failed():
                self._end("failed", None, event.error)
            case _:
                self.save_if_due()

    def save_if_due(self) -> None:
        """Save what is new if the last save is a while ago; call it too when no event comes. Raises as `take`."""
        if not self._dirty or self._clock() - self._saved_at < SAVE_EVERY_S:
            return
        self._saved_at = self._clock()
        if self.state == "streaming":
            with contextlib.suppress(ChatNotFound):
                self._store.save_reply(self.message.id, self.text, self.reasoning)
            self._dirty = False
        else:
            self.settle()

    def settle(self) -> None:
        """Store the reply's end if it is not stored yet. Raises as `take`."""
        if self.state == "streaming" or self.settled:
            return
        with contextlib.suppress(ChatNotFound):
            self.message = self._store.finish_reply(
                self.message.id, self.text, self.state, self.facts, self.error, self.reasoning
            )
            if self.odds:
                self._store.keep_odds(self.message.id, self.odds)
        self.settled, self._dirty = True, False

    def _end(self, state: FinalState, facts: ReplyFacts | None, error: ErrorInfo | None) -> None:
        before = self._before
        if before and (self.text, self.reasoning) == (self.message.text, self.message.reasoning) and state != "complete":
            self.refused = error
            self.text, self.reasoning = before.text, before.reasoning
            self.state, self.facts, self.error = before.state, before.facts, before.error
        else:
            self.state, self.facts, self.error = state, joined(before.facts if before else None, facts), error
        self.message = replace(
            self.message, text=self.text, reasoning=self.reasoning, state=self.state, facts=self.facts, error=self.error
        )
        self._dirty, self._saved_at = True, self._clock()
        self.settle()
