"""The small sign of what the model does now: an empty ring, a turning one, a dot, a warning."""

from typing import Literal

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QProgressBar, QWidget

from app.theme import Theme
from app.widgets.spinner import Spinner

type ModelState = Literal["none", "loading", "ready", "failed", "writing", "reading"]

SIZE = 14
BUSY = ("loading", "writing", "reading")


class StateGlyph(QWidget):
    """14 px square. Deaf to the mouse, so that the picker under it is clicked."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state: ModelState = "none"
        self._spinner = Spinner(theme, parent=self)
        self._spinner.move((SIZE - self._spinner.width()) // 2, (SIZE - self._spinner.height()) // 2)
        self._spinner.hide()
        self.setFixedSize(QSize(SIZE, SIZE))
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.changed.connect(self.update)

    def stand_on(self, ground: QColor) -> None:
        """Take the opaque colour that is behind."""
        self._spinner.stand_on(ground)

    def show_state(self, state: ModelState) -> None:
        """Show the sign of a state."""
        self._state = state
        self._spinner.setVisible(state in BUSY)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        center = QPointF(SIZE / 2, SIZE / 2)
        if self._state == "none":
            painter.setPen(QPen(self._theme.color("ink-3"), 1.5))
            painter.drawEllipse(center, 3.5, 3.5)
        elif self._state == "ready":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("ink-3"))
            painter.drawEllipse(center, 4, 4)
        elif self._state == "failed":
            pixmap = self._theme.pixmap("warn", "critical", SIZE, self.devicePixelRatioF())
            painter.drawPixmap(QRectF(0, 0, SIZE, SIZE).topLeft(), pixmap)


class LoadProgress(QProgressBar):
    """How far a load is, for assistive tools and automation; the eye reads it from the turning ring and the line beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("loadProgress")
        self.setAccessibleName("Loading the model")
        self.setTextVisible(False)
        self.setRange(0, 100)
        self.setFixedSize(QSize(SIZE, SIZE))
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_fraction(self, fraction: float | None) -> None:
        """Take a fraction from 0 to 1, or None while it is not known."""
        if fraction is None:
            self.setRange(0, 0)
        else:
            self.setRange(0, 100)
            self.setValue(round(min(max(fraction, 0.0), 1.0) * 100))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Nothing of its own."""
