"""What the welcome says about the model: how far it is, that there is none, or why it failed."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from app.chat.words import Card, Words
from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.frame import draw_frame
from app.widgets.link import Link


class ProgressCard(Card):
    """A model on its way into memory: name, percent, bar, and a line on what is being done."""

    models_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setObjectName("welcomeCard")
        self._name = Words(theme, "ui", "ink", weight=600)
        self._percent = Words(theme, "small", "ink-2")
        # Room for the longest value, so that nothing moves while it counts.
        self._percent.setMinimumWidth(self._percent.fontMetrics().horizontalAdvance("100%"))
        self._percent.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._detail = Words(theme, "small", "ink-3")
        self._bar = Bar(theme)
        others = Link(theme, "Other models", style="small")
        others.setObjectName("otherModelsLink")
        others.clicked.connect(self.models_requested)
        self.column.addLayout(_row(self._name, self._percent))
        self.column.addWidget(self._bar)
        self.column.addLayout(_row(self._detail, others))

    def show_progress(self, name: str, fraction: float, detail: str) -> None:
        """Show how far a model is, `fraction` from 0 to 1, and `detail` on what is being done."""
        percent = round(100 * min(1.0, max(0.0, fraction)))
        self._name.say(name)
        self._percent.say(f"{percent}%")
        self._detail.say(detail)
        self._bar.setValue(percent)
        self._bar.setAccessibleName(f"Getting {name} ready")
        self._bar.setAccessibleDescription(detail)


class Bar(QProgressBar):
    """A painted bar of 4 px, in percent."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("welcomeProgress")
        self.setRange(0, 100)
        self.setValue(0)
        self.setTextVisible(False)
        self.setFixedHeight(4)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the track and what is done of it."""
        del event
        painter = QPainter(self)
        draw_frame(painter, self.rect(), 2, self._theme.color("track"))
        if self.value() > 0:
            done = QRectF(0, 0, max(4.0, self.width() * self.value() / 100), 4)
            draw_frame(painter, done, 2, self._theme.color("accent"))


class NoModelCard(Card):
    """No model on this machine: where Flint looked, and how to bring one."""

    import_requested = Signal()
    refresh_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setObjectName("noModelCard")
        heading = Words(theme, "ui", "ink", weight=600)
        heading.say("Where Flint looks for models")
        self._places = Words(theme, "small", "ink-2", wrap=True)
        self._places.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        bring, again = PrimaryButton(theme, "Import a GGUF file…"), Button(theme, "Look again")
        bring.setObjectName("importButton")
        again.setObjectName("lookAgainButton")
        bring.clicked.connect(self.import_requested)
        again.clicked.connect(self.refresh_requested)
        self.column.addWidget(heading)
        self.column.addWidget(self._places)
        self.column.addSpacing(8)
        self.column.addLayout(_buttons(bring, again))

    def show_places(self, places: Sequence[str]) -> None:
        """Say where models are looked for, a line each."""
        self._places.say("\n".join(places))


class FailureCard(Card):
    """Why the model could not be loaded, and what to do about it."""

    retry_requested = Signal()
    models_requested = Signal()
    anyway_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._theme = theme
        self._anyway = Button(theme, "Load anyway", quiet=True)
        self._anyway.setObjectName("loadAnywayButton")
        self._anyway.clicked.connect(self.anyway_requested)
        self.setObjectName("failureCard")
        self._icon = QLabel()
        self._icon.setFixedSize(16, 20)
        self._text = Words(theme, "ui", "ink", weight=600, wrap=True)
        self._hint = Words(theme, "ui", "ink-2", wrap=True)
        retry, other = PrimaryButton(theme, "Try again"), Button(theme, "Choose another model")
        retry.setObjectName("retryButton")
        other.setObjectName("chooseModelButton")
        retry.clicked.connect(self.retry_requested)
        other.clicked.connect(self.models_requested)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self._text)
        words.addWidget(self._hint)
        words.addSpacing(12)
        words.addLayout(_buttons(retry, other, self._anyway))
        head.addLayout(words, 1)
        self.column.addLayout(head)
        theme.changed.connect(self._draw_icon)
        self._draw_icon()

    def show_failure(self, text: str, hint: str, *, refused: bool = False) -> None:
        """Show what went wrong and what to do; what was only `refused` can be insisted on."""
        self._anyway.setVisible(refused)
        self._text.say(text)
        self._hint.say(hint)
        self._hint.setVisible(bool(hint))

    def _draw_icon(self) -> None:
        self._icon.setPixmap(self._theme.pixmap("warn", "critical", 16, self.devicePixelRatioF()))


def _row(left: QWidget, right: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(12)
    row.addWidget(left, 1)
    row.addWidget(right)
    return row


def _buttons(*buttons: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(8)
    for button in buttons:
        row.addWidget(button)
    row.addStretch(1)
    return row
