"""What stands over a prompt's tokens: how many there are, how many were cached, a bar of both, and what the grounds mean."""

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame, draw_hairline
from app.widgets.heading import draw_heading
from app.widgets.icon_link import IconLink
from engine.core.sizes import count_text

_SIDE, _TOP, _LINE, _BAR, _SWATCH = 16, 12, 16, 6, QSize(16, 12)
_ROOMY = 364
_HEIGHT = _TOP + _LINE + 6 + _BAR + 8 + _LINE + 12 + 1


class PromptHead(QWidget):
    """68 pixels high, one line more with a remark. `copy_requested` asks for the whole prompt as text."""

    copy_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._total, self._cached = 0, 0
        self._note, self._read, self._remark = "", "read now", ""
        self.setObjectName("promptHead")
        self._copy = IconLink(theme, "copy", "Copy as text", parent=self)
        self._copy.setObjectName("copyPrompt")
        self._copy.clicked.connect(self.copy_requested)
        self.setFixedHeight(_HEIGHT)
        theme.changed.connect(self.update)

    @property
    def text(self) -> str:
        """What it says."""
        return "; ".join(part for part in (count_text(self._total, "token"), self._note, self._remark) if part)

    def show_counts(self, total: int, cached: int, note: str, read: str, remark: str = "") -> None:
        """Say that `cached` of `total` tokens were cached; `read` names the others; a `remark` stands under the legend."""
        self._total, self._cached, self._note, self._read, self._remark = total, cached, note, read, remark
        self.setAccessibleName(self.text)
        lines = self._remark_lines()
        self.setFixedHeight(_HEIGHT + (lines.height() + 8 if remark else 0))
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the link at the right."""
        super().resizeEvent(event)
        self._copy.setText("Copy as text" if self.width() >= _ROOMY else "Copy")
        size = self._copy.sizeHint()
        self._copy.setGeometry(self.width() - _SIDE - size.width(), self._legend_top(), size.width(), size.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        line = QRect(_SIDE, _TOP, self.width() - 2 * _SIDE, _LINE)
        draw_heading(painter, self._theme, line, count_text(self._total, "token"), self._note)
        self._paint_bar(painter, QRectF(_SIDE, line.bottom() + 1 + 6, line.width(), _BAR))
        self._paint_legend(painter)
        if self._remark:
            painter.setFont(self._theme.font("caption"))
            painter.setPen(color("ink-2"))
            painter.drawText(self._remark_lines(), Qt.TextFlag.TextWordWrap, self._remark)
        y = self.height() - 1
        draw_hairline(painter, QPointF(0, y), QPointF(self.width(), y), color("separator"))

    def _paint_bar(self, painter: QPainter, bar: QRectF) -> None:
        color = self._theme.color
        cached, read = self._cached, self._total - self._cached
        if not self._total:
            draw_frame(painter, bar, 3, color("track"))
            return
        gap = 1.0 if cached and read else 0.0
        width = (bar.width() - gap) * cached / self._total
        width = min(max(width, 2.0 if cached else 0.0), bar.width() - gap - (2.0 if read else 0.0))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        rest = bar.width() - width - gap
        for left, length, role in ((bar.left(), width, "m-mac"), (bar.right() - rest, rest, "accent")):
            if length > 0:
                painter.setClipRect(QRectF(left, bar.top(), length, bar.height()))
                painter.setBrush(color(role))
                painter.drawRoundedRect(bar, 3, 3)
        painter.restore()

    def _paint_legend(self, painter: QPainter) -> None:
        color, x = self._theme.color, _SIDE
        painter.setFont(self._theme.font("caption"))
        for fill, line, word in (
            ("selected", "", "cached"),
            ("accent-soft", "accent-line", self._read),
            ("", "border-hi", "special"),
        ):
            swatch = QRect(x, self._legend_top() + 2, _SWATCH.width(), _SWATCH.height())
            draw_frame(painter, swatch, 4, color(fill) if fill else None, color(line) if line else None)
            painter.setPen(color("ink-2"))
            width = painter.fontMetrics().horizontalAdvance(word)
            painter.drawText(QRect(x + 22, self._legend_top(), width + 2, _LINE), Qt.AlignmentFlag.AlignVCenter, word)
            x += 22 + width + 16

    def _legend_top(self) -> int:
        return _TOP + _LINE + 6 + _BAR + 8

    def _remark_lines(self) -> QRect:
        room = QRect(_SIDE, self._legend_top() + _LINE + 8, max(100, self.width() - 2 * _SIDE), 200)
        metrics = QFontMetrics(self._theme.font("caption"))
        return metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, self._remark)
