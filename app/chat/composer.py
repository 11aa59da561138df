"""Where a message is written: a field that grows with its text, send and stop in one place, the phase of the reply on top."""

import re

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.chat.message_field import MessageField
from app.chat.phase_line import Phase, PhaseLine
from app.chat.words import Words
from app.theme import Theme
from app.widgets.icon_button import GoButton

_RADIUS = 12
_LEAST_LINES, _MOST_LINES = 1, 10
_HINT_MS = 5000
# Qt sets a line of fixed height lower than the mock does: the field starts 2 px higher so that the words sit where they should.
_DROP = 2
_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")


class Composer(QWidget):
    """Emits `submitted` with the text to send and `stop_requested`; keeps what is typed while a reply is being written.

    The handle `composer` is the text field inside. The height is this widget's own business, the width its parent's.
    """

    submitted = Signal(str)
    stop_requested = Signal()
    text_changed = Signal(str)
    height_changed = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._note = ""
        self._blocked = ""
        self._field = MessageField(theme, self)
        self.setFocusProxy(self._field)
        self._line = PhaseLine(theme, self)
        self._send = GoButton(theme, "send", "Send", parent=self)
        self._send.setObjectName("sendButton")
        self._stop = GoButton(theme, "stop", "Stop", parent=self)
        self._stop.setObjectName("stopButton")
        self._label = Words(theme, "caption", "ink-3", parent=self)
        self._hint = QTimer(self, singleShot=True, interval=_HINT_MS)
        self._keys = [QShortcut(QKeySequence("Ctrl+."), self)]
        self._lay_out()
        self._connect()
        self.set_phase("idle")
        self.set_placeholder("Message")
        self._follow_text()

    @property
    def text(self) -> str:
        """What is written now, as it was typed."""
        return self._field.text

    @property
    def phase(self) -> Phase:
        """What the reply is doing."""
        return self._line.phase

    @property
    def note(self) -> str:
        """What the note says now: the caller's note, or a hint in its place."""
        return self._label.words

    def set_text(self, text: str, *, undoable: bool = False) -> None:
        """Replace the text, the caret at its end.

        Undo brings the earlier text back where `undoable`; a chat's draft is set without, so that one chat's words can not
        be undone into another.
        """
        self._field.replace(text, undoable)

    def set_phase(self, phase: Phase, fraction: float = 0.0) -> None:
        """Show what the reply is doing; `fraction` of the prompt is read, 0 to 1, while "reading"."""
        idle = phase == "idle"
        had_focus = self._stop.hasFocus() or self._send.hasFocus()
        self._line.show_phase(phase, fraction)
        self._stop.setVisible(not idle)
        self._stop.setEnabled(phase != "stopping")
        self._send.setVisible(idle)
        for key in self._keys:
            key.setEnabled(not idle and phase != "stopping")
        if had_focus and not (self._stop.hasFocus() or self._send.hasFocus()):
            self.focus_text()
        if idle:
            self._end_hint()

    def set_note(self, text: str) -> None:
        """Say something quietly beside the button, as "312 tokens, 288 cached"; a hint in its place stays its time."""
        self._note = text
        if not self._hint.isActive():
            self._show_note(text)

    def set_placeholder(self, text: str) -> None:
        """Show `text` while nothing is written."""
        self._field.set_placeholder(text)

    def set_blocked(self, reason: str) -> None:
        """Keep every message here, saying `reason` when one is sent; "" lets them go again."""
        self._blocked = reason

    def focus_text(self) -> None:
        """Put the caret into the text."""
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    def submit(self) -> None:
        """Send what is written, or say why it has to wait; white space alone is not sent."""
        text = sendable(self.text)
        if not text:
            return
        if self.phase != "idle":
            self._say("Wait for the reply or stop it first")
        elif self._blocked:
            self._say(self._blocked)
        else:
            self._field.replace("", undoable=True)
            self.focus_text()
            self.submitted.emit(text)

    def stop(self) -> None:
        """Ask for the reply to end, when there is one that can."""
        if self.phase not in ("idle", "stopping"):
            self.stop_requested.emit()

    def sizeHint(self) -> QSize:
        """As wide as the widest column, as high as the text asks for."""
        return QSize(752, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame; its edge is stronger while the text has the focus."""
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(self._theme.color("raised"))
        painter.setPen(QPen(self._theme.color("border-hi" if self._field.hasFocus() else "border"), 1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS - 0.5, _RADIUS - 0.5)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the phase line between the corners."""
        super().resizeEvent(event)
        self._line.setGeometry(_RADIUS, 0, self.width() - 2 * _RADIUS, 2)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click anywhere in the frame is meant for the text."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.focus_text()
        super().mousePressEvent(event)

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        foot.setContentsMargins(0, 0, 0, 0)
        foot.setSpacing(12)
        foot.addStretch(1)
        foot.addWidget(self._label)
        foot.addWidget(self._send)
        foot.addWidget(self._stop)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12 - _DROP, 8, 8)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 8, 0)
        row.addWidget(self._field)
        column.addLayout(row, 1)
        column.addLayout(foot)
        self._field.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self._label.setCursor(Qt.CursorShape.ArrowCursor)
        for button in (self._send, self._stop):
            button.setCursor(Qt.CursorShape.ArrowCursor)

    def _connect(self) -> None:
        self._field.send_pressed.connect(self.submit)
        self._field.escape_pressed.connect(self.stop)
        self._field.focus_changed.connect(self.update)
        self._field.textChanged.connect(self._follow_text)
        self._field.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._send.clicked.connect(self.submit)
        self._stop.clicked.connect(self.stop)
        self._hint.timeout.connect(self._end_hint)
        for key in self._keys:
            key.activated.connect(self.stop)
        self._theme.changed.connect(self.update)

    def _follow_text(self) -> None:
        text = self.text
        self._send.setEnabled(bool(text.strip()))
        self._fit()
        self.text_changed.emit(text)

    def _fit(self) -> None:
        """Grow from one line to ten, then scroll."""
        line = self._theme.line("read")
        wanted = round(self._field.document().size().height())
        most = _MOST_LINES * line
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if wanted > most else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self._field.setVerticalScrollBarPolicy(policy)
        text = min(most, max(_LEAST_LINES * line, wanted))
        height = 12 + text + 8 + 28 + 8
        if height != self.height():
            self.setFixedHeight(height)
            self.height_changed.emit(height)
        self._field.setFixedHeight(text + _DROP)

    def _say(self, text: str) -> None:
        self._hint.start()
        self._show_note(text)

    def _end_hint(self) -> None:
        self._hint.stop()
        self._show_note(self._note)

    def _show_note(self, text: str) -> None:
        self._label.say(text)


def sendable(text: str) -> str:
    """Return a message without blank lines before it and white space after it; indentation of its first line stays."""
    return _BLANK_LINES.sub("", text).rstrip()
