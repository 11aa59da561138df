"""Lets a figure change at most four times a second, without losing the last one."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 250


class Throttle(QObject):
    """Calls `action` for the first request at once, and once more at the end of each interval with requests in it."""

    def __init__(self, action: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._action = action
        self._asked_again = False
        self._timer = QTimer(self, interval=INTERVAL_MS, singleShot=True)
        self._timer.timeout.connect(self._rest_over)

    def request(self) -> None:
        """Ask for the action."""
        if self._timer.isActive():
            self._asked_again = True
            return
        self._action()
        self._timer.start()

    def _rest_over(self) -> None:
        if self._asked_again:
            self._asked_again = False
            self._action()
            self._timer.start()
