"""What a model thought before it answered: a line with how long that took, and under it, while it is open, the text."""

import time

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.chat.conversation.disclosure import HEIGHT as LINE_HEIGHT
from app.chat.conversation.disclosure import Disclosure
from app.chat.text.filling import Filling
from app.chat.text.message_text import MessageText
from app.theme import Theme

_INDENT, _GAP, _BELOW = 20, 4, 12
_TICK_MS = 1_000


class Thought(QWidget):
    """Opens by itself while the model thinks, unless a person closed it; `fold` closes what opened by itself.

    `opened_by_hand` says that a person opened or closed it; `text_made` carries the text widget once there is one; `filled`
    says that all of a long text is there.
    """

    height_changed = Signal()
    filled = Signal()
    opened_by_hand = Signal(bool)
    link_activated = Signal(str)
    text_made = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._source = ""
        self._filling: Filling | None = None
        self._by_itself = False
        self._thinking = False
        self._seconds, self._since = 0.0, 0.0
        self.text: MessageText | None = None
        self._disclosure = Disclosure(theme, self)
        self._disclosure.toggled.connect(self._show_text)
        self._disclosure.clicked.connect(self._take_over)
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self._say)

    @property
    def source(self) -> str:
        """What was thought so far, as it was written."""
        return self._source

    @property
    def thinking(self) -> bool:
        """Whether more is being thought."""
        return self._thinking

    @property
    def opened(self) -> bool:
        """Whether the text is shown."""
        return self._disclosure.isChecked()

    @property
    def stays_open(self) -> bool:
        """Whether the text is shown, and did not open by itself."""
        return self.opened and not self._by_itself

    @property
    def busy(self) -> bool:
        """Whether not all of the text is shown yet."""
        return self._filling is not None and self._filling.busy

    @property
    def long(self) -> bool:
        """Whether it would take more than a moment to show the text again."""
        return self.opened and self._filling is not None and self._filling.long

    def show_thought(self, source: str, seconds: float, *, thinking: bool, opened: bool, other: bool = True) -> None:
        """Show what was thought in `seconds` (0.0 where that is not known); while `thinking` it opens by itself.

        What stands there stays in sight until then where it is no `other` message's.
        """
        self._source = source
        self._by_itself = thinking and not opened
        self._set_time(seconds, thinking and bool(source))
        wanted = bool(source) and (opened or thinking)
        if self._disclosure.isChecked() == wanted:
            self._show_text(wanted, covered=other)
        self._disclosure.setChecked(wanted)

    def add(self, text: str, seconds: float) -> None:
        """Append to what is being thought."""
        first = not self._source
        self._source += text
        self._set_time(seconds, True)
        if first:
            self._by_itself = True
            self._disclosure.setChecked(True)
        elif self._filling is not None:
            self._filling.add(text)

    def end(self, seconds: float) -> None:
        """Say that the thinking is over, after `seconds`."""
        self._set_time(seconds, False)
        if self.text is not None and self._filling is not None and self._filling.goes_on:
            self._filling.finish()
            self.text.set_streaming(False)

    def rest(self) -> None:
        """Show nothing more: another message's comes next."""
        if self._filling is not None:
            self._filling.stop()

    def fold(self) -> None:
        """Close what opened by itself."""
        if self._by_itself:
            self._by_itself = False
            self._disclosure.setChecked(False)

    def open(self) -> None:
        """Show the text, as a person does."""
        self._disclosure.setChecked(bool(self._source))
        self._take_over()

    def height_at(self, width: int) -> int:
        """Put line and text in their places in a column of `width` pixels; return the height, 0 where nothing was thought."""
        if not self._source:
            return 0
        self._disclosure.move(0, 0)
        height = LINE_HEIGHT + _GAP
        if self.text is not None and not self.text.isHidden():
            inner = width - _INDENT
            needed = self.text.height_at(inner)
            covered = self._filling is not None and self._filling.covered
            self.text.setGeometry(_INDENT, height, inner, 0 if covered else needed)
            height += 0 if covered else needed + _BELOW
        return height

    def _take_over(self) -> None:
        self._by_itself = False
        self.opened_by_hand.emit(self.opened)

    def _set_time(self, seconds: float, thinking: bool) -> None:
        self._seconds, self._since, self._thinking = seconds, time.monotonic(), thinking
        if not thinking:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()
        self._say()

    def _say(self) -> None:
        self._disclosure.setVisible(bool(self._source))
        passed = time.monotonic() - self._since if self._thinking else 0.0
        name = thought_words(self._seconds + passed, thinking=self._thinking)
        if self._disclosure.text() != name:
            self._disclosure.say(name)

    def _show_text(self, shown: bool, covered: bool = True) -> None:
        if shown and self.text is None:
            self.text = MessageText(self._theme, quiet=True, parent=self)
            self.text.setObjectName("thought")
            self.text.setAccessibleName("What the model thought")
            self.text.link_activated.connect(self.link_activated)
            self.text.height_changed.connect(self.height_changed)
            self._filling = Filling(self.text)
            self._filling.filled.connect(self.filled)
            self.text_made.emit(self.text)
        if self.text is not None and self._filling is not None:
            self.text.setVisible(shown)
            if shown:
                self._filling.show(self._source, goes_on=self._thinking, covered=covered)
                self.text.set_streaming(self._thinking)
            else:
                self._filling.stop()
        self.height_changed.emit()


def thought_words(seconds: float, *, thinking: bool = False) -> str:
    """Return what the line says: "Thought for 4 s", "Thinking… 4 s", without a duration where none is known."""
    if thinking:
        return f"Thinking… {duration(seconds)}" if seconds >= 1 else "Thinking…"
    return f"Thought for {duration(seconds)}" if seconds > 0 else "Thought"


def duration(seconds: float) -> str:
    """Return a duration in words: "under 1 s", "4 s", "1 min 12 s", "2 h 3 min"."""
    if seconds < 1:
        return "under 1 s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
