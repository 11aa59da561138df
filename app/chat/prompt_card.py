"""A card that offers a first message."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from app.widgets.halo import focus_ring

_HEIGHT, _RADIUS, _PADDING, _ICON = 52, 8, 16, 14


class PromptCard(QAbstractButton):
    """52 px high: what it does, a word more about it, and an arrow."""

    def __init__(self, theme: Theme, title: str, detail: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._detail = theme, detail
        self.setText(title)
        self.setAccessibleName(title)
        self.setAccessibleDescription(detail)
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self._ring = focus_ring(theme, self, _RADIUS)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As wide as the column of the welcome."""
        return QSize(560, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the card for the state in force."""
        del event
        color = self._theme.color
        painter = QPainter(self)
        draw_frame(painter, self.rect(), _RADIUS, color("raised"))
        over = "pressed" if self.isDown() else "hover" if self.underMouse() else ""
        draw_frame(painter, self.rect(), _RADIUS, color(over) if over else None, color("separator"))
        room = self.width() - 2 * _PADDING - 2 * _ICON
        elide, left = Qt.TextElideMode.ElideRight, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(self._theme.font("ui", 500))
        painter.setPen(color("ink"))
        painter.drawText(QRect(_PADDING, 8, room, 20), left, painter.fontMetrics().elidedText(self.text(), elide, room))
        painter.setFont(self._theme.font("small"))
        painter.setPen(color("ink-3"))
        painter.drawText(QRect(_PADDING, 28, room, 16), left, painter.fontMetrics().elidedText(self._detail, elide, room))
        spot = QPoint(self.width() - _PADDING - _ICON, (self.height() - _ICON) // 2)
        painter.drawPixmap(spot, self._theme.pixmap("right", "ink-3", _ICON, self.devicePixelRatioF()))
