"""What stands where a long text is still to come: quiet bars, as lines of text would stand there. Nothing moves in them."""

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter

from app.theme import Theme
from app.widgets.frame import draw_frame

# How much of the width each line takes, over and over; between two paragraphs none.
_LINES = (0.98, 0.94, 1.0, 0.61, 0.0, 0.95, 0.99, 0.46, 0.0, 1.0, 0.92, 0.97, 0.95, 0.73, 0.0)
# Of the line's height.
_THICKNESS = 0.4


def paint_lines(painter: QPainter, theme: Theme, place: QRect, shown: int, seen: QRect) -> None:
    """Paint the lines of a text's `place` under the `shown` pixels that are there already, as far as they are `seen`."""
    height = theme.line("read")
    thickness = round(height * _THICKNESS)
    above = (height - thickness) // 2
    first = max(-(-shown // height), (seen.top() - place.top()) // height)
    last = min(place.height(), seen.bottom() + 1 - place.top()) // height
    for line in range(max(0, first), last + 1):
        width = round(place.width() * _LINES[line % len(_LINES)])
        bar = QRectF(place.left(), place.top() + line * height + above, width, thickness)
        if width and bar.bottom() <= place.bottom() + 1:
            draw_frame(painter, bar, thickness / 2, theme.color("selected"))
