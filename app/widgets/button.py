"""Buttons with a text: plain, quiet and primary."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from app.widgets.halo import focus_ring

_RADIUS = 6


class Button(QAbstractButton):
    """A button 28 px high, or 24 when `small`, with an optional icon before its text; `quiet` has no frame at rest."""

    def __init__(
        self,
        theme: Theme,
        text: str,
        *,
        icon: str = "",
        small: bool = False,
        quiet: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._icon, self._small, self._quiet = theme, icon, small, quiet
        self.setText(text)
        self.setAccessibleName(text)
        self.setObjectName(f"button.{text}")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self._ring = focus_ring(theme, self, _RADIUS)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As wide as the text needs, plus padding."""
        metrics = QFontMetrics(self._text_font())
        icon = self._icon_size() + 6 if self._icon else 0
        padding = 8 if self._small else 12
        return QSize(metrics.horizontalAdvance(self.text()) + icon + 2 * padding + 2, 24 if self._small else 28)

    def minimumSizeHint(self) -> QSize:
        """The same: a button's text is never cut."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._paint_ground(painter)
        role = self._ink() if self.isEnabled() else "ink-off"
        painter.setFont(self._text_font())
        width = painter.fontMetrics().horizontalAdvance(self.text())
        size = self._icon_size()
        left = (self.width() - width - (size + 6 if self._icon else 0)) // 2
        if self._icon:
            pixmap = self._theme.pixmap(self._icon, role, size, self.devicePixelRatioF())
            painter.drawPixmap(QPoint(left, (self.height() - size) // 2), pixmap)
            left += size + 6
        painter.setPen(self._theme.color(role))
        painter.drawText(QRect(left, 0, width + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, self.text())

    def _text_font(self) -> QFont:
        return self._theme.font("small" if self._small else "ui", self._weight())

    def _weight(self) -> int:
        return 500

    def _icon_size(self) -> int:
        return 14 if self._small else 16

    def _ink(self) -> str:
        return "ink-2" if self._quiet else "ink"

    def _paint_ground(self, painter: QPainter) -> None:
        color = self._theme.color
        if not self.isEnabled():
            if not self._quiet:
                draw_frame(painter, self.rect(), _RADIUS, line=color("separator"))
            return
        if not self._quiet:
            draw_frame(painter, self.rect(), _RADIUS, color("raised"))
        over = self._state()
        draw_frame(painter, self.rect(), _RADIUS, over, None if self._quiet else color("border"))

    def _state(self) -> QColor | None:
        if self.isDown():
            return self._theme.color("pressed")
        return self._theme.color("hover") if self.underMouse() else None


class PrimaryButton(Button):
    """The one main action of a surface."""

    def _weight(self) -> int:
        return 600

    def _ink(self) -> str:
        return "on-accent"

    def _paint_ground(self, painter: QPainter) -> None:
        if not self.isEnabled():
            role = "selected"
        elif self.isDown():
            role = "accent-fill-pressed"
        else:
            role = "accent-fill-hover" if self.underMouse() else "accent-fill"
        draw_frame(painter, self.rect(), _RADIUS, self._theme.color(role))
