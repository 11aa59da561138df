"""A box that is checked or not, with its words beside it."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from app.widgets.halo import focus_ring

_BOX, _GAP, _RADIUS = 16, 8, 4


class CheckBox(QAbstractButton):
    """24 px high; on the accent while it is checked."""

    def __init__(self, theme: Theme, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setText(text)
        self.setAccessibleName(text)
        self.setObjectName(f"check.{text}")
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._ring = focus_ring(theme, self, _RADIUS)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """The box and the words."""
        return QSize(_BOX + _GAP + QFontMetrics(self._theme.font("small")).horizontalAdvance(self.text()) + 2, 24)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, color = QPainter(self), self._theme.color
        box = QRect(0, (self.height() - _BOX) // 2, _BOX, _BOX)
        if self.isChecked():
            draw_frame(painter, box, _RADIUS, color("accent-fill-hover" if self.underMouse() else "accent-fill"))
            spot = QPoint(box.left() + 2, box.top() + 2)
            painter.drawPixmap(spot, self._theme.pixmap("check", "on-accent", 12, self.devicePixelRatioF()))
        else:
            draw_frame(painter, box, _RADIUS, color("field"), color("ink-3" if self.underMouse() else "border-hi"))
        painter.setFont(self._theme.font("small"))
        painter.setPen(color("ink-2" if self.isEnabled() else "ink-off"))
        words = QRect(_BOX + _GAP, 0, self.width() - _BOX - _GAP, self.height())
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text())
