"""A one-line field for text or a number."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.debounce import Debounce
from app.widgets.line_field import LineField


class TextField(LineField):
    """A field 24 px high, or with what is read as high as its text size asks for.

    `edited` carries the text 400 ms after the last key, and at once with Return or when the focus leaves; `stepped` carries
    +1 or -1 for the up and down keys. Escape goes back to the text shown last, which `taken_back` says. `set_refused` marks a
    text that is not applied.
    """

    edited = Signal(str)
    stepped = Signal(int)
    taken_back = Signal()

    def __init__(
        self, theme: Theme, name: str, *, width: int | None = None, style: str = "small", parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, style, parent)
        self._refused = False
        self._shown = ""
        self.setObjectName(f"field.{name}")
        self.setAccessibleName(name)
        self.setTextMargins(5, 0, 5, 0)
        if width is not None:
            self.setFixedWidth(width)
            self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        else:
            self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._debounce = Debounce(self._say, self)
        self.textEdited.connect(lambda _text: self._debounce.touch())

    @property
    def refused(self) -> bool:
        """Whether the text is marked as not applied."""
        return self._refused

    @property
    def waiting(self) -> bool:
        """Whether something was typed that has not been said yet."""
        return self._debounce.waiting

    def show_text(self, text: str) -> None:
        """Show a text without saying so; what was typed and not yet said is dropped."""
        self._debounce.forget()
        self._shown = text
        if text != self.text():
            self.setText(text)
            self.setCursorPosition(0 if self.alignment() & Qt.AlignmentFlag.AlignLeft and not self.hasFocus() else len(text))
        self.set_refused(False)

    @property
    def typing(self) -> bool:
        """Whether somebody is at the field and has changed what was shown."""
        return self.hasFocus() and self.text() != self._shown

    def show_behind(self, text: str) -> None:
        """Show a text, but leave what somebody is typing: the text is then what Escape goes back to."""
        if self.typing:
            self._shown = text
        else:
            self.show_text(text)

    def set_refused(self, refused: bool) -> None:
        """Mark the text as out of range."""
        self._refused = refused
        self.update()

    def room_for(self, text: str) -> int:
        """Return the width in pixels at which a text is shown whole."""
        margins, inside = self.textMargins(), 4  # Two pixels at each side are the line edit's own.
        return (
            self.fontMetrics().horizontalAdvance(text) + margins.left() + margins.right() + inside + self.cursorRect().width()
        )

    def flush(self) -> None:
        """Say what was typed now."""
        self._debounce.flush()

    def sizeHint(self) -> QSize:
        """As high as it is."""
        return QSize(120, self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.flush()
            self.selectAll()
        elif key == Qt.Key.Key_Escape and (self.text() != self._shown or self._refused):
            self.show_text(self._shown)
            self.selectAll()
            self.taken_back.emit()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.flush()
            self.stepped.emit(1 if key == Qt.Key.Key_Up else -1)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.flush()
        super().focusOutEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self.flush()
        super().hideEvent(event)

    def edge(self) -> str:
        """Return the role of the frame's line."""
        return "critical" if self._refused else super().edge()

    def _say(self) -> None:
        self.edited.emit(self.text())
