"""The rounded, one-line frame that every control and card is painted with."""

from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen


def draw_frame(
    painter: QPainter,
    rect: QRect | QRectF,
    radius: float,
    fill: QColor | None = None,
    line: QColor | None = None,
    width: float = 1.0,
) -> None:
    """Paint a rounded rectangle; the line, `width` pixels wide, lies inside `rect`, so that its edges stay sharp."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    area = QRectF(rect)
    if fill is not None:
        # Under the whole line, not to its inner edge: two antialiased edges side by side would let the ground through.
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        inset = 0.25 if line is not None else 0.0
        painter.drawRoundedRect(area.adjusted(inset, inset, -inset, -inset), radius, radius)
    if line is not None:
        half = width / 2
        painter.setPen(QPen(line, width))
        painter.setBrush(QBrush(Qt.BrushStyle.NoBrush))
        painter.drawRoundedRect(area.adjusted(half, half, -half, -half), max(0.0, radius - half), max(0.0, radius - half))
    painter.restore()


def draw_hairline(painter: QPainter, start: QPointF, end: QPointF, color: QColor) -> None:
    """Paint a one-pixel line between two whole-pixel points, its body right of or below them."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QPen(color, 1))
    painter.drawLine(QLineF(start, end))
    painter.restore()


def over(top: QColor, ground: QColor) -> QColor:
    """Return the opaque colour that a translucent `top` gives over `ground`."""
    share = top.alphaF()

    def mixed(a: int, b: int) -> int:
        return round(a * share + b * (1 - share))

    return QColor(mixed(top.red(), ground.red()), mixed(top.green(), ground.green()), mixed(top.blue(), ground.blue()))


def faded(color: QColor, share: float) -> QColor:
    """Return `color` with its opacity multiplied by `share`, from 0 to 1."""
    result = QColor(color)
    result.setAlphaF(color.alphaF() * share)
    return result
