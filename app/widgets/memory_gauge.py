"""The gauge of the machine's memory: who holds how much, and what a model may take."""

import sys

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from app.widgets.heading import draw_heading
from app.widgets.throttle import Throttle
from engine.core.facts import MemoryReading
from engine.core.record import Record

# Memory is counted as Activity Monitor does: 1024³ bytes, called GB.
_GB = 1024**3
_REST = "Rest of Mac" if sys.platform == "darwin" else "Rest of system"


class Part(Record):
    """One part of the bar: its label, its colour's role and its size in bytes."""

    label: str
    role: str
    size: int


def parts(reading: MemoryReading) -> tuple[Part, ...]:
    """Split the machine's memory: weights, KV, cache, Flint itself, the rest of the system, free.

    What MLX holds is part of the process's footprint; where the footprint is smaller (mapped weights are not counted in it),
    the sum of the parts is taken.
    """
    mlx = reading.weights + reading.kv + reading.cached
    used = max(reading.footprint, mlx)
    rest = max(0, reading.total - reading.available - used)
    return (
        Part("Weights", "m-weights", reading.weights),
        Part("KV", "m-kv", reading.kv),
        Part("Cache", "m-cache", reading.cached),
        Part("Flint", "m-flint", used - mlx),
        Part(_REST, "m-mac", rest),
        Part("Free", "m-free", max(0, reading.total - used - rest)),
    )


class MemoryGauge(QWidget):
    """A bar of the machine's memory with a line at the budget, over a legend with figures in GB."""

    def __init__(self, theme: Theme, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._reading: MemoryReading | None = None
        self._parts: tuple[Part, ...] = ()
        self._wanted: MemoryReading | None = None
        self.setObjectName("memoryGauge")
        self.setAccessibleName("Memory")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(16 + 10 + 8 + 10 + 48)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._throttle = Throttle(self._refresh, self)
        theme.changed.connect(self.update)

    @property
    def text(self) -> str:
        """What the gauge says: used of the budget."""
        if self._reading is None:
            return ""
        used = sum(part.size for part in self._parts[:4])
        budget = self._reading.budget
        return f"{used / _GB:.1f} of {budget / _GB:.1f} GB" if budget else f"{used / _GB:.1f} GB"

    def show_reading(self, reading: MemoryReading) -> None:
        """Show a reading, at most four a second."""
        self._wanted = reading
        self._throttle.request()

    def sizeHint(self) -> QSize:
        """A heading, the bar and three lines of legend."""
        return QSize(220, self.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        painter.fillRect(self.rect(), color("raised"))
        draw_heading(painter, self._theme, QRect(0, 0, self.width(), 16), "Memory", self.text)
        bar = QRect(0, 26, self.width(), 8)
        if self._reading is None or self._reading.total <= 0:
            draw_frame(painter, bar, 4, color("m-free"))
        else:
            self._paint_bar(painter, bar, self._reading)
        painter.setFont(self._theme.font("caption"))
        self._paint_legend(painter, QPoint(0, 44))

    def _paint_bar(self, painter: QPainter, bar: QRect, reading: MemoryReading) -> None:
        spans = widths([part.size for part in self._parts], reading.total, bar.width())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(bar), 4, 4)
        painter.setClipPath(outline)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        x = float(bar.left())
        for part, width in zip(self._parts, spans, strict=True):
            if width > 0:
                painter.fillRect(QRectF(x, bar.top(), width, bar.height()), self._theme.color(part.role))
                x += width + 1
        painter.restore()
        if reading.budget > 0:
            at = min(reading.total, self._parts[4].size + reading.budget) / reading.total
            left = round(at * bar.width()) - 1
            painter.fillRect(QRect(min(left, bar.right() - 1), bar.top() - 3, 2, bar.height() + 6), self._theme.color("ink"))

    def _paint_legend(self, painter: QPainter, corner: QPoint) -> None:
        labels = self._parts or parts(MemoryReading(0, 0, 0, 0, 0, 0, 0, 0, 0))
        # The columns are as wide as their longest label and figure, so that no figure moves what is beside it.
        metrics = painter.fontMetrics()
        figure = metrics.horizontalAdvance("88.8")
        right = max(metrics.horizontalAdvance(part.label) for part in labels[3:]) + 14 + 6 + figure
        right = max(right, (self.width() - 16) // 2)
        columns = (QRect(0, 0, self.width() - right - 12, 16), QRect(self.width() - right, 0, right, 16))
        for index, part in enumerate(labels):
            row = columns[index // 3].translated(corner.x(), corner.y() + 16 * (index % 3))
            draw_frame(painter, QRect(row.left(), row.top() + 4, 8, 8), 2, self._theme.color(part.role))
            painter.setPen(self._theme.color("ink-2"))
            painter.drawText(row.adjusted(14, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, part.label)
            painter.setPen(self._theme.color("ink"))
            text = figure_text(part.size) if self._reading is not None else ""
            painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _refresh(self) -> None:
        self._reading = self._wanted
        if self._reading is None:
            return
        self._parts = parts(self._reading)
        name = f"Memory, {self.text}"
        if name != self.accessibleName():
            self.setAccessibleName(name)
            self.setAccessibleDescription(", ".join(f"{part.label} {part.size / _GB:.1f} GB" for part in self._parts))
        self.update()


def figure_text(size: int) -> str:
    """Return a size in GB, never longer than four characters on any machine Flint runs on: 0.3, 32.2, 128."""
    gigabytes = size / _GB
    return f"{gigabytes:.1f}" if gigabytes < 99.95 else f"{gigabytes:.0f}"


def widths(sizes: list[int], total: int, length: int) -> list[float]:
    """Return the width in pixels of each part of a bar `length` pixels long that stands for `total` bytes.

    Parts of zero take nothing; every other part at least 2 px, with 1 px between parts; what that costs is taken from the
    last part that has it to spare (the free memory), so that the widths and gaps fill the bar.
    """
    shown = [size > 0 for size in sizes]
    room = length - max(0, sum(shown) - 1)
    result = [max(2.0, float(round(room * size / total))) if size > 0 else 0.0 for size in sizes]
    over = sum(result) - room
    for index in sorted(range(len(sizes)), key=lambda index: (index != len(sizes) - 1, -sizes[index])):
        if shown[index]:
            taken = min(over, result[index] - 2.0)
            result[index] -= taken
            over -= taken
    return result
