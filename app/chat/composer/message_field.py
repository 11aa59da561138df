"""The composer's text field: plain text only, keys that send or break the line, and no sending while a word is composed."""

from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QGuiApplication, QKeyEvent, QPainter, QPaintEvent, QTextBlockFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit, QWidget

from app.chat.file_drop import local_files
from app.theme import Theme

_RETURN = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_BREAKS = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier
LONG_TEXT = 4_000
"""Characters from which on a pasted text becomes an attachment."""
LONGEST_PLAIN = 50_000
"""Characters that the field takes at once and stays quick."""
_HELD = _BREAKS | Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier
_PARAGRAPH, _LINE = "\u2029", "\u2028"


class MessageField(QTextEdit):
    """Emits `send_pressed` for Return and `escape_pressed` for Escape; breaks the line on Shift+Return and Alt+Return.

    With `return_breaks` a Return breaks the line, and sends with Ctrl.

    Nothing is sent while an input method composes, nor by a Return that is held down: the Return that ends a composition
    must not send half a word.
    """

    send_pressed = Signal()
    escape_pressed = Signal()
    # The up arrow in an empty field.
    recall_pressed = Signal()
    focus_changed = Signal()
    # Where `takes_attachments`: files, a long text and a picture that were pasted or dropped.
    files_pasted = Signal(list)
    text_pasted = Signal(object)
    picture_pasted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._placeholder = ""
        self.takes_attachments = False
        self._plainly = False
        self.return_breaks = False
        self.setObjectName("composer")
        self.setAccessibleName("Message")
        self.setFont(theme.font("read"))
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QTextEdit.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setCursorWidth(2)
        self.document().setDocumentMargin(0)
        self._space_lines()
        self._line = theme.line("read")
        theme.changed.connect(self._dress)

    @property
    def composing(self) -> bool:
        """Whether an input method holds text that is not committed yet."""
        return bool(self.textCursor().block().layout().preeditAreaText())

    @property
    def text(self) -> str:
        """What is written, every character as it was typed (Qt's own plain text turns no-break spaces into spaces)."""
        return self.document().toRawText().replace(_PARAGRAPH, "\n").replace(_LINE, "\n")

    def replace(self, text: str, undoable: bool) -> None:
        """Put `text` in place of all there is, the caret at its end; `undoable` False forgets what was there before."""
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.removeSelectedText()
        cursor.insertText(text)
        cursor.endEditBlock()
        if not undoable:
            self.document().clearUndoRedoStacks()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def set_placeholder(self, text: str) -> None:
        """Show `text` while the field is empty."""
        self._placeholder = text
        self.setAccessibleDescription(text)
        self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        """Keep the font: another style sheet of the application takes it away."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and self.font() != self._theme.font("read"):
            self.setFont(self._theme.font("read"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send, break the line, or leave the key to the field."""
        if event.key() in _RETURN:
            self._take_return(event)
        elif _is_plain_paste(event):
            self.paste_plainly()
        elif event.key() == Qt.Key.Key_Escape and not self.composing:
            self.escape_pressed.emit()
        elif (
            event.key() == Qt.Key.Key_Up and self.document().isEmpty() and not self.composing and not event.modifiers() & _HELD
        ):
            self.recall_pressed.emit()
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take text; a file dropped here is not the text of its address."""
        files = source.hasUrls() and any(url.isLocalFile() for url in source.urls())
        return source.hasText() and not files

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste and drop the text alone, without its looks; files and a long text become attachments."""
        files = local_files(source)
        text = source.text() if source.hasText() else ""  # Once: it is turned into Python's own each time.
        if self.takes_attachments and files:
            self.files_pasted.emit(files)
        elif self.takes_attachments and self._is_long(text):
            self.text_pasted.emit(text)
        elif source.hasImage() and not source.hasText():
            self.picture_pasted.emit()
        elif self.canInsertFromMimeData(source):
            self.insertPlainText(text)
            self.ensureCursorVisible()

    def paste_plainly(self) -> None:
        """Paste into the text also what is long, as far as the field can bear it."""
        self._plainly = True
        self.paste()
        self._plainly = False

    def commit_composition(self) -> None:
        """Have the input method finish what it composes, where it can."""
        if self.composing:
            QGuiApplication.inputMethod().commit()

    def _is_long(self, text: str) -> bool:
        return len(text) > (LONGEST_PLAIN if self._plainly else LONG_TEXT)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The composer's edge shows the focus."""
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The composer's edge shows the focus."""
        super().focusOutEvent(event)
        self.focus_changed.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text; while there is none, the placeholder on the same baseline (Qt's own ignores the line height)."""
        super().paintEvent(event)
        if self._placeholder and self.document().isEmpty() and not self.composing:
            painter = QPainter(self.viewport())
            painter.setFont(self.font())
            painter.setPen(self._theme.color("ink-3"))
            line = self.document().firstBlock().layout().lineAt(0)
            top = self.document().documentLayout().blockBoundingRect(self.document().firstBlock()).top()
            shown = self.fontMetrics().elidedText(self._placeholder, Qt.TextElideMode.ElideRight, self.viewport().width())
            # Beside the caret, not under it.
            painter.drawText(QPointF(self.cursorWidth(), top + line.y() + line.ascent()), shown)

    def _take_return(self, event: QKeyEvent) -> None:
        event.accept()
        if self.composing:
            return
        if event.modifiers() & _BREAKS or (self.return_breaks and not event.modifiers() & Qt.KeyboardModifier.ControlModifier):
            cursor = self.textCursor()
            cursor.insertBlock()
            self.setTextCursor(cursor)
            self.ensureCursorVisible()
        elif not event.isAutoRepeat():
            self.send_pressed.emit()

    def _dress(self) -> None:
        """Take over another theme, and another text size where there is one."""
        if self._theme.line("read") != self._line:
            self._line = self._theme.line("read")
            self.setFont(self._theme.font("read"))
            self._space_lines()
        self.viewport().update()

    def _space_lines(self) -> None:
        """Give the first block the line height of reading text; every later block inherits it."""
        spacing = QTextBlockFormat()
        spacing.setLineHeight(self._theme.line("read"), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor = self.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(spacing)
        self.document().clearUndoRedoStacks()


def _is_plain_paste(event: QKeyEvent) -> bool:
    held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    return event.key() == Qt.Key.Key_V and held == both
