"""The line on the composer's top edge: how far the prompt is read, that a reply is being written, that it is stopping."""

from typing import Literal

from PySide6.QtCore import QElapsedTimer, QEvent, QRectF, Qt, QTimerEvent
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from app.theme import Theme

type Phase = Literal["idle", "queued", "reading", "writing", "stopping"]

_FRAME_MS = 50
"""As the spinner's, so that Qt lets both timers fire together and paints once for the two."""
_CROSSING_MS = 1200
_BRIGHT = 1 / 6
_NAMES = {
    "idle": "Idle",
    "queued": "Waiting for the model",
    "reading": "Reading the prompt",
    "writing": "Writing a reply",
    "stopping": "Stopping",
}


class PhaseLine(QProgressBar):
    """2 px high, painted; to assistive tools a progress bar whose name says the phase. Hidden while idle."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._phase: Phase = "idle"
        self._fraction = 0.0
        self._timer = 0
        self._clock = QElapsedTimer()
        self.setObjectName("prefillProgress")
        self.setFixedHeight(2)
        self.setTextVisible(False)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        theme.changed.connect(self.update)

    @property
    def phase(self) -> Phase:
        """What is shown."""
        return self._phase

    @property
    def fraction(self) -> float:
        """How much of the prompt is read, 0 to 1; 0 in another phase."""
        return self._fraction

    @property
    def moving(self) -> bool:
        """Whether the bright part is in motion right now."""
        return self._timer != 0

    def show_phase(self, phase: Phase, fraction: float = 0.0) -> None:
        """Show a phase; `fraction` (held within 0 and 1) is drawn while reading only."""
        if phase == "writing" and self._phase != "writing":
            self._clock.start()
        self._phase = phase
        self._fraction = min(1.0, max(0.0, fraction)) if phase == "reading" else 0.0
        self._tell()
        self.setVisible(phase != "idle")
        self._move()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the phase over the whole width."""
        del event
        painter = QPainter(self)
        whole = QRectF(self.rect())
        if self._phase == "stopping":
            painter.fillRect(whole, self._theme.color("ink-3"))
            return
        painter.fillRect(whole, self._theme.color("track"))
        accent = self._theme.color("accent")
        if self._phase == "reading":
            painter.fillRect(QRectF(0, 0, whole.width() * self._fraction, whole.height()), accent)
        elif self._phase == "writing" and self._theme.still:
            painter.fillRect(whole, accent)
        elif self._phase == "writing":
            painter.setOpacity(0.35)
            painter.fillRect(whole, accent)
            painter.setOpacity(1.0)
            painter.fillRect(self._bright(whole), accent)

    def showEvent(self, event: QShowEvent) -> None:
        """Move again once it can be seen."""
        super().showEvent(event)
        self._move()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nothing moves that nobody sees."""
        super().hideEvent(event)
        self._move()

    def timerEvent(self, event: QTimerEvent) -> None:
        """Draw the next frame, unless the window was minimised or less motion was asked for meanwhile."""
        if event.timerId() != self._timer:
            super().timerEvent(event)
            return
        self._move()
        if not self.window().isMinimized():
            self.update()

    def event(self, event: QEvent) -> bool:
        """Take no style's own animation of a busy bar: the line paints itself, all of it, which a style sheet denies."""
        if event.type() == QEvent.Type.StyleAnimationUpdate:
            return True
        taken = super().event(event)
        if event.type() in (QEvent.Type.Polish, QEvent.Type.StyleChange):
            self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # A frame paints the line alone, not what it lies on.
        return taken

    def _bright(self, whole: QRectF) -> QRectF:
        """The bright part enters at the left and leaves at the right once a crossing."""
        width = whole.width() * _BRIGHT
        way = (self._clock.elapsed() % _CROSSING_MS) / _CROSSING_MS
        return QRectF(way * (whole.width() + width) - width, 0, width, whole.height()) & whole

    def _move(self) -> None:
        wanted = self._phase == "writing" and self.isVisible() and not self._theme.still
        if wanted and not self._timer:
            self._timer = self.startTimer(_FRAME_MS)
        elif not wanted and self._timer:
            self.killTimer(self._timer)
            self._timer = 0

    def _tell(self) -> None:
        if self._phase == "reading":
            self.setRange(0, 100)
            self.setValue(round(self._fraction * 100))
        else:
            self.setRange(0, 0)
        self.setAccessibleName(_NAMES[self._phase])
