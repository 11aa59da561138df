"""Scrolling while text is selected over the edge of the list: the text is as tall as its message and does not scroll itself."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, QTimer
from PySide6.QtWidgets import QAbstractScrollArea

_TICK_MS = 30
_FASTEST = 60


class DragScroll(QObject):
    """Scrolls `area` while the pointer selects above or below it, faster the further it is away.

    After each step `extend` gets the pointer's place, in global pixels.
    """

    def __init__(self, area: QAbstractScrollArea, extend: Callable[[QPoint], None]) -> None:
        super().__init__(area)
        self._area = area
        self._extend = extend
        self._pointer = QPoint()
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self.tick)

    @property
    def active(self) -> bool:
        """Whether the list is being scrolled."""
        return self._timer.isActive()

    def follow(self, pointer: QPoint) -> None:
        """Take note of where the pointer is."""
        self._pointer = pointer
        if not self._distance():
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()

    def stop(self) -> None:
        """The pointer was let go."""
        self._timer.stop()

    def tick(self) -> None:
        """Scroll one step and take the selection along."""
        distance = self._distance()
        if not distance:
            self._timer.stop()
            return
        bar = self._area.verticalScrollBar()
        bar.setValue(bar.value() + max(-_FASTEST, min(_FASTEST, distance)))
        self._extend(self._pointer)

    def _distance(self) -> int:
        """Return how many pixels the pointer is under (over: negative) the list, 0 inside it."""
        viewport = self._area.viewport()
        y = viewport.mapFromGlobal(self._pointer).y()
        return y if y < 0 else max(0, y - viewport.height())
