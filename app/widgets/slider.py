"""A slider over a range of numbers, even or logarithmic."""

import math

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame, faded, over
from app.widgets.halo import focus_ring

_KNOB = 16
_STEPS_PER_OCTAVE = 8
_KEYS = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Down: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Up: 1,
    Qt.Key.Key_PageDown: -10,
    Qt.Key.Key_PageUp: 10,
}


class Scale:
    """Where a value lies on a slider, from 0 to 1, and back.

    A logarithmic scale spends its length on ratios and stops at round values: eight to each doubling.
    """

    def __init__(self, minimum: float, maximum: float, step: float, logarithmic: bool) -> None:
        self.minimum, self.maximum, self.step = minimum, maximum, step
        self._logarithmic = logarithmic and minimum > 0

    def position(self, value: float) -> float:
        """Return the share of the length at `value`; values outside the range lie at the ends."""
        value = min(max(value, self.minimum), self.maximum)
        if self._logarithmic:
            return math.log(value / self.minimum) / math.log(self.maximum / self.minimum)
        return (value - self.minimum) / (self.maximum - self.minimum)

    def value(self, position: float) -> float:
        """Return the stop nearest to a share of the length."""
        position = min(max(position, 0.0), 1.0)
        if self._logarithmic:
            return self.snap(self.minimum * (self.maximum / self.minimum) ** position)
        return self.snap(self.minimum + (self.maximum - self.minimum) * position)

    def snap(self, value: float) -> float:
        """Return the stop nearest to `value`; both ends are stops."""
        if not self.minimum < value < self.maximum:
            return min(max(value, self.minimum), self.maximum)
        step = self.grain(value)
        base = 0.0 if self._logarithmic else self.minimum
        snapped = round(base + round((value - base) / step) * step, 10)
        return min(max(snapped, self.minimum), self.maximum)

    def move(self, value: float, steps: int) -> float:
        """Return the value that lies `steps` stops further."""
        for _ in range(abs(steps)):
            # Just under a doubling the finer step below it counts.
            grain = self.grain(value if steps > 0 else value * (1 - 1e-9))
            value = self.snap(value + math.copysign(grain, steps))
        return value

    def grain(self, value: float) -> float:
        """Return the distance between stops near `value`."""
        if not self._logarithmic:
            return self.step
        octave = math.floor(math.log2(max(value, 1.0)))
        return float(max(self.step, 2**octave / _STEPS_PER_OCTAVE))


class Slider(QWidget):
    """A track with a knob. `moved` carries each new value somebody sets with the pointer or the keys.

    Stone while its value is inherited, accented once changed here; a tick marks the inherited value then.
    """

    moved = Signal(float)

    def __init__(self, theme: Theme, name: str, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._name = theme, name
        self._scale = Scale(0.0, 1.0, 0.01, False)
        self._value: float | None = 0.0
        self._inherited: float | None = None
        self._changed = False
        self.setObjectName(f"slider.{name}")
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._ring = focus_ring(theme, self, _KNOB // 2, around=self._knob)
        theme.changed.connect(self.update)

    @property
    def value(self) -> float | None:
        """The value shown; None where none is set."""
        return self._value

    def set_range(self, minimum: float, maximum: float, step: float, logarithmic: bool = False) -> None:
        """Set the ends (inclusive) and the distance between stops."""
        self._scale = Scale(minimum, maximum, step, logarithmic)
        self.update()

    def set_value(self, value: float | None) -> None:
        """Show a value without saying so."""
        self._value = value
        self.setAccessibleDescription("" if value is None else f"{value:g}")
        self._ring.follow()
        self.update()

    def set_inherited(self, value: float | None, changed: bool) -> None:
        """Say what the value would be if it were not set here, and whether it is set here."""
        self._inherited, self._changed = value, changed
        self.update()

    def sizeHint(self) -> QSize:
        """20 px high, as wide as there is room."""
        return QSize(140, 20)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        strength = 1.0 if self.isEnabled() else 0.4
        middle = self.height() // 2
        knob = self._knob()
        draw_frame(painter, QRect(0, middle - 2, self.width(), 4), 2, faded(color("track"), strength))
        if self._value is not None:
            fill = color("accent" if self._changed else "m-mac")
            draw_frame(painter, QRect(0, middle - 2, knob.center().x(), 4), 2, faded(fill, strength))
        if self._changed and self._inherited is not None:
            x = self._x(self._inherited)
            painter.fillRect(QRect(x, middle - 5, 1, 10), color("ink-3"))
        self._paint_knob(painter, knob, strength)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._drag_to(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._drag_to(event.position().x())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the panel: scrolling past a slider must not change it."""
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        start = self._scale.minimum if self._value is None else self._value
        if key in _KEYS:
            self._set(self._scale.move(start, _KEYS[key]))
        elif key == Qt.Key.Key_Home:
            self._set(self._scale.minimum)
        elif key == Qt.Key.Key_End:
            self._set(self._scale.maximum)
        else:
            super().keyPressEvent(event)

    def _drag_to(self, x: float) -> None:
        self._set(self._scale.value((x - _KNOB / 2) / max(1, self.width() - _KNOB)))

    def _set(self, value: float) -> None:
        if value != self._value:
            self.set_value(value)
            self.moved.emit(value)

    def _x(self, value: float) -> int:
        return round(_KNOB / 2 + self._scale.position(value) * (self.width() - _KNOB))

    def _knob(self) -> QRect:
        center = self._x(self._scale.minimum if self._value is None else self._value)
        return QRect(center - _KNOB // 2, self.height() // 2 - _KNOB // 2, _KNOB, _KNOB)

    def _paint_knob(self, painter: QPainter, knob: QRect, strength: float) -> None:
        color = self._theme.color
        edge = color("ink-3") if self.underMouse() and self.isEnabled() else color("border-hi")
        ground = QColor(color("knob"))
        if strength < 1:
            # Opaque, or the track would show through the knob.
            ground = over(faded(ground, strength), color("panel"))
            edge = over(faded(edge, strength), color("panel"))
        draw_frame(painter, QRectF(knob), _KNOB / 2, ground, edge)
