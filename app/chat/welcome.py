"""The empty chat: what the model is doing, and something to begin with."""

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.chat.mark import Mark
from app.chat.prompt_card import PromptCard
from app.chat.welcome_cards import FailureCard, NoModelCard, ProgressCard
from app.chat.words import Words
from app.theme import Theme
from engine.core.machine import THIS_MACHINE

type WelcomeState = Literal["progress", "ready", "no-model", "failure"]

_COLUMN, _MARGIN = 560, 24
_TOP, _LEAST_TOP, _BOTTOM, _TALL = 84, 24, 20, 676
# What a card says, a word more about it, and the message it stands for.
_PROMPTS = (
    (
        "Explain what a token is",
        "In two sentences, for someone who has never programmed",
        "Explain in two sentences what a token is to a language model, for someone who has never programmed.",
    ),
    (
        "Write a haiku about flint",
        "Five, seven and five syllables",
        "Write a haiku about flint: five, seven and five syllables.",
    ),
    (
        "Make these notes an email",
        "Moved to Tuesday, same room, bring the draft",
        "Make these notes a short, friendly email: the meeting moved to Tuesday, same room, please bring the draft.",
    ),
)
_PLACES = ("Flint’s own folder", "The Hugging Face cache, where other apps may have left models already")


class Welcome(QScrollArea):
    """Shows one of four states; prompts are offered while a model is on its way and once it is ready."""

    prompt_chosen = Signal(str)
    models_requested = Signal()
    import_requested = Signal()
    refresh_requested = Signal()
    retry_requested = Signal()
    anyway_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state: WelcomeState = "ready"
        self._room_gb = 0
        self._title = Words(theme, "display", "ink", wrap=True)
        self._subtitle = Words(theme, "read", "ink-2", wrap=True)
        self._progress = ProgressCard(theme)
        self._no_model = NoModelCard(theme)
        self._failure = FailureCard(theme)
        self._cards = [_below(card) for card in (self._progress, self._no_model, self._failure)]
        self._prompts = QWidget()
        self._prompts_title = Words(theme, "caption", "ink-3", weight=600)
        self._column = QWidget()
        self._body = QWidget()
        self._content = QVBoxLayout(self._body)
        self._lock = QLabel()
        self.setObjectName("welcome")
        self.setAccessibleName("Welcome")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._lay_out()
        self._progress.models_requested.connect(self.models_requested)
        self._no_model.import_requested.connect(self.import_requested)
        self._no_model.refresh_requested.connect(self.refresh_requested)
        self._failure.retry_requested.connect(self.retry_requested)
        self._failure.anyway_requested.connect(self.anyway_requested)
        self._failure.models_requested.connect(self.models_requested)
        theme.changed.connect(self._draw_lock)
        self._draw_lock()
        self.show_ready("")

    @property
    def state(self) -> WelcomeState:
        """Which of the four is shown."""
        return self._state

    @property
    def title(self) -> str:
        """The heading shown now."""
        return self._title.words

    def set_room(self, budget_bytes: int) -> None:
        """Say how large a model may be on this machine; 0 says nothing about it."""
        self._room_gb = round(budget_bytes / 1e9)

    def show_progress(self, name: str, fraction: float, detail: str, *, first: bool = False) -> None:
        """Show that the model `name` is being got ready, `fraction` from 0 to 1; `first` when it is Flint's first launch."""
        if first:
            room = f": {THIS_MACHINE} has room for about {self._room_gb} GB." if self._room_gb >= 1 else "."
            more = f"A small starter comes with Flint, so you can begin at once. For real work, pick a larger model{room}"
            self._head("Getting the first model ready", more)
        else:
            self._head("Getting the model ready", "You can write already: your message is sent as soon as the model is ready.")
        self._progress.show_progress(name, fraction, detail)
        self._prompts_title.say("Try with the starter" if first else "Something to begin with")
        self._show("progress")

    def show_ready(self, name: str) -> None:
        """Show that the model `name` waits for a question; "" when it is better not named."""
        answer = f"{name} answers, on {THIS_MACHINE} alone." if name else f"Answered on {THIS_MACHINE} alone."
        self._head("What would you like to know?", answer)
        self._prompts_title.say("Something to begin with")
        self._show("ready")

    def show_no_model(self, places: Sequence[str] = _PLACES) -> None:
        """Show that there is no model yet, where they are looked for (a line each), and how to bring one."""
        more = f"Flint answers with a language model that is kept on {THIS_MACHINE}. Bring one, and you can begin."
        self._head("No model here yet", more)
        self._no_model.show_places(places)
        self._show("no-model")

    def show_failure(self, text: str, hint: str, *, refused: bool = False) -> None:
        """Show why the model could not be loaded, and what to do about it; one only `refused` can be insisted on."""
        self._head("The model was not loaded" if refused else "The model could not be loaded", "Your chats are safe.")
        self._failure.show_failure(text, hint, refused=refused)
        self._show("failure")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the column's width and let the space above it give way first."""
        super().resizeEvent(event)
        self._column.setFixedWidth(max(200, min(_COLUMN, self.viewport().width() - 2 * _MARGIN)))
        missing = max(0, _TALL - self.viewport().height())
        self._content.setContentsMargins(0, max(_LEAST_TOP, _TOP - missing // 2), 0, _BOTTOM)

    def _head(self, title: str, subtitle: str) -> None:
        self._title.say(title)
        self._subtitle.say(subtitle)

    def _show(self, state: WelcomeState) -> None:
        self._state = state
        for card, owner in zip(self._cards, ("progress", "no-model", "failure"), strict=True):
            card.setVisible(state == owner)
        self._prompts.setVisible(state in ("progress", "ready"))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self._column)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Mark(self._theme))
        column.addSpacing(16)
        column.addWidget(self._title)
        column.addSpacing(4)
        column.addWidget(self._subtitle)
        for card in self._cards:
            column.addWidget(card)
        column.addWidget(self._fill_prompts())
        content = self._content
        content.setContentsMargins(0, _TOP, 0, _BOTTOM)
        content.setSpacing(0)
        content.addWidget(self._column, 0, Qt.AlignmentFlag.AlignHCenter)
        content.addSpacing(24)
        content.addStretch(1)
        content.addLayout(self._lock_line())
        self.setWidget(self._body)
        self.viewport().setAutoFillBackground(False)
        self._body.setAutoFillBackground(False)

    def _fill_prompts(self) -> QWidget:
        column = QVBoxLayout(self._prompts)
        column.setContentsMargins(0, 32, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._prompts_title)
        for number, (title, detail, message) in enumerate(_PROMPTS, start=1):
            card = PromptCard(self._theme, title, detail)
            card.setObjectName(f"promptCard.{number}")
            card.clicked.connect(lambda _=False, text=message: self.prompt_chosen.emit(text))
            column.addWidget(card)
        return self._prompts

    def _lock_line(self) -> QHBoxLayout:
        words = Words(self._theme, "caption", "ink-3")
        words.say(f"Models run on {THIS_MACHINE} and your chats stay on it: nothing you write leaves it.")
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addStretch(1)
        row.addWidget(self._lock)
        row.addWidget(words)
        row.addStretch(1)
        return row

    def _draw_lock(self) -> None:
        self._lock.setPixmap(self._theme.pixmap("lock", "ink-3", 12, self.devicePixelRatioF()))


def _below(card: QWidget) -> QWidget:
    """Return a holder that keeps 24 px above a card, and none when it is hidden."""
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 24, 0, 0)
    column.addWidget(card)
    return holder
