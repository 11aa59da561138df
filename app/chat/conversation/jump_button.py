"""The button that brings a reader who scrolled up back to the end."""

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.button import Button
from app.widgets.frame import draw_frame
from engine.core.sizes import count_text


class JumpButton(Button):
    """Says how many lines are new, or where it leads."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Jump to the end", icon="down", small=True, parent=parent)
        self.setObjectName("jumpButton")
        self.setVisible(False)

    def count(self, lines: int) -> None:
        """Show how many lines were written since the reader left the end."""
        text = "Jump to the end" if lines < 1 else count_text(lines, "new line")
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text if lines < 1 else f"{text}, jump to the end")
            self.resize(self.sizeHint())

    def offer(self, lines: int, area: QRect, *, wanted: bool) -> None:
        """Stand at the bottom of `area`, of the parent, with the count of new lines; or not, where it is not `wanted`."""
        self.count(lines)
        self.setVisible(wanted)
        if wanted:
            self.resize(self.sizeHint())
            self.move(area.center().x() - self.width() // 2, area.bottom() - self.height() - 12)
            self.raise_()

    def sizeHint(self) -> QSize:
        """As a button, 28 high."""
        width = QFontMetrics(self._text_font()).horizontalAdvance(self.text())
        return QSize(width + self._icon_size() + 6 + 26, 28)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint an opaque ground first: text runs under the button."""
        painter = QPainter(self)
        draw_frame(painter, self.rect(), 6, self._theme.color("raised"))
        painter.end()
        super().paintEvent(event)
