"""The button that sends, and the one that stops: the one filled spot of the chat."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.theme import Theme

_SIDE, _RADIUS, _ROOM, _ICON = 28, 8, 4, 16
_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class GoButton(QAbstractButton):
    """28 px square with 4 px of clear room around it for the focus ring, so the widget is 36 px square."""

    def __init__(self, theme: Theme, icon: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon = icon
        self._ring = False
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setFixedSize(self.sizeHint())
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """36 × 36."""
        return QSize(_SIDE + 2 * _ROOM, _SIDE + 2 * _ROOM)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the fill for the state in force, the icon, and the ring when the keyboard brought the focus."""
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(_ROOM, _ROOM, _SIDE, _SIDE)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color(self._fill()))
        painter.drawRoundedRect(box, _RADIUS, _RADIUS)
        role = "on-accent" if self.isEnabled() else "ink-off"
        edge = _ROOM + (_SIDE - _ICON) // 2
        painter.drawPixmap(edge, edge, self._theme.pixmap(self._icon, role, _ICON, self.devicePixelRatioF()))
        if self._ring and self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.color("accent"), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), _RADIUS + 3, _RADIUS + 3)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring for focus that came from the keyboard alone."""
        self._ring = event.reason() in _KEYBOARD
        super().focusInEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Draw again when the button is switched on or off."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.EnabledChange:
            self.setCursor(Qt.CursorShape.ArrowCursor)
            self.update()

    def _fill(self) -> str:
        if not self.isEnabled():
            return "selected"
        if self.isDown():
            return "accent-fill-pressed"
        return "accent-fill-hover" if self.underMouse() else "accent-fill"
