"""A reply being run again exactly, and what came of it: the same tokens, or the first that differs, and why."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.theme import Theme
from app.widgets.button import Button
from app.widgets.label import Label
from app.widgets.sheet import Sheet
from engine.core.messages import Replayed
from engine.core.sizes import count_text

_WIDTH = 440
_LONGEST = 60
NO_REASON = "Nothing that is recorded is different from then."


class ReplayDialog(Sheet):
    """`stopped` says that a person closed it while the reply was still being made."""

    stopped = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Running again", "Waiting for the model", parent)
        self.setObjectName("replayDialog")
        self._running = True
        self.setAccessibleName("Run again exactly")
        self.setWindowTitle("Run Again Exactly")
        self._texts = QGridLayout()
        self._texts.setHorizontalSpacing(16)
        self._texts.setVerticalSpacing(4)
        self._texts.setColumnStretch(1, 1)
        self.body.addLayout(self._texts)
        self.body.addStretch(1)
        self._button = Button(theme, "Cancel")
        self.add_button(self._button, "replayClose", self.reject)
        self.setFixedWidth(_WIDTH)
        self.finished.connect(self._stop)

    @property
    def words(self) -> str:
        """Everything that it says, a line each."""
        labels = [label.text() for label in self.findChildren(Label)]
        return "\n".join(text for text in labels if text)

    def show_progress(self, words: str) -> None:
        """Say how far it is."""
        if self._running:
            self.about.setText(words)

    def show_result(self, replayed: Replayed, begun: int = 0) -> None:
        """Say what came of it; the reply had `begun` with so many tokens, which were given and not written again."""
        self._end()
        if replayed.same:
            self.heading.setText(f"Same {count_text(replayed.tokens, 'token')}")
            since = f" since the reply went on after its first {begun:,}" if begun else ""
            self.about.setText(f"Every token{since} came out as it was written. Nothing in the chat was changed.")
        else:
            self.heading.setText(f"Different from token {replayed.tokens + 1:,} on")
            before = count_text(replayed.tokens, "token")
            start = "The first token is another one." if not replayed.tokens else f"The first {before} came out as they were."
            self.about.setText(f"{start} Nothing in the chat was changed.")
            self._add("Written then", _quoted(replayed.expected))
            self._add("This time", _quoted(replayed.got))
        self._button.setFocus()
        reasons = replayed.reasons or (() if replayed.same else (NO_REASON,))
        for index, reason in enumerate(reasons):
            self._add(("What is different" if replayed.reasons else "Why") if not index else "", reason)
        self.setAccessibleDescription(self.words)
        self.adjustSize()

    def show_failure(self, title: str, hint: str) -> None:
        """Say why it could not be run again."""
        self._end()
        self.heading.setText("It could not be run again")
        self.about.setText(f"{title} {hint}".strip())
        self.adjustSize()

    def _add(self, name: str, text: str) -> None:
        row = self._texts.rowCount()
        label = Label(self._theme, name, style="small", role="ink-2")
        value = Label(self._theme, text, style="small", wrap=True)
        self._texts.addWidget(label, row, 0)
        self._texts.addWidget(value, row, 1)

    def _end(self) -> None:
        self._running = False
        self._button.setText("Close")
        self._button.setAccessibleName("Close")
        self._button.updateGeometry()

    def _stop(self) -> None:
        if self._running:
            self._running = False
            self.stopped.emit()


def _quoted(text: str) -> str:
    """Return a token's text in quotes, what can't be seen made visible; what is no token as it is."""
    if text in ("the end of the reply",):
        return text[0].upper() + text[1:]
    shown = text.replace("\n", "⏎").replace("\t", "⇥")
    return f"“{shown[:_LONGEST]}”"
