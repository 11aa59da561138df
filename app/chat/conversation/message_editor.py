"""A message being edited where it stands: its text in a field, what sends it, and what leaves it as it was."""

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.chat.composer.message_field import MessageField
from app.chat.progress_words import WAIT
from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.label import Label

_RADIUS, _SIDE, _TOP, _FOOT, _GAP = 12, 16, 12, 28, 8
_MOST_LINES = 16
_HINT_MS = 5000


class MessageEditor(QWidget):
    """Emits `submitted` with the text and `cancelled`. While `busy`, what is written stays here.

    A user's message is sent by Return, as in the composer. A reply has paragraphs: there Return breaks the line, and
    Ctrl+Return keeps the change. A `bare` message has files, and can do without text.
    """

    submitted = Signal(str)
    cancelled = Signal()
    text_changed = Signal(str)
    height_changed = Signal()

    def __init__(self, theme: Theme, text: str, *, reply: bool, bare: bool = False, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._busy, self._bare = theme, False, bare
        self._field = MessageField(theme, self)
        self._field.setObjectName("messageEditor")
        self._field.setAccessibleName("Edit reply" if reply else "Edit message")
        self._field.return_breaks = reply
        self._field.replace(text, undoable=False)
        self._send = PrimaryButton(theme, "Save" if reply else "Send", parent=self)
        self._send.setObjectName("editSend")
        self._cancel = Button(theme, "Cancel", parent=self)
        self._cancel.setObjectName("editCancel")
        self._note = Label(theme, "", style="caption", role="ink-3", parent=self)
        self._hint = QTimer(self, singleShot=True, interval=_HINT_MS)
        keys = QKeySequence("Ctrl+Return").toString(QKeySequence.SequenceFormat.NativeText)
        self._own_note = f"{keys} saves. The first version stays beside it." if reply else ""
        self._hint.timeout.connect(lambda: self._say(self._own_note))
        self._say(self._own_note)
        self._height = 0
        self._field.send_pressed.connect(self.submit)
        self._field.escape_pressed.connect(self.cancelled)
        self._field.focus_changed.connect(self.update)
        self._field.textChanged.connect(self._tell)
        self._field.document().documentLayout().documentSizeChanged.connect(self._follow)
        self._send.clicked.connect(self.submit)
        self._cancel.clicked.connect(self.cancelled)
        self._follow()

    @property
    def text(self) -> str:
        """What is written, as it was typed."""
        return self._field.text

    def focus_text(self) -> None:
        """Put the caret at the text's end."""
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_busy(self, busy: bool) -> None:
        """Keep what is written here as long as another reply is on its way."""
        self._busy = busy
        self._send.setToolTip(WAIT if busy else "")
        self._follow()

    def submit(self) -> None:
        """Hand the text over, or say why it has to wait; white space alone is not sent, unless with files."""
        if not self._sendable():
            return
        if self._busy:
            self._say(WAIT)
            self._hint.start()
        else:
            self.submitted.emit(self.text if self.text.strip() else "")

    def height_at(self, width: int) -> int:
        """Put the parts in their places in `width` pixels, and return the height of it all."""
        line = self._theme.line("read")
        self._field.resize(width - 2 * _SIDE, self._field.height())
        wanted = round(self._field.document().size().height())
        text = min(_MOST_LINES * line, max(line, wanted))
        scrolls = wanted > text
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if scrolls else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self._field.setVerticalScrollBarPolicy(policy)
        self._field.setGeometry(_SIDE, _TOP - 2, width - 2 * _SIDE, text + 2)
        top = _TOP + text + _GAP
        right = width - _GAP
        for button in (self._send, self._cancel):
            button.resize(button.sizeHint())
            right -= button.width()
            button.move(right, top)
            right -= _GAP
        self._note.setGeometry(_SIDE, top + (_FOOT - self._note.height()) // 2, max(0, right - _SIDE), self._note.height())
        self._height = top + _FOOT + _GAP
        return self._height

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the frame, as the composer's."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(self._theme.color("raised"))
        painter.setPen(QPen(self._theme.color("border-hi" if self._field.hasFocus() else "border"), 1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS - 0.5, _RADIUS - 0.5)

    def _sendable(self) -> bool:
        return self._bare or bool(self.text.strip())

    def _tell(self) -> None:
        self._follow()
        self.text_changed.emit(self.text)

    def _follow(self) -> None:
        self._send.setEnabled(self._sendable() and not self._busy)
        before = self._height
        if before and self.height_at(self.width()) != before:
            self.height_changed.emit()

    def _say(self, text: str) -> None:
        self._note.setText(text)
