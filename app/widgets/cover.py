"""What opens over the window until something is chosen in it, or it is left."""

from collections.abc import Callable, Sequence
from typing import cast

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.theme import Theme
from app.widgets.shadow import Shadow


class Cover(QWidget):
    """Covers the window without being seen, so that a press beside its card closes it. `closed` comes each time it has gone.

    A part of the window and not a window of its own: a window needs a compositor for its soft shadow and rounded corners, and
    takes the focus from the window it belongs to. It goes too when the keyboard goes elsewhere, and when the window goes.
    """

    closed = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._before: Sequence[QWidget] = ()
        self.hide()

    def set_seen(self, theme: Theme, card: QWidget, radius: int, where: Callable[[], QRect]) -> None:
        """Take what is seen of it; `where` tells the card's place in a window of this size."""
        self._seen, self._where = card, where
        self._shadow = Shadow(theme, card, radius)

    def place(self) -> None:
        """Put the card where it belongs in a window of this size."""
        self._seen.setGeometry(self._where())

    def open_over(self, before: Sequence[QWidget]) -> None:
        """Show it; the caller puts the keyboard in it, and the first of `before` that can take it has it afterwards."""
        self._before = before
        self._fit()
        self.show()
        self.raise_()
        self.window().installEventFilter(self)
        _application().focusChanged.connect(self._follow_focus)

    def leave(self) -> None:
        """Take it away and give the keyboard back."""
        if self.isHidden():
            return
        _application().focusChanged.disconnect(self._follow_focus)
        self.window().removeEventFilter(self)
        focus = QApplication.focusWidget()
        # Before it is hidden: hiding what has the focus hands it to just any widget.
        if focus is None or self._holds(focus):
            self._give_back(focus)
        self._before = ()
        self.hide()
        self.closed.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press beside the card closes, and does nothing else."""
        if not self._seen.geometry().contains(event.position().toPoint()):
            self.leave()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes; no other key reaches the window behind."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        event.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's size; go when the window goes."""
        if watched is self.window():
            if event.type() == QEvent.Type.Resize:
                self._fit()
            elif event.type() in (QEvent.Type.Hide, QEvent.Type.Close):
                self.leave()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        self.setGeometry(self.window().rect())
        self.place()

    def _follow_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        # None: another application is in front. What is open waits for its reader to come back.
        if new is not None and not self._holds(new):
            self.leave()

    def _holds(self, widget: QWidget) -> bool:
        return widget is self or self.isAncestorOf(widget)

    def _give_back(self, focus: QWidget | None) -> None:
        # What had it may be gone by now, as a title's field is, or out of sight: then it is for what that was in.
        for widget in self._before:
            if isValid(widget) and widget.isVisible() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus:
                widget.setFocus(Qt.FocusReason.PopupFocusReason)
                return
        if focus is not None:
            focus.clearFocus()


def _application() -> QApplication:
    return cast("QApplication", QApplication.instance())
