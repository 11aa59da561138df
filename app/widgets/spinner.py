"""The small turning ring that says something is under way."""

from PySide6.QtCore import QRectF, QSize, QSizeF, Qt, QTimer
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent, QPen, QPixmap, QShowEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme

_TURN_MS = 900
_FRAME_MS = 50
"""Twenty a second are enough for twelve pixels, and each frame takes its time from the engine."""


class Spinner(QWidget):
    """A ring turning once in 0.9 s while it is visible; three still quarters where the system asks for less motion."""

    def __init__(self, theme: Theme, name: str = "Working", *, size: int = 12, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._elapsed_ms = 0
        self._ground: QColor | None = None
        self._frames: dict[int, QPixmap] = {}
        self.setObjectName("spinner")
        self.setAccessibleName(name)
        self.setFixedSize(QSize(size, size))
        self._timer = QTimer(self, interval=_FRAME_MS)
        self._timer.timeout.connect(self._turn)
        theme.changed.connect(self._forget_frames)

    @property
    def turning(self) -> bool:
        """Whether the ring moves now."""
        return self._timer.isActive()

    def stand_on(self, ground: QColor) -> None:
        """Take the opaque colour that is behind: a frame then paints this widget alone, not all that it lies on."""
        if ground != self._ground:
            self._ground = ground
            self._frames.clear()
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def showEvent(self, event: QShowEvent) -> None:
        if not self._theme.still:
            self._timer.start()
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        moment = -1 if self._theme.still else self._elapsed_ms
        frame = self._frames.get(moment)
        if frame is None or frame.devicePixelRatio() != self.devicePixelRatioF():
            frame = self._frames[moment] = self._draw(moment)
        QPainter(self).drawPixmap(0, 0, frame)

    def _draw(self, moment: int) -> QPixmap:
        """The ring `moment` ms into its turn, -1 where it stands still. There are few, and arcs take a while to draw."""
        ratio = self.devicePixelRatioF()
        frame = QPixmap((QSizeF(self.size()) * ratio).toSize())
        frame.setDevicePixelRatio(ratio)
        frame.fill(self._ground or Qt.GlobalColor.transparent)
        start, span = (90.0, 270.0) if moment < 0 else (90 - moment / _TURN_MS * 360, 90.0)
        painter = QPainter(frame)
        draw_ring(painter, QRectF(self.rect()), self._theme, start=start, span=span)
        painter.end()
        return frame

    def _forget_frames(self) -> None:
        self._frames.clear()
        self.update()

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
