"""A line that opens and closes what is under it."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.theme import Theme
from app.widgets.halo import focus_ring

HEIGHT = 24


class Disclosure(QAbstractButton):
    """A chevron and a text; checked means open."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("disclosure")
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self._ring = focus_ring(theme, self, 6)
        theme.changed.connect(self.update)

    def say(self, text: str) -> None:
        """Show `text`; assistive tools are told whether it is open."""
        self.setText(text)
        self.setAccessibleName(text)
        self.resize(self.sizeHint())
        self.update()

    def sizeHint(self) -> QSize:
        """The chevron, the text, and room for the pointer."""
        return QSize(22 + QFontMetrics(self._theme.font("ui")).horizontalAdvance(self.text()) + 8, HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint both in the secondary ink, in full ink under the pointer."""
        painter = QPainter(self)
        role = "ink" if self.underMouse() else "ink-2"
        icon = self._theme.pixmap("down" if self.isChecked() else "right", role, 14, self.devicePixelRatioF())
        painter.drawPixmap(QPoint(0, 5), icon)
        painter.setPen(self._theme.color(role))
        painter.setFont(self._theme.font("ui"))
        painter.drawText(QRect(20, 0, self.width() - 20, HEIGHT), Qt.AlignmentFlag.AlignVCenter, self.text())
