"""What every one-line field of the window has: a frame, a glow while it is edited, and keys left to an input method."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.theme import Theme
from app.widgets.composing import ComposingGuard
from app.widgets.frame import draw_frame
from app.widgets.halo import edit_glow

RADIUS = 6
_AROUND = 8


class LineField(QLineEdit):
    """A line of text in a style of the theme, 4 px over and under it. What is drawn under the text may be something else."""

    def __init__(self, theme: Theme, style: str = "ui", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._style = theme, style
        self.setFrame(False)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self._glow = edit_glow(theme, self, RADIUS)
        self._composing = ComposingGuard(self)
        theme.changed.connect(self._dress)
        self._dress()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.draw_ground(painter)
        painter.end()
        super().paintEvent(event)

    def draw_ground(self, painter: QPainter) -> None:
        """Draw what lies under the text."""
        color = self._theme.color
        if self.isEnabled():
            draw_frame(painter, self.rect(), RADIUS, color("field"), color(self.edge()))
        else:
            draw_frame(painter, self.rect(), RADIUS, line=color("separator"))

    def edge(self) -> str:
        """Return the role of the frame's line."""
        return "accent" if self.hasFocus() else "border-hi" if self.underMouse() else "border"

    def _dress(self) -> None:
        self._theme.dress(self, text_style(self._theme, "QLineEdit"), self._theme.font(self._style))
        self.setFixedHeight(self._theme.line(self._style) + _AROUND)
        self.update()


def text_style(theme: Theme, kind: str) -> str:
    """Return the style sheet of an editable text whose frame is painted by somebody else."""
    css = theme.css
    return (
        f"{kind} {{ background: transparent; border: none; color: {css('ink')}; selection-color: {css('ink')};"
        f" selection-background-color: {css('p3')}; placeholder-text-color: {css('ink-3')}; }}"
        f"{kind}:disabled {{ color: {css('ink-off')}; }}"
    )
