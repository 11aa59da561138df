"""The heading line of a gauge."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter

from app.theme import Theme


def draw_heading(painter: QPainter, theme: Theme, line: QRect, text: str, note: str, *, quiet: bool = False) -> None:
    """Paint `text` at the left of a line and `note` at its right; `quiet` dims the text while nothing runs."""
    painter.setPen(theme.color("ink-2" if quiet else "ink"))
    painter.setFont(theme.font("small", 500))
    painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
    painter.setPen(theme.color("ink-3"))
    painter.setFont(theme.font("caption"))
    painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, note)
