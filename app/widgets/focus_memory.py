"""Where the keyboard was in a window, for when the part that has it goes."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid


class FocusMemory(QObject):
    """Remembers which parts of a window had the keyboard, in their order.

    Of what is hidden or disabled Qt gives the keyboard on as Tab would, by the window's `focusNextPrevChild`: after the last
    part to the first, wherever that is. A window that asks `go_back` there has it return instead.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._had: list[QWidget] = []
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._remember)

    def go_back(self) -> bool:
        """Give the keyboard back to what had it last and can have it, if what has it is gone; return whether it went."""
        gone = self._window.focusWidget()
        if gone is None or _can_have(gone):
            return False
        back = next((part for part in reversed(self._had) if isValid(part) and _can_have(part)), None)
        if back is not None:
            back.setFocus()
        return back is not None

    def _remember(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and new.window() is self._window:
            self._had = [part for part in self._had if isValid(part) and part is not new] + [new]


def _can_have(part: QWidget) -> bool:
    return part.isVisible() and part.isEnabled()
