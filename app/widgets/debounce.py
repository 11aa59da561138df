"""Waits until somebody stops typing, or dragging."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 400


class Debounce(QObject):
    """Calls `action` 400 ms after the last `touch`, or at once by `flush`; what was touched is never left undone by either."""

    def __init__(self, action: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._action = action
        self._timer = QTimer(self, interval=INTERVAL_MS, singleShot=True)
        self._timer.timeout.connect(self._action)

    @property
    def waiting(self) -> bool:
        """Whether the action is still to come."""
        return self._timer.isActive()

    def touch(self) -> None:
        """Start waiting anew."""
        self._timer.start()

    def flush(self) -> None:
        """Do what is waiting now; nothing where nothing is."""
        if self._timer.isActive():
            self._timer.stop()
            self._action()

    def forget(self) -> None:
        """Drop what is waiting."""
        self._timer.stop()
