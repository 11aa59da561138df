"""One question and its reply in a terminal: streamed, and saved as it streams."""

from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from engine.chats.records import StoredMessage
from engine.chats.reply_writer import ReplyWriter
from engine.chats.request import compose, keep_summary
from engine.chats.store import ChatStore
from engine.cli.interrupt import StopOnInterrupt
from engine.cli.output import WaitingBar, say
from engine.core.connection import Connection
from engine.core.errors import FlintError
from engine.core.facts import ReplyFacts
from engine.core.messages import Cancel, ContextCompacted, Event, Finished, Generate, TextDelta
from engine.core.setting import Value

LAST_MODEL = "model"


def as_json(reply: ReplyWriter, facts: ReplyFacts) -> dict[str, Any]:
    """Return what `flint chat --json` prints of an ended reply (times in seconds, rates in tokens a second, bytes)."""
    return {
        "chat": reply.message.chat_id,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "finish_reason": facts.finish_reason,
        "model": facts.model,
        "seed": facts.seed,
        "prompt_tokens": facts.prompt_tokens,
        "cached_tokens": facts.cached_tokens,
        "output_tokens": facts.output_tokens,
        "ttft_s": facts.ttft_s,
        "prefill_s": facts.prefill_s,
        "decode_s": facts.decode_s,
        "prefill_tps": facts.prefill_tps,
        "decode_tps": facts.decode_tps,
        "weights_bytes": facts.weights_bytes,
        "kv_bytes": facts.kv_bytes,
        "peak_bytes": facts.peak_bytes,
    }


class Asker:
    """Asks one model within one stored chat at a time.

    A chat's own settings go before the app's, and what was `given` for this run before both.
    """

    def __init__(self, connection: Connection, store: ChatStore, app: Mapping[str, Value], given: Mapping[str, Value]) -> None:
        self._connection = connection
        self._store = store
        self._app = app
        self._given = given
        self._count = 0
        self._path: Sequence[StoredMessage] = ()
        self.model_id = ""
        self.chat_id: str | None = None
        self.unsaved: FlintError | None = None

    def begin(self, model_id: str, chat_id: str | None) -> None:
        """Go on with a stored chat, or with a new one that is made when the first question is asked.

        Raises `ChatNotFound`.
        """
        self.model_id = model_id
        self.chat_id = self._store.chat(chat_id).id if chat_id else None

    def ask(self, question: str, echo: TextIO | None) -> ReplyWriter:
        """Ask, print the reply to `echo` as it comes, and return it. Ctrl-C stops the reply and keeps what there is.

        Where the reply could not be stored, it goes on all the same, and `unsaved` then says why.
        """
        if self.chat_id is None:
            # What the model was told is part of the conversation: `--chat` goes on with it.
            told = {name: value for name, value in self._given.items() if name == "system_prompt"}
            self.chat_id = self._store.create_chat(model_id=self.model_id, settings=told).id
        asked = self._store.add_message(self.chat_id, "user", question)
        self._count += 1
        request = self._request(f"terminal-{self._count}")
        reply = ReplyWriter(self._store, self._store.begin_reply(self.chat_id, asked.id, self.model_id))
        self.unsaved = None
        with StopOnInterrupt(lambda: self._stop(request.request_id)):
            try:
                self._connection.send(request)
                self._follow(reply, request.request_id, echo)
            except BaseException:
                self._abandon(reply, request.request_id)
                raise
        if echo and reply.text:
            say("", echo)
        return reply

    def _follow(self, reply: ReplyWriter, request_id: str, echo: TextIO | None) -> None:
        with WaitingBar() as bar:
            for event in self._connection.wait(request_id):
                bar.show(event)
                self._keep(reply, event)
                if echo and isinstance(event, TextDelta):
                    say(event.text, echo, end="")

    def _keep(self, reply: ReplyWriter, event: Event) -> None:
        try:
            reply.take(event)
            if isinstance(event, ContextCompacted):
                keep_summary(self._store, self.chat_id or "", self._path, event.summary, event.messages)
            if isinstance(event, Finished):
                self._store.remember(LAST_MODEL, self.model_id)
        except FlintError as error:
            self.unsaved = error
        else:
            if reply.state != "streaming":
                self.unsaved = None

    def _stop(self, request_id: str) -> None:
        self._connection.send(Cancel(f"{request_id}-stop", request_id))

    def _abandon(self, reply: ReplyWriter, request_id: str) -> None:
        """End a reply that nobody follows any more (the output's reader has gone, a second Ctrl-C), and store it."""
        if reply.state == "streaming":
            self._stop(request_id)
            for event in self._connection.wait(request_id):
                self._keep(reply, event)

    def _request(self, request_id: str) -> Generate:
        chat_id = self.chat_id or ""
        self._path = self._store.messages(chat_id)
        return compose(
            self._store,
            chat_id,
            self._path,
            request_id=request_id,
            model_id=self.model_id,
            app=self._app,
            given=self._given,
        )
