"""A link with an icon before its words."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.link import Link

_ICON, _GAP = 12, 4


class IconLink(Link):
    """Accented text with a 12 px icon, underlined under the pointer."""

    def __init__(self, theme: Theme, icon: str, text: str, *, style: str = "caption", parent: QWidget | None = None) -> None:
        super().__init__(theme, text, style=style, parent=parent)
        self._icon = icon

    def sizeHint(self) -> QSize:
        """The text's size and the icon's."""
        size = super().sizeHint()
        return QSize(size.width() + _ICON + _GAP, size.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        font = self._font()
        font.setUnderline(self.isEnabled() and self.underMouse())
        role = "ink-off" if not self.isEnabled() else "ink" if self.isDown() else "accent-ink"
        pixmap = self._theme.pixmap(self._icon, role, _ICON, self.devicePixelRatioF())
        painter.drawPixmap(QPoint(0, (self.height() - _ICON) // 2), pixmap)
        painter.setFont(font)
        painter.setPen(self._theme.color(role))
        painter.drawText(QRect(_ICON + _GAP, 0, self.width(), self.height()), Qt.AlignmentFlag.AlignVCenter, self.text())
