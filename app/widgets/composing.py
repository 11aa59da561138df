"""Keeps keys that end something away from a field while an input method composes in it."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QWidget

_HELD = {
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
    Qt.Key.Key_Escape,
    Qt.Key.Key_Tab,
    Qt.Key.Key_Backtab,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
}


class ComposingGuard(QObject):
    """Watches one field. The Return that picks a candidate, or the Escape that gives it up, is the input method's alone.

    Some input methods let such a key through to the field, which would then search for, or rename to, half a word.
    """

    def __init__(self, field: QWidget) -> None:
        super().__init__(field)
        self._composing = False
        field.installEventFilter(self)

    def holds(self, event: QEvent) -> bool:
        """Return whether an event is a key that the field must not get now."""
        return self._composing and isinstance(event, QKeyEvent) and Qt.Key(event.key()) in _HELD

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Follow the composition, and take the keys away while there is one."""
        if isinstance(event, QInputMethodEvent):
            self._composing = bool(event.preeditString())
        elif event.type() == QEvent.Type.FocusOut:
            self._composing = False
        elif event.type() in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride) and self.holds(event):
            event.accept()
            return True
        return False
