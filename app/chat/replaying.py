"""Replies run again exactly: asked of the engine, followed, and told in a dialog. Nothing in a chat is changed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.bridge import Bridge
from app.errors import notice
from app.theme import Theme
from engine.chats.records import StoredMessage
from engine.chats.replay_request import compose_replay
from engine.chats.store import ChatStore
from engine.core.errors import FlintError
from engine.core.messages import Cancelled, Event, Failed, ImportProgress, LoadProgress, PrefillProgress, Replayed, TextDelta
from engine.core.preferences import Preferences

if TYPE_CHECKING:
    from app.chat.conversation.replay_dialog import ReplayDialog


class ReplayController(QObject):
    """`path` gives the messages that are shown, among them the reply that is to be run again."""

    def __init__(
        self,
        theme: Theme,
        store: ChatStore,
        bridge: Bridge,
        preferences: Preferences,
        path: Callable[[], Sequence[StoredMessage]],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._theme, self._store, self._bridge, self._preferences = theme, store, bridge, preferences
        self._path, self._window = path, window
        self._request_id = ""
        self._begun = self._total = 0
        self._dialog: ReplayDialog | None = None
        bridge.received.connect(self._take)

    def run(self, reply: StoredMessage) -> None:
        """Run a reply again and show what comes of it; one that still runs is given up."""
        from app.chat.conversation.replay_dialog import ReplayDialog

        if self._dialog is not None:
            self._dialog.reject()
        self._dialog = dialog = ReplayDialog(self._theme, self._window)
        dialog.stopped.connect(self._stop)
        dialog.finished.connect(lambda: self._forget(dialog))
        dialog.open()
        before = []
        for message in self._path():
            if message.id == reply.id:
                break
            before.append(message)
        self._request_id = self._bridge.new_id("replay")
        facts = reply.facts
        self._begun = facts.resumed[-1] if facts and facts.resumed else 0
        self._total = len(facts.output_ids) - self._begun if facts else 0
        try:
            app = self._preferences.for_model(reply.model_id)
            command = compose_replay(self._store, reply, before, request_id=self._request_id, app=app)
        except FlintError as error:
            self._fail(error)
            return
        self._bridge.send(command)

    def _take(self, event: Event) -> None:
        dialog = self._dialog
        if event.request_id != self._request_id or dialog is None:
            return
        match event:
            case LoadProgress() | ImportProgress():
                dialog.show_progress("Loading the model that wrote it")
            case PrefillProgress():
                dialog.show_progress("Reading what stands before it, as it was read then")
            case TextDelta():
                done = min(self._total, max(0, event.output_tokens - self._begun))
                dialog.show_progress(f"Writing: {done:,} of {self._total:,} tokens compared")
            case Replayed():
                self._request_id = ""
                dialog.show_result(event, self._begun)
            case Failed():
                shown = notice(event.error)
                dialog.show_failure(shown.title, shown.hint)
            case Cancelled():
                dialog.show_failure("It was stopped.", "")

    def _fail(self, error: FlintError) -> None:
        shown = notice(error)
        if self._dialog is not None:
            self._dialog.show_failure(shown.title, shown.hint)

    def _stop(self) -> None:
        if self._request_id:
            self._bridge.cancel(self._request_id)

    def _forget(self, dialog: "ReplayDialog") -> None:
        if self._dialog is dialog:
            self._dialog = None
        dialog.deleteLater()
