"""The live gauges: memory, speed, and how much of the context is used."""

from typing import Literal

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame, draw_hairline
from app.widgets.heading import draw_heading
from app.widgets.memory_gauge import MemoryGauge
from app.widgets.sparkline import Sparkline
from app.widgets.spinner import draw_ring
from app.widgets.throttle import Throttle

type Phase = Literal["idle", "reading", "writing"]

_NEARLY_FULL = 0.8
_PADDING = 12


class SpeedGauge(QWidget):
    """Tokens a second now, over the last minute, and against the limit where that is known."""

    def __init__(self, theme: Theme, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._phase: Phase = "idle"
        self._rate = 0.0
        self._last_written = 0.0
        self._limits: dict[str, float | None] = {"reading": None, "writing": None}
        self._first_token_s: float | None = None
        self._has_model = False
        self.setObjectName("speedGauge")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(16 + 8 + 28)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.sparkline = Sparkline(theme, parent=self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 16 + 8, 0, 0)
        layout.addWidget(self.sparkline)
        self._shown = ("", "")
        self._throttle = Throttle(self._refresh, self)
        self._refresh()
        theme.changed.connect(self.update)

    @property
    def text(self) -> str:
        """What the gauge says at its left: the rate."""
        return self._shown[0]

    @property
    def note(self) -> str:
        """What the gauge says at its right: the share of the limit, or the time to the last reply's first token."""
        return self._shown[1]

    def show_reading(self, tokens_per_s: float, phase: Phase = "writing") -> None:
        """Show a rate in tokens a second, measured now; "idle" keeps the last reply's rate on show."""
        self._phase, self._rate = phase, tokens_per_s
        if phase == "writing" and tokens_per_s > 0:
            self._last_written = tokens_per_s
        if phase != "idle" and tokens_per_s > 0:
            self.sparkline.add(tokens_per_s, phase)
        self._throttle.request()

    def set_limit(self, writing: float | None, reading: float | None = None) -> None:
        """Set the rates the hardware can't pass, in tokens a second; None where they are not known."""
        self._limits = {"writing": writing, "reading": reading}
        for phase, limit in self._limits.items():
            self.sparkline.set_limit(phase, limit)
        self._throttle.request()

    def set_first_token(self, seconds: float | None) -> None:
        """Set the time to first token (TTFT) of the last reply, in seconds."""
        self._first_token_s = seconds
        self._throttle.request()

    def set_model(self, loaded: bool) -> None:
        """Say whether a model is loaded; another model starts with no figures."""
        self._has_model = loaded
        self._phase, self._rate, self._last_written, self._first_token_s = "idle", 0.0, 0.0, None
        self.sparkline.clear()
        self._throttle.request()

    def sizeHint(self) -> QSize:
        """A heading line over the sparkline."""
        return QSize(220, 52)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("raised"))
        quiet = self._phase == "idle"
        draw_heading(painter, self._theme, QRect(0, 0, self.width(), 16), *self._shown, quiet=quiet)

    def _refresh(self) -> None:
        shown = (self._rate_text(), self._note_text())
        if shown != self._shown:
            self._shown = shown
            self.setAccessibleName(", ".join(("Speed", *(text for text in shown if text != "Speed"))))
            self.update()

    def _rate_text(self) -> str:
        if self._phase == "reading":
            return f"{self._rate:,.0f} tok/s, reading" if self._rate > 0 else "Reading"
        if self._phase == "writing":
            return f"{self._rate:,.0f} tok/s" if self._rate >= 10 else f"{self._rate:.1f} tok/s"
        last = self._last_written
        return "Speed" if last <= 0 else f"last {last:,.0f} tok/s" if last >= 10 else f"last {last:.1f} tok/s"

    def _note_text(self) -> str:
        limit = self._limits.get(self._phase)
        if limit and self._rate > 0:
            return f"{self._rate / limit:.0%} of limit"
        if self._first_token_s is not None:
            return f"first token {self._first_token_s:.2f} s"
        return "" if self._phase != "idle" else "ready" if self._has_model else "no model yet"


class GaugeCard(QWidget):
    """The card at the sidebar's foot that holds the gauges of memory and speed."""

    def __init__(self, theme: Theme, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("gaugeCard")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.memory = MemoryGauge(theme, parent=self)
        self.speed = SpeedGauge(theme, parent=self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_PADDING, _PADDING, _PADDING, _PADDING)
        layout.setSpacing(2 * _PADDING)
        layout.addWidget(self.memory)
        layout.addWidget(self.speed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """244 × 192, wider where the sidebar is."""
        return QSize(244, 192)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        draw_frame(painter, self.rect(), 8, color("raised"), color("separator"))
        y = self.memory.geometry().bottom() + 1 + _PADDING
        draw_hairline(painter, QPointF(1, y), QPointF(self.width() - 2, y), color("separator"))


class ContextGauge(QWidget):
    """A ring that fills with the conversation, beside "18k / 32k"; accented from four fifths."""

    def __init__(self, theme: Theme, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._used, self._limit = 0, 0
        self._wanted = (0, 0)
        self.setObjectName("contextGauge")
        self.setFixedHeight(28)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._throttle = Throttle(self._refresh, self)
        self.hide()
        theme.changed.connect(self.update)

    @property
    def text(self) -> str:
        """The figures shown."""
        return f"{_tokens(self._used)} / {_tokens(self._limit)}"

    def show_use(self, used: int, limit: int) -> None:
        """Show how many tokens of the context are used; a limit of 0 (no model) hides the gauge.

        Another limit means another chat or model, whose figures must not stand beside the one before for a moment.
        """
        self._wanted = (used, limit)
        if limit != self._limit:
            self._refresh()
        else:
            self._throttle.request()

    def sizeHint(self) -> QSize:
        """Room for the longest figures this limit can bring, so that nothing moves as they grow."""
        metrics = QFontMetrics(self._theme.font("small"))
        figures = (0, 888, 8_888, 88_888, 888_888, 8_888_888)
        widest = max(metrics.horizontalAdvance(_tokens(used)) for used in figures if used <= max(self._limit, 888))
        return QSize(8 + 16 + 8 + widest + metrics.horizontalAdvance(f" / {_tokens(self._limit)}") + 8, 28)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        share = min(1.0, self._used / self._limit) if self._limit else 0.0
        role = "accent" if share >= _NEARLY_FULL else "ink-2"
        text = self.text
        painter.setFont(self._theme.font("small"))
        left = self.width() - 8 - painter.fontMetrics().horizontalAdvance(text)
        draw_ring(
            painter, QRectF(left - 24.25, 5.75, 16.5, 16.5), self._theme, start=90, span=share * 360, role=role, width=2.5
        )
        painter.setPen(self._theme.color("ink-2"))
        painter.drawText(QRect(left, 0, self.width() - left, 28), Qt.AlignmentFlag.AlignVCenter, text)

    def _refresh(self) -> None:
        grew = self._limit != self._wanted[1]
        self._used, self._limit = self._wanted
        self.setVisible(self._limit > 0)
        if grew:
            self.updateGeometry()
        self.setAccessibleName(f"Context, {self._used:,} of {self._limit:,} tokens")
        self.update()


def _tokens(count: int) -> str:
    """Return a count of tokens short: 812, 1.8k, 18k, 131k, 1M. A context of 32,768 is 32k to everybody."""
    if count < 1000:
        return str(count)
    if count % 1024 == 0:
        return f"{count // 1024}k" if count < 1024 * 1024 else f"{count / 1024 / 1024:g}M"
    if count < 9950:
        return f"{count / 1000:.1f}k"
    return f"{count / 1000:.0f}k" if count < 999_500 else f"{count / 1e6:.1f}M"
