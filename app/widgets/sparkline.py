"""The last minute of a rate as a line."""

import time
from collections import deque
from collections.abc import Callable
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPainterPath, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.frame import draw_hairline

SPAN_S = 60.0
_GAP_S = 1.5
_HEADROOM = 1.1
_RUNNING_MS = 250
"""About what a pixel stands for: a point more often would not be seen, and each picture takes its time from the engine."""
_RESTING_MS = 1000
_DOT = 2.5


class Sparkline(QWidget):
    """Rates over the last 60 s, each as a share of the limit of the phase it was measured in.

    `add` takes one rate; of those in a quarter of a second the newest stays. Where none came for 1.5 s there is a gap. Without
    a limit the phase's highest visible rate takes its place and no dashed line is drawn.
    """

    def __init__(self, theme: Theme, *, clock: Callable[[], float] = time.monotonic, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._clock = theme, clock
        self._points: deque[tuple[float, float, str]] = deque()
        self._limits: dict[str, float | None] = {}
        self.setObjectName("sparkline")
        self.setAccessibleName("Speed over the last minute")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(28)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        # The picture moves on its own as time passes; it stands still once it is empty.
        self._timer = QTimer(self, interval=_RESTING_MS)
        self._timer.timeout.connect(self._pass_time)
        theme.changed.connect(self.update)

    @property
    def points(self) -> tuple[tuple[float, float, str], ...]:
        """What is drawn: age in seconds, rate, phase; oldest first."""
        now = self._clock()
        return tuple((now - at, rate, phase) for at, rate, phase in self._points)

    def add(self, rate: float, phase: str) -> None:
        """Add a rate measured now in `phase`."""
        now = self._clock()
        before = self._points[-2] if len(self._points) > 1 else None
        if before and before[2] == self._points[-1][2] == phase and now - before[0] < _RUNNING_MS / 1000:
            self._points.pop()
        self._points.append((now, max(0.0, rate), phase))
        self._forget()
        if self.isVisible():
            self._timer.start(_RUNNING_MS)

    def set_limit(self, phase: str, limit: float | None) -> None:
        """Set the rate that cannot be passed in `phase`, None where it is not known."""
        self._limits[phase] = limit
        if not self._timer.isActive():
            # A limit moves with every token; while the picture moves by itself, it is seen soon enough.
            self.update()

    def clear(self) -> None:
        """Forget every rate."""
        self._points.clear()
        self.update()

    def sizeHint(self) -> QSize:
        """28 px high, as wide as there is room."""
        return QSize(220, 28)

    def showEvent(self, event: QShowEvent) -> None:
        if self._points:
            self._timer.start(_RESTING_MS)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        painter.fillRect(self.rect(), color("raised"))
        floor = self.height() - 1
        draw_hairline(painter, QPointF(0, floor), QPointF(self.width() - 1, floor), color("separator"))
        if any(limit for limit in self._limits.values()):
            self._paint_limit(painter)
        now = self._clock()
        for run in self._runs():
            self._paint_run(painter, run, now)

    def _paint_limit(self, painter: QPainter) -> None:
        y = self._y(1.0)
        pen = QPen(self._theme.color("ink-3"), 1)
        pen.setDashPattern([2, 3])
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(pen)
        painter.drawLine(0, round(y), self.width(), round(y))
        painter.restore()

    def _paint_run(self, painter: QPainter, run: list[tuple[float, float, str]], now: float) -> None:
        scale = self._scale(run[0][2])
        corners = [QPointF(self._x(now - at), self._y(rate / scale)) for at, rate, _ in run]
        floor = self.height() - 1.0
        ground = QPainterPath(QPointF(corners[0].x(), floor))
        for corner in corners:
            ground.lineTo(corner)
        ground.lineTo(QPointF(corners[-1].x(), floor))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(QRectF(0, 0, self.width(), self.height()))
        painter.fillPath(ground, QColor(self._theme.color("accent-soft")))
        pen = QPen(self._theme.color("accent"), 1.5)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawPolyline(corners)
        if now - run[-1][0] < _GAP_S:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("accent"))
            painter.drawEllipse(corners[-1], _DOT, _DOT)
        painter.restore()

    def _runs(self) -> list[list[tuple[float, float, str]]]:
        runs: list[list[tuple[float, float, str]]] = [[self._points[0]]] if self._points else []
        for before, point in pairwise(self._points):
            if point[0] - before[0] > _GAP_S or point[2] != before[2]:
                runs.append([])
            runs[-1].append(point)
        return runs

    def _scale(self, phase: str) -> float:
        limit = self._limits.get(phase)
        highest = max((rate for _, rate, kind in self._points if kind == phase), default=0.0)
        # A rate over its limit is shown, not cut off: the limit is only as good as what is known of the chip.
        return max(limit or 0.0, highest if limit is None else highest / _HEADROOM, 1e-9)

    def _x(self, age: float) -> float:
        return (self.width() - _DOT) * (1 - age / SPAN_S)

    def _y(self, share: float) -> float:
        top, floor = _DOT, self.height() - 1.0
        return floor - min(share / _HEADROOM, 1.0) * (floor - top)

    def _pass_time(self) -> None:
        self._forget()
        newest = self._clock() - self._points[-1][0] if self._points else SPAN_S
        if not self._points:
            self._timer.stop()
        elif newest > _GAP_S:
            self._timer.setInterval(_RESTING_MS)
        self.update()

    def _forget(self) -> None:
        now = self._clock()
        while self._points and now - self._points[0][0] > SPAN_S:
            self._points.popleft()
