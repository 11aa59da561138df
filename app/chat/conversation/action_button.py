"""What can be done with a message: a quiet icon that comes with the pointer and is always there for the keyboard."""

from PySide6.QtCore import QAbstractAnimation, QVariantAnimation, Signal
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.icon_button import IconButton

FADE_MS = 90


class ActionButton(IconButton):
    """24 px square, its icon 14. `strength`, from 0 to 1, is how much of it is seen."""

    focus_changed = Signal()

    def __init__(self, theme: Theme, icon: str, name: str, handle: str, parent: QWidget) -> None:
        super().__init__(theme, icon, name, size=24, icon_size=14, role="ink-3", parent=parent)
        self.setObjectName(handle)
        self.strength = 1.0

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw as much of it as is to be seen."""
        if self.strength > 0:
            painter = QPainter(self)
            painter.setOpacity(self.strength)
            self.draw(painter)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()


class Fading:
    """Lets buttons come and go together, in 90 ms, or at once where less motion is asked for."""

    def __init__(self, theme: Theme, buttons: tuple[ActionButton, ...]) -> None:
        self._theme, self._buttons = theme, buttons
        self._motion = QVariantAnimation(buttons[0])
        self._motion.setDuration(FADE_MS)
        self._motion.valueChanged.connect(self._set)
        self._shown = True

    @property
    def shown(self) -> bool:
        """Whether they are there, or coming."""
        return self._shown

    def show(self, shown: bool) -> None:
        """Let them come or go."""
        if shown == self._shown:
            return
        self._shown = shown
        start, end = self._buttons[0].strength, float(shown)
        self._motion.stop()
        if self._theme.still or not self._buttons[0].isVisible():
            self._set(end)
            return
        self._motion.setStartValue(start)
        self._motion.setEndValue(end)
        self._motion.start(QAbstractAnimation.DeletionPolicy.KeepWhenStopped)

    def _set(self, strength: float) -> None:
        for button in self._buttons:
            button.strength = strength
            button.update()
