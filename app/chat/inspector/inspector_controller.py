"""What the inspector is about: which reply, the prompt it was written from, and how likely its tokens were."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication

from app.bridge import Bridge
from app.chat.controller import ChatController
from app.chat.inspector.inspected import NEXT, NOTHING_YET, UNLOADED, Given, described, reading_of
from app.chat.inspector.inspector import InspectorPanel
from app.chat.inspector.odds_cards import OddsCards
from app.chat.inspector.odds_reader import OddsReader, ReadOdds
from app.chat.inspector.token_sheet import Face, faces_of, prompt_sheet
from app.chat.page import ChatPage
from app.chat.replies import Pending, Replies
from app.errors import advice
from engine.chats.beginning import Beginning
from engine.chats.continuing import begun_turn
from engine.chats.records import StoredMessage, unsent
from engine.chats.request import compose
from engine.chats.store import ChatStore
from engine.core.errors import ErrorInfo, FlintError
from engine.core.facts import LoadedModel, Message
from engine.core.messages import Event, Failed, InspectPrompt, ModelLoaded, ModelUnloaded, PrefillProgress, PromptInspected
from engine.core.preferences import Preferences

SOON_MS = 150
MARK_MS = 250
"""How often it is looked what has left the context while a reply is written."""
READING = ("One moment", "How likely the words of this reply were is being read.")


class InspectorController(QObject):
    """Keeps the panel up to date while it is open. `model` gives the loaded model, None where there is none."""

    def __init__(
        self,
        store: ChatStore,
        bridge: Bridge,
        preferences: Preferences,
        replies: Replies,
        chat: ChatController,
        page: ChatPage,
        panel: InspectorPanel,
        model: Callable[[], LoadedModel | None],
    ) -> None:
        super().__init__(panel)
        self._store, self._bridge, self._preferences = store, bridge, preferences
        self._replies, self._chat, self._page, self._panel, self._model = replies, chat, page, panel, model
        self._picked = ""
        self._asked, self._waits = "", False
        self._asked_of: StoredMessage | None = None
        self._prompt: PromptInspected | None = None
        self._faces: Mapping[int, Face] = {}
        self._asked_by: Pending | None = None
        self._dropped = (0, 0)
        self._watched = ""
        self._odds = OddsReader(store, self)
        self._shown = ""
        self._shades = True
        self._cards = OddsCards(panel, page.transcript)
        self._soon = QTimer(self, interval=SOON_MS, singleShot=True)
        self._soon.timeout.connect(self.refresh)
        self._marking = QTimer(self, interval=MARK_MS, singleShot=True)
        self._marking.timeout.connect(self._mark)
        self._slow = QTimer(self, interval=SOON_MS, singleShot=True)
        self._slow.timeout.connect(lambda: self._panel.show_note(*READING))
        self._connect()

    def _connect(self) -> None:
        panel = self._panel
        panel.opened.connect(self.refresh)
        self._odds.read.connect(self.refresh)
        panel.tab_chosen.connect(lambda _: self.refresh())
        panel.stepped.connect(self._step)
        panel.head.copy_requested.connect(self._copy)
        panel.note.keep_chosen.connect(self._keep)
        panel.note.again_requested.connect(self._again)
        panel.closed.connect(self._unshade)
        panel.reply_head.shading_toggled.connect(self._toggle_shading)
        self._cards.chosen.connect(self._branch)
        self._page.transcript.odds_closed.connect(self._toggle_shading)
        self._bridge.received.connect(self._on_event)
        self._replies.progressed.connect(self._on_progress)
        self._chat.chat_opened.connect(lambda _: self._follow())
        self._chat.messages_shown.connect(self._follow)
        self._chat.settings_changed.connect(self.refresh_soon)
        self._page.composer.text_changed.connect(lambda _: self.refresh_soon())
        self._page.composer.attachments.changed.connect(self.refresh_soon)

    def close(self) -> None:
        """End the thread that reads."""
        self._odds.close()

    def inspect(self, message_id: str) -> None:
        """Look at one reply of the open chat."""
        self._picked = message_id
        self.refresh()

    def refresh_soon(self) -> None:
        """Look again in a moment; what comes until then is looked at once."""
        if self._panel.isVisible():
            self._soon.start()

    def refresh(self) -> None:
        """Show what is inspected as it is now."""
        self._soon.stop()
        self._slow.stop()
        if not self._panel.isVisible():
            return
        target = self._target()
        order = self._order()
        place = order.index(target.id if target else NEXT)
        self._panel.show_target(described(target, order), earlier=place > 0, later=place + 1 < len(order))
        if self._panel.tab == "prompt":
            self._unshade()
            self._ask(target)
        else:
            self._show_reply(target)

    # -- which reply ----------------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Other messages are shown: go with the newest reply again."""
        self._picked = ""
        self._odds.forget()
        self.refresh_soon()

    def _messages(self) -> Sequence[StoredMessage]:
        return self._page.transcript.messages if self._page.mode == "chat" else ()

    def _order(self) -> list[str]:
        return [*(message.id for message in self._messages() if message.role == "assistant"), NEXT]

    def _target(self) -> StoredMessage | None:
        """The reply that is inspected; None is what would be sent next, where a draft waits or there is no reply."""
        replies = {message.id: message for message in self._messages() if message.role == "assistant"}
        if self._picked in replies:
            return replies[self._picked]
        newest = next(reversed(replies.values()), None)
        draft = self._page.composer.draft
        # Whoever types while a reply is written has not stepped away from it, nor when it ends meanwhile.
        if newest is not None and newest.state == "streaming":
            self._watched = newest.id
        elif draft is None or newest is None or newest.id != self._watched:
            self._watched = ""
        return None if self._picked == NEXT or (draft and not self._watched) else newest

    def _step(self, step: int) -> None:
        order, target = self._order(), self._target()
        place = order.index(target.id if target else NEXT) + step
        if 0 <= place < len(order):
            self._picked = order[place]
            self.refresh()

    # -- the prompt -----------------------------------------------------------------------------------------------------

    def _ask(self, target: StoredMessage | None) -> None:
        if self._waits:
            self._bridge.cancel(self._asked)  # While a model is read, what was asked before would all be worked out after it.
        self._asked, self._waits = "", False
        path = list(self._replies.as_they_stand(self._messages()))
        if target is not None:
            path = path[: [message.id for message in path].index(target.id)]
        else:
            draft = self._page.composer.draft
            if draft is None and not path:
                self._panel.show_note(*NOTHING_YET)
                return
            path.append(draft or unsent(""))
        model = self._model()
        if model is None:
            self._panel.show_note(*UNLOADED)
            return
        self._asked, self._asked_of = self._bridge.new_id("inspect"), target
        self._asked_by = self._writing(target)
        try:
            request = compose(
                self._store,
                self._chat.chat_id,
                path,
                request_id=self._asked,
                model_id=model.id,
                app=self._preferences.for_model(model.id),
                given=None if self._chat.chat_id else self._chat.settings(),
            )
        except FlintError as error:
            self._refuse(error.info())
            return
        self._waits = True
        begun = self._begun(target)
        request = replace(request, messages=(*request.messages, begun)) if begun else request
        self._bridge.send(InspectPrompt(self._asked, request))

    def _writing(self, target: StoredMessage | None) -> Pending | None:
        """Return the reply on its way that the target becomes."""
        pending = self._replies.of_chat(self._chat.chat_id)
        return pending if target and pending and pending.message_id == target.id else None

    def _begun(self, target: StoredMessage | None) -> Message | None:
        """Return what the target had before it was last gone on with: it was read like the prompt."""
        if self._asked_by is not None:
            return self._asked_by.begun
        return begun_turn(target.facts) if target and target.facts else None

    def _on_event(self, event: Event) -> None:
        match event:
            case PromptInspected() if event.request_id == self._asked:
                self._show_prompt(event)
            case Failed() if event.request_id == self._asked:
                self._refuse(event.error)
            case ModelLoaded() | ModelUnloaded():
                self.refresh_soon()

    def _on_progress(self, pending: Pending, event: Event) -> None:
        if isinstance(event, PrefillProgress) and event.done == 0 and pending.chat_id == self._chat.chat_id:
            self.refresh_soon()
        elif pending is self._asked_by and pending.dropped != self._dropped and not self._marking.isActive():
            self._marking.start()

    def _show_prompt(self, prompt: PromptInspected) -> None:
        self._prompt, self._faces, self._waits = prompt, faces_of(prompt), False
        self._show_reading()

    def _mark(self) -> None:
        """Mark what has left the context, unless another prompt is on its way, which will be shown with that."""
        if self._panel.isVisible() and self._panel.page == "prompt" and not self._waits:
            self._show_reading()

    def _show_reading(self) -> None:
        """Show the prompt that was told of last, with what is known by now of how it is read."""
        prompt, pending = self._prompt, self._asked_by
        if prompt is None or self._panel.tab != "prompt":
            return
        given = None
        if pending is not None and pending.cached is not None:
            self._dropped = pending.dropped
            given = Given(pending.tokens, pending.cached, pending.dropped)
        reading = reading_of(prompt, self._asked_of, given)
        sheet = prompt_sheet(prompt, self._faces, reading.cached, reading.word, reading.gone)
        self._panel.show_prompt(sheet, reading.note, reading.word, reading.remark)

    def _refuse(self, error: ErrorInfo) -> None:
        self._waits = False
        if self._panel.tab == "prompt":
            self._panel.show_note(error.text, advice(error))

    def _copy(self) -> None:
        if self._prompt is not None:
            QGuiApplication.clipboard().setText(self._prompt.text)

    # -- the reply ------------------------------------------------------------------------------------------------------

    def _show_reply(self, target: StoredMessage | None) -> None:
        if target is not None and _has_odds(target) and not self._odds.ask(target.id):
            if target.id != self._shown:
                self._unshade()
            self._slow.start()
            return
        found = self._odds_of(target)
        if target is None or found is None:
            self._unshade()
            self._explain(target)
            return
        self._shown = target.id
        self._panel.show_reply(found.odds, found.sheet, shaded=self._shades)
        self._page.transcript.show_odds(target.id, found.odds if self._shades else None)
        self._cards.about(target.id, found.odds, offers=self._can_branch(target))

    def _can_branch(self, target: StoredMessage) -> bool:
        """Whether another token could be put in: the model that wrote the reply is loaded, and nothing is being written."""
        model = self._model()
        return bool(model and target.facts and model.fingerprint == target.facts.fingerprint and not self._chat.busy)

    def _branch(self, reply_id: str, index: int, token: int) -> None:
        """Ask for a reply that is the same up to a place and has another token there."""
        target, found = self._target(), self._odds.found
        if target is None or target.id != reply_id or found is None or target.facts is None or not self._can_branch(target):
            return
        begun = found.odds.branched(index, token)
        self._chat.branch(target, Beginning(begun.ids, target.facts.fingerprint, begun))

    def _unshade(self) -> None:
        self._shown = ""
        self._page.transcript.show_odds("", None)
        self._cards.about("", None)

    def _toggle_shading(self) -> None:
        self._shades = not self._shades
        self.refresh()

    def _odds_of(self, target: StoredMessage | None) -> ReadOdds | None:
        if target is None or not _has_odds(target):
            return None
        found = self._odds.found
        whole = found is not None and target.facts is not None and found.odds.ids == target.facts.output_ids
        return found if whole else None

    def _explain(self, target: StoredMessage | None) -> None:
        keep = self._keeps()
        if target is None:
            text = "Go back to a reply with the arrow above to see how likely each of its words was."
            self._panel.show_note("Not written yet", text, keep=keep)
        elif target.state == "streaming":
            done = "They are shown when the reply is done." if keep == "on" else "They are not kept of this reply."
            self._panel.show_note("The reply is being written", done, keep=keep)
        elif target.edited:
            text = "Its words are not the model's any more, so there are no probabilities of them."
            self._panel.show_note("This reply was edited", text, keep=keep, again=True)
        else:
            text = (
                "Probabilities show how likely each written word was, and what else the model could have said. They are kept "
                "only when you ask for them: they make writing a little slower and take about 50 bytes of disk a token."
            )
            idle = self._replies.of_chat(self._chat.chat_id) is None
            self._panel.show_note("No probabilities were kept of this reply", text, keep=keep, again=idle)

    def _keeps(self) -> str:
        own = self._chat.settings().get("keep_probabilities")
        return str(own or self._preferences.get("keep_probabilities"))

    def _keep(self, value: str) -> None:
        self._chat.set_setting("keep_probabilities", value)
        self._chat.settings_changed.emit()

    def _again(self) -> None:
        target = self._target()
        if target is not None:
            self._keep("on")
            self._chat.regenerate(target.id)


def _has_odds(reply: StoredMessage) -> bool:
    """Whether there can be any: its words are the model's, and all are written."""
    return reply.state != "streaming" and not reply.edited
