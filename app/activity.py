"""What the engine is doing, shown where people look for it: picker, gauges, the empty chat's card."""

from PySide6.QtCore import QEvent, QObject, QTimer

from app.bridge import Bridge
from app.chat.controller import ChatController
from app.chat.conversation.ledger import context_rows
from app.chat.page import ChatPage
from app.chat.replies import Pending, Replies
from app.errors import advice
from app.models.controller import ModelController, ModelState
from app.theme import Theme
from app.toolbar import Toolbar
from app.widgets.facts_popover import FactsPopover
from app.widgets.gauge import GaugeCard
from engine.core.errors import OutOfMemory
from engine.core.facts import LoadedModel
from engine.core.messages import Event, MemoryMeasured, PrefillProgress, TextDelta
from engine.hardware.meters import read_memory
from engine.metrics import decode_ceiling_tps

QUEUED_PLACEHOLDER = "Message, sent as soon as the model is ready"
PLACEHOLDER = "Message"


class Activity(QObject):
    """Follows models, replies and memory, and drives the widgets that show them."""

    def __init__(
        self,
        theme: Theme,
        bridge: Bridge,
        models: ModelController,
        replies: Replies,
        chat: ChatController,
        toolbar: Toolbar,
        page: ChatPage,
        gauges: GaugeCard,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._models = models
        self._replies = replies
        self._toolbar = toolbar
        self._page = page
        self._gauges = gauges
        self._first_launch = not models.remembered()
        bridge.received.connect(self._on_event)
        models.listed.connect(lambda entries: toolbar.picker.set_models(entries, models.model_id or None))
        models.changed.connect(self._on_model)
        models.loaded.connect(self._on_loaded)
        for known in (models.changed, models.listed):
            known.connect(lambda _: self.show_context())
        replies.progressed.connect(self._on_progress)
        replies.ended.connect(self._on_end)
        chat.context_changed.connect(self._on_context)
        self._chat = chat
        self._told = self._use = (0, 0)
        # What was chosen when a reply told its context, and what that was: the guard of the memory may take less.
        self._given: tuple[tuple[str, int], int] = (("", 0), 0)
        self._theme = theme
        self._explanation: FactsPopover | None = None
        toolbar.context.installEventFilter(self)
        bridge.started.connect(self._read_memory)  # After the first paint: psutil takes a while to import.
        self._on_model(models.state)

    def _read_memory(self) -> None:
        reading = read_memory()
        self._gauges.memory.show_reading(reading)
        self._page.welcome.set_room(reading.budget)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, MemoryMeasured):
            self._gauges.memory.show_reading(event.reading)
            self._page.welcome.set_room(event.reading.budget)

    # -- the model --------------------------------------------------------------------------------------------------

    def _on_model(self, state: ModelState) -> None:
        picker, welcome, composer = self._toolbar.picker, self._page.welcome, self._page.composer
        picker.set_current(self._models.model_id or None)
        composer.set_placeholder(PLACEHOLDER if state.state in ("ready", "unloaded", "failed") else QUEUED_PLACEHOLDER)
        composer.set_blocked("")
        match state.state:
            case "listing":
                picker.set_state("loading", state.name, state.detail)
                welcome.show_progress("Models", 0.0, state.detail, first=self._first_launch)
            case "importing" | "loading":
                picker.set_state("loading", state.name, state.detail, state.fraction)
                welcome.show_progress(state.name, state.fraction, _card_detail(state), first=self._first_launch)
            case "ready" | "unloaded":
                self._show_at_rest()
                welcome.show_ready(state.name)
            case "none":
                picker.set_state("none", "", state.detail)
                welcome.show_no_model()
                composer.set_blocked("Choose a model first")
            case "failed":
                picker.set_state("failed", state.name, state.detail)
                if state.error:
                    refused = state.error.code == OutOfMemory.code
                    welcome.show_failure(state.error.text, advice(state.error), refused=refused)

    def _show_at_rest(self) -> None:
        state = self._models.state
        if state.state in ("ready", "unloaded"):
            self._toolbar.picker.set_state("ready" if state.state == "ready" else "none", state.name, state.detail)

    def _on_loaded(self, model: LoadedModel | None) -> None:
        self._gauges.speed.set_model(model is not None)
        self._gauges.speed.set_limit(_ceiling(model, 0))
        if model is None:
            self._gauges.memory.show_reading(read_memory())

    # -- replies ----------------------------------------------------------------------------------------------------

    def _on_progress(self, pending: Pending, event: Event) -> None:
        picker, speed = self._toolbar.picker, self._gauges.speed
        match event:
            case PrefillProgress():
                picker.set_state("reading", "", f"Reading the prompt, {pending.fraction:.0%}", pending.fraction)
                if event.done:
                    speed.show_reading(event.rate, "reading")
            case TextDelta():
                picker.set_state("writing", "", "Writing a reply")
                speed.set_first_token(event.ttft_s)
                speed.set_limit(_ceiling(self._models.model, event.context_used))
                speed.show_reading(event.rate, "writing")

    def _on_end(self, pending: Pending) -> None:
        facts = pending.writer.facts
        if facts and facts.output_tokens > 1:
            self._gauges.speed.show_reading(facts.decode_tps, "writing")
        if self._replies.writing_chat() is None:
            QTimer.singleShot(0, self, lambda: self._gauges.speed.show_reading(0.0, "idle"))
            self._show_at_rest()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Explain the context gauge while the pointer is over it."""
        if event.type() == QEvent.Type.Enter:
            self._explanation = self._explanation or FactsPopover(self._theme, self._page.window())
            self._explanation.show_rows(context_rows(*self._use, self._chat.facts), self._toolbar.context)
        elif event.type() == QEvent.Type.Leave and self._explanation:
            self._explanation.hide()
        return super().eventFilter(watched, event)

    def _on_context(self, used: int, limit: int) -> None:
        self._told = (used, limit)
        if self._chat.busy and self._models.is_loaded():
            self._given = (self._choice(), limit)
        self.show_context()

    def show_context(self) -> None:
        """Show the context in use: while a reply is on its way of what it has, else of what the next one gets as chosen now."""
        used, limit = self._told
        if limit and not self._chat.busy and self._models.model_id:
            choice = self._choice()
            limit = self._given[1] if self._given[0] == choice else choice[1]
        self._use = (min(used, limit), limit)
        self._toolbar.context.show_use(*self._use)

    def _choice(self) -> tuple[str, int]:
        return self._models.model_id, self._models.context_length(self._chat.settings())


def _card_detail(state: ModelState) -> str:
    if state.state == "importing" and state.total_bytes:
        megabyte = 1_000_000
        return f"Converting for MLX, {state.done_bytes // megabyte} of {state.total_bytes // megabyte} MB"
    return "Loading into memory" if state.state == "loading" else state.detail


def _ceiling(model: LoadedModel | None, context_used: int) -> float | None:
    if model is None or model.bandwidth_bytes_per_s is None:
        return None
    kv_bytes = model.kv_bytes_per_token * context_used
    return decode_ceiling_tps(model.bandwidth_bytes_per_s, model.read_bytes_per_token, kv_bytes)
