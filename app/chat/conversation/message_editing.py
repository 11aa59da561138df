"""The edit of one message: a field in place of what its view shows, for as long as it takes."""

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from app.chat.conversation.message_editor import MessageEditor
from app.theme import Theme


class Editing(QObject):
    """Belongs to a view, which puts away what it shows meanwhile. A press on Cancel is only told: the view ends the edit."""

    submitted = Signal(str)
    changed = Signal(str)
    cancelled = Signal()
    height_changed = Signal()

    def __init__(self, theme: Theme, view: QWidget) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view
        self._editor: MessageEditor | None = None
        self._busy = False

    @property
    def active(self) -> bool:
        """Whether the message is being edited."""
        return self._editor is not None

    def begin(self, text: str, *, reply: bool, bare: bool = False, focus: bool = True) -> None:
        """Put a field with `text` in the message's place, with the caret if `focus`; where there is one already it stays.

        `bare` says that the message can be sent without text.
        """
        if self._editor is None:
            self._open(MessageEditor(self._theme, text, reply=reply, bare=bare, parent=self._view))
        if focus and self._editor is not None:
            self._editor.focus_text()

    def _open(self, editor: MessageEditor) -> None:
        self._editor = editor
        self._editor.set_busy(self._busy)
        self._editor.submitted.connect(self.submitted)
        self._editor.text_changed.connect(self.changed)
        self._editor.cancelled.connect(self.cancelled)
        self._editor.height_changed.connect(self.height_changed)
        self._editor.show()
        self.height_changed.emit()

    def end(self, focus: QWidget) -> None:
        """Show the message again; the keyboard's focus, where the field had it, goes to `focus`."""
        if self._editor is None:
            return
        editor, self._editor = self._editor, None
        focused = editor.isAncestorOf(self._view.window().focusWidget() or self._view)
        editor.hide()
        editor.deleteLater()
        if focused:
            focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_busy(self, busy: bool) -> None:
        """Keep what is written in the field as long as another reply is on its way."""
        self._busy = busy
        if self._editor is not None:
            self._editor.set_busy(busy)

    def arrange(self, left: int, width: int) -> int:
        """Put the field at the view's top; return its height."""
        if self._editor is None:
            return 0
        height = self._editor.height_at(width)
        self._editor.setGeometry(left, 0, width, height)
        return height
