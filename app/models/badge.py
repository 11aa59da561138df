"""Badges: a word or two in a small frame, painted in rows and set beside names."""

from typing import Literal

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame

type BadgeKind = Literal["plain", "yes", "part", "no", "failed"]

_STYLE, _AROUND = "read-caption", 4
_RADIUS, _LEFT, _RIGHT, _ICON, _GAP = 6, 5, 6, 12, 4
# Kind: ground, line, ink; no ground or no line where the role is empty.
_LOOKS: dict[BadgeKind, tuple[str, str, str]] = {
    "plain": ("", "separator", "ink-2"),
    "yes": ("selected", "", "ink"),
    "part": ("accent-soft", "", "accent-ink"),
    "no": ("", "border", "ink-3"),
    "failed": ("critical-soft", "", "critical"),
}


def badge_width(theme: Theme, text: str, icon: str = "") -> int:
    """Return how wide a badge is, in pixels."""
    words = QFontMetrics(theme.font(_STYLE, 500)).horizontalAdvance(text)
    return _LEFT + (theme.grown(_ICON) + _GAP if icon else 1) + words + _RIGHT


def badge_height(theme: Theme) -> int:
    """Return how high badges are, in pixels: 20 at the design's text size."""
    return theme.line(_STYLE) + _AROUND


def draw_badge(painter: QPainter, theme: Theme, rect: QRect, text: str, kind: BadgeKind, icon: str = "") -> None:
    """Paint a badge into `rect`, which should be `badge_width` wide."""
    ground, line, ink = _LOOKS[kind]
    if kind == "no":
        _draw_dashes(painter, rect, theme.color(line))
    else:
        draw_frame(painter, rect, _RADIUS, theme.color(ground) if ground else None, theme.color(line) if line else None)
    painter.save()
    left = rect.left() + _LEFT
    if icon:
        size = theme.grown(_ICON)
        spot = QPoint(left, rect.top() + (rect.height() - size) // 2)
        painter.drawPixmap(spot, theme.pixmap(icon, ink, size, painter.device().devicePixelRatio()))
        left += size + _GAP
    else:
        left += 1
    painter.setFont(theme.font(_STYLE, 500))
    painter.setPen(QPen(theme.color(ink)))
    words = QRect(left, rect.top(), rect.right() - left + 1, rect.height())
    painter.drawText(words, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
    painter.restore()


def _draw_dashes(painter: QPainter, rect: QRect, color: QColor) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 1, Qt.PenStyle.DashLine))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS - 0.5, _RADIUS - 0.5)
    painter.restore()


class Badge(QWidget):
    """A badge as a widget; hidden while it has no text."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text, self._icon = "", ""
        self._kind: BadgeKind = "plain"
        self.hide()
        theme.changed.connect(self._fit)

    def show_words(self, text: str, kind: BadgeKind = "plain", icon: str = "") -> None:
        """Show a text, or nothing when it is empty."""
        self._text, self._kind, self._icon = text, kind, icon
        self.setAccessibleName(text)
        self._fit()
        self.setVisible(bool(text))

    def _fit(self) -> None:
        self.setFixedSize(QSize(badge_width(self._theme, self._text, self._icon), badge_height(self._theme)))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        draw_badge(QPainter(self), self._theme, self.rect(), self._text, self._kind, self._icon)
