"""Buttons that are an icon: in toolbars and rows, and the accented one of the composer."""

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from app.widgets.halo import focus_ring


class IconButton(QAbstractButton):
    """A square button with an icon; `name` is what assistive tools and the tool tip call it. Checked shows the accent."""

    def __init__(
        self,
        theme: Theme,
        icon: str,
        name: str,
        *,
        size: int = 28,
        icon_size: int = 16,
        role: str = "ink-2",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._icon, self._icon_size, self._role = theme, icon, icon_size, role
        self._radius = 6
        self.setAccessibleName(name)
        self.setObjectName(f"button.{name}")
        self.setToolTip(name)
        self.setFixedSize(QSize(size, size))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self._ring = focus_ring(theme, self, self._radius)
        theme.changed.connect(self.update)

    def set_icon(self, icon: str, name: str) -> None:
        """Show another icon, under another name."""
        self._icon = icon
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        self.draw(QPainter(self))

    def draw(self, painter: QPainter) -> None:
        """Draw the ground and the icon."""
        ground = self._ground()
        if ground:
            draw_frame(painter, self.rect(), self._radius, self._theme.color(ground))
        size = self._icon_size
        pixmap = self._theme.pixmap(self._icon, self._ink(), size, self.devicePixelRatioF())
        painter.drawPixmap(QPoint((self.width() - size) // 2, (self.height() - size) // 2), pixmap)

    def _ground(self) -> str:
        if not self.isEnabled():
            return ""
        if self.isDown():
            return "pressed"
        if self.isChecked():
            return "selected"
        return "hover" if self.underMouse() else ""

    def _ink(self) -> str:
        if not self.isEnabled():
            return "ink-off"
        return "accent-ink" if self.isChecked() else self._role


class GoButton(IconButton):
    """Send and stop: an icon on the accent, stone while there is nothing to do."""

    def __init__(self, theme: Theme, icon: str, name: str, *, parent: QWidget | None = None) -> None:
        super().__init__(theme, icon, name, parent=parent)
        self._radius = 8

    def _ground(self) -> str:
        if not self.isEnabled():
            return "selected"
        if self.isDown():
            return "accent-fill-pressed"
        return "accent-fill-hover" if self.underMouse() else "accent-fill"

    def _ink(self) -> str:
        return "on-accent" if self.isEnabled() else "ink-off"
