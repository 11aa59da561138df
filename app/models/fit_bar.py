"""A bar of what a model would take here, against the budget."""

from PySide6.QtCore import QRect, QRectF, QSize
from PySide6.QtGui import QFontMetrics, QPainter, QPainterPath, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from engine.core.record import Record
from engine.core.sizes import GIGABYTE

_BAR, _OVER, _AXIS = 12, 3, 1.12
_STYLE, _GAP, _BETWEEN, _SWATCH = "read-small", 10, 16, 8


class Share(Record):
    """A part of the bar: its label, its colour's role, and bytes."""

    label: str
    role: str
    size: int


def figure_text(size: int) -> str:
    """Return bytes in GB, in powers of ten as the sizes of files beside it: 17.2, 132."""
    return f"{size / GIGABYTE:.1f}" if size < 99.95 * GIGABYTE else f"{size / GIGABYTE:,.0f}"


class FitBar(QWidget):
    """The bar, 12 px, over a line of legend. Its axis is 1.12 × the budget; what lies beyond it is in the colour of failure."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shares: tuple[Share, ...] = ()
        self._budget = 0
        self.setObjectName("fitBar")
        self._fit_height()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._fit_height)

    def show_shares(self, shares: tuple[Share, ...], budget: int) -> None:
        """Show these parts of `budget` bytes."""
        self._shares, self._budget = shares, budget
        parts = ", ".join(f"{share.label} {figure_text(share.size)} GB" for share in self._labels())
        self.setAccessibleName(f"Memory: {parts}")
        self._fit_height()

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(400, self.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        bar = QRect(0, _OVER, self.width(), _BAR)
        axis = max(1.0, self._budget * _AXIS)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(bar), 4, 4)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipPath(outline)
        painter.fillRect(bar, self._theme.color("m-free"))
        line, x = self._budget / axis * bar.width(), 0.0
        for share in self._shares:
            width = share.size / axis * bar.width()
            painter.fillRect(QRectF(x, bar.top(), max(2.0, width) - 1, _BAR), self._theme.color(share.role))
            x += width
        if x > line:
            painter.fillRect(
                QRectF(line, bar.top(), bar.width() - line if x > bar.width() else x - line, _BAR),
                self._theme.color("critical"),
            )
        painter.restore()
        painter.fillRect(QRectF(round(line) - 1, 0, 2, _BAR + 2 * _OVER), self._theme.color("ink"))
        self._legend(painter)

    def _labels(self) -> tuple[Share, ...]:
        left = self._budget - sum(share.size for share in self._shares)
        rest = Share("Left in the budget", "m-free", left) if left >= 0 else Share("Over the budget", "critical", -left)
        return (*self._shares, rest)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take a second line for the legend where one is too short."""
        super().resizeEvent(event)
        self._fit_height()

    def _fit_height(self) -> None:
        places = self._places()
        self.setFixedHeight((places[-1][1] if places else 0) + _OVER + _BAR + _GAP + self._theme.line(_STYLE))
        self.update()

    def _places(self) -> list[tuple[int, int, Share]]:
        """Return where each part of the legend stands: from the left, and down from the first line."""
        metrics, x, down, places = QFontMetrics(self._theme.font(_STYLE)), 0, 0, []
        for share in self._labels():
            width = 14 + metrics.horizontalAdvance(share.label) + 6 + metrics.horizontalAdvance(figure_text(share.size))
            if x and x + width > self.width():
                x, down = 0, down + self._theme.line(_STYLE) + 4
            places.append((x, down, share))
            x += width + _BETWEEN
        return places

    def _legend(self, painter: QPainter) -> None:
        painter.setFont(self._theme.font(_STYLE))
        metrics, line = painter.fontMetrics(), self._theme.line(_STYLE)
        base = (line + metrics.capHeight()) // 2
        for x, down, share in self._places():
            y = _OVER + _BAR + _GAP + down
            swatch = QRect(x, y + (line - _SWATCH) // 2, _SWATCH, _SWATCH)
            draw_frame(painter, swatch, 2, self._theme.color(share.role))
            painter.setPen(self._theme.color("ink-2"))
            painter.drawText(x + 14, y + base, share.label)
            painter.setPen(self._theme.color("ink"))
            painter.drawText(x + 20 + metrics.horizontalAdvance(share.label), y + base, figure_text(share.size))
