"""Where a message is written: a field that grows with its text, send and stop in one place, the phase of the reply on top."""

import re

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QShortcut
from PySide6.QtWidgets import QWidget

from app.chat.composer.attachments import ATTACHED_ALREADY, Attachments
from app.chat.composer.composer_foot import INSET, LINE, ComposerFoot
from app.chat.composer.message_field import LONGEST_PLAIN, MessageField
from app.chat.composer.phase_line import Phase, PhaseLine
from app.theme import Theme
from app.widgets.file_dialogs import ask_for_files
from engine.chats.attachment import Attachment
from engine.chats.records import StoredMessage, unsent

_RADIUS = 12
_LEAST_LINES, _MOST_LINES = 1, 10
_HINT_MS = 5000
# Qt sets a line of fixed height lower than the mock does: the field starts 2 px higher so that the words sit where they should.
_DROP = 2
_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")


class Composer(QWidget):
    """Emits `submitted` with the text to send and `stop_requested`; keeps what is typed while a reply is being written.

    What goes with the text is in `attachments`; whoever sends takes it from there.
    The up arrow where nothing is written emits `edit_last_requested`.

    The handle `composer` is the text field inside. The height is this widget's own business, the width its parent's.
    """

    submitted = Signal(str)
    stop_requested = Signal()
    edit_last_requested = Signal()
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
        self._window_height = 0
        self._dropping = False
        self.attachments = Attachments(self)
        self.foot = ComposerFoot(theme, self)
        self._send, self._stop, self._label = self.foot.send, self.foot.stop, self.foot.note
        self._warned = False
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
    def draft(self) -> StoredMessage | None:
        """What would be sent now, as the message it will be; None where there is nothing."""
        text, attachments = sendable(self.text), self.attachments.attachments
        return unsent(text, attachments) if text or attachments else None

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
        if phase == self.phase == "writing":
            return
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

    def set_note(self, text: str, tip: str = "", *, warned: bool = False) -> None:
        """Say something quietly beside the button, as "312 tokens, 288 cached"; a hint in its place stays its time.

        `tip` says more to who points at it; `warned` sets it in the colour of what goes wrong.
        """
        self._note, self._warned = text, warned
        self._label.setToolTip(tip)
        self._label.setAccessibleDescription(tip)
        if not self._hint.isActive():
            self._show_note(text)

    def say(self, text: str) -> None:
        """Say something in place of the note for a while."""
        self._hint.start()
        self._show_note(text)

    def set_window_height(self, height: int) -> None:
        """Take at most a third of a window of this height, ten lines at most."""
        if height != self._window_height:
            self._window_height = height
            self._fit()

    def set_dropping(self, dropping: bool) -> None:
        """Show that what is held over the window can be dropped."""
        if dropping != self._dropping:
            self._dropping = dropping
            self._label.say("Drop to attach" if dropping else self._note)
            self._fit()
            self.update()

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
        self._field.commit_composition()
        text = sendable(self.text)
        if self._field.composing or not (text or self.attachments.items):
            return
        if self.phase != "idle":
            self.say("Wait for the reply or stop it first")
        elif self._blocked:
            self.say(self._blocked)
        elif self.attachments.reading:
            self.say(f"Wait until {self.attachments.reading} is read")
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
        edge = "accent" if self._dropping else "border-hi" if self._field.hasFocus() else "border"
        painter.setPen(QPen(self._theme.color(edge), 1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS - 0.5, _RADIUS - 0.5)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the phase line between the corners."""
        super().resizeEvent(event)
        self._line.setGeometry(_RADIUS, 0, self.width() - 2 * _RADIUS, 2)
        self._fit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click anywhere in the frame is meant for the text."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.focus_text()
        super().mousePressEvent(event)

    def _lay_out(self) -> None:
        self._field.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self._field.takes_attachments = True
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self.setTabOrder(self._field, self.foot.attach)

    def _connect(self) -> None:
        self._field.send_pressed.connect(self.submit)
        self._field.escape_pressed.connect(self.stop)
        self._field.recall_pressed.connect(self.edit_last_requested)
        self._field.focus_changed.connect(self.update)
        self._field.files_pasted.connect(self.attachments.attach_files)
        self._field.text_pasted.connect(self._attach_text)
        self._field.picture_pasted.connect(lambda: self.say("Pictures can't be attached: the model reads text"))
        self.foot.attach_pressed.connect(self.choose_files)
        self.foot.chips.remove_requested.connect(self._remove)
        self.foot.chips.opened.connect(self._open)
        self.attachments.changed.connect(self._follow_attachments)
        self.attachments.progressed.connect(self._show_chips)
        self.attachments.said.connect(self.say)
        self._field.textChanged.connect(self._follow_text)
        self._field.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._send.clicked.connect(self.submit)
        self._stop.clicked.connect(self.stop)
        self._hint.timeout.connect(self._end_hint)
        for key in self._keys:
            key.activated.connect(self.stop)
        self._theme.changed.connect(self._fit)
        self._theme.changed.connect(self.update)

    def choose_files(self) -> None:
        """Let files be picked that go with the message."""
        dialog = ask_for_files(self.window(), "attachDialog", "Attach Files", "", self.attachments.attach_files)
        dialog.finished.connect(self.focus_text)

    def _attach_text(self, text: str) -> None:
        before = len(self.attachments.items)
        self.attachments.attach_text(text)
        added = len(self.attachments.items) > before
        if len(text) > LONGEST_PLAIN:
            if added or self.note == ATTACHED_ALREADY:
                how = "Attached" if added else ATTACHED_ALREADY
                self.say(f"{how}; the text takes {LONGEST_PLAIN:,} characters at once")
        elif added:
            keys = QKeySequence("Ctrl+Shift+V").toString(QKeySequence.SequenceFormat.NativeText)
            self.say(f"Attached as it is long; {keys} pastes it into the text")

    def _remove(self, number: int) -> None:
        self.attachments.remove(number)
        self.focus_text()

    def _open(self, place: int) -> None:
        """Show the text of a chip; one that was pasted can be put into the message after all."""
        from app.chat.composer.attachment_dialog import AttachmentDialog

        item = self.attachments.items[place]
        if item.attachment is None:
            return
        insertable = item.attachment.kind == "pasted" and len(item.attachment.text) <= LONGEST_PLAIN
        dialog = AttachmentDialog(self._theme, item.attachment, insertable=insertable, parent=self.window())
        dialog.insert_requested.connect(lambda: self._insert(item.number, item.attachment))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _insert(self, number: int, attachment: Attachment | None) -> None:
        if attachment:
            self._field.insertPlainText(attachment.text)
            self._remove(number)

    def _follow_text(self) -> None:
        text = self.text
        self._offer_send()
        self._fit()
        self.text_changed.emit(text)

    def _follow_attachments(self) -> None:
        self._show_chips()
        self.foot.chain_focus()
        self._offer_send()

    def _show_chips(self, _number: int = 0) -> None:
        self.foot.chips.show_items(self.attachments.items)
        self._fit()

    def _offer_send(self) -> None:
        self._send.setEnabled(bool(self.text.strip() or self.attachments.items))

    def _fit(self) -> None:
        """Grow from one line to the most there is room for, then scroll."""
        line = self._theme.line("read")
        wanted = round(self._field.document().size().height())
        most = self._most_lines(line) * line
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if wanted > most else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self._field.setVerticalScrollBarPolicy(policy)
        text = min(most, max(_LEAST_LINES * line, wanted))
        foot = self.foot.arrange(max(1, self.width() - (16 - INSET) - 8))
        self._field.setGeometry(16, 12 - _DROP, max(1, self.width() - 16 - 16), text + _DROP)
        self.foot.move(16 - INSET, 12 + text + 8)
        height = 12 + text + 8 + foot + 8
        if height != self.height():
            self.setFixedHeight(height)
            self.height_changed.emit(height)

    def _most_lines(self, line: int) -> int:
        if not self._window_height:
            return _MOST_LINES
        room = self._window_height // 3 - (12 + 8 + LINE + 8)
        return max(_LEAST_LINES, min(_MOST_LINES, room // line))

    def _end_hint(self) -> None:
        self._hint.stop()
        self._show_note(self._note)

    def _show_note(self, text: str) -> None:
        warned = self._warned and not self._hint.isActive()
        self._label.set_role("critical" if warned else "ink-3")
        self._label.say(text)
        self._fit()


def sendable(text: str) -> str:
    """Return a message without blank lines before it and white space after it; indentation of its first line stays."""
    return _BLANK_LINES.sub("", text).rstrip()
