"""The small turning ring that says something is under way."""

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme

_TURN_MS = 900
_FRAME_MS = 33


class Spinner(QWidget):
    """A ring turning once in 0.9 s while it is visible; three still quarters where the system asks for less motion."""

    def __init__(self, theme: Theme, name: str = "Working", *, size: int = 12, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._elapsed_ms = 0
        self.setObjectName("spinner")
        self.setAccessibleName(name)
        self.setFixedSize(QSize(size, size))
        self._timer = QTimer(self, interval=_FRAME_MS)
        self._timer.timeout.connect(self._turn)
        theme.changed.connect(self.update)

    @property
    def turning(self) -> bool:
        """Whether the ring moves now."""
        return self._timer.isActive()

    def showEvent(self, event: QShowEvent) -> None:
        if not self._theme.still:
            self._timer.start()
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        angle = 0.0 if self._theme.still else self._elapsed_ms / _TURN_MS * 360
        span = 270.0 if self._theme.still else 90.0
        painter = QPainter(self)
        draw_ring(painter, QRectF(self.rect()), self._theme, start=90 - angle, span=span)

    def _turn(self) -> None:
        self._elapsed_ms = (self._elapsed_ms + _FRAME_MS) % _TURN_MS
        self.update()


def draw_ring(
    painter: QPainter, rect: QRectF, theme: Theme, *, start: float, span: float, role: str = "accent", width: float = 2.0
) -> None:
    """Paint a ring in the track's colour with an arc of `span` degrees, clockwise from `start` (90 is the top), over it."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    inset = width / 2 + 0.5
    area = rect.adjusted(inset, inset, -inset, -inset)
    painter.setPen(QPen(theme.color("track"), width))
    painter.drawEllipse(area)
    if span > 0:
        cap = Qt.PenCapStyle.RoundCap if span < 360 else Qt.PenCapStyle.FlatCap
        painter.setPen(QPen(theme.color(role), width, Qt.PenStyle.SolidLine, cap))
        painter.drawArc(area, round(start * 16), -round(min(span, 360.0) * 16))
    painter.restore()
