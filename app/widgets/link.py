"""A word that does something when it is clicked."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.halo import focus_ring


class Link(QAbstractButton):
    """Accented text, underlined under the pointer; `style` is the text style it is set in."""

    def __init__(self, theme: Theme, text: str, *, style: str = "ui", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._style = theme, style
        self.setText(text)
        self.setAccessibleName(text)
        self.setObjectName(f"link.{text}")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._ring = focus_ring(theme, self, 2)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """The text's own size."""
        return QSize(QFontMetrics(self._font()).horizontalAdvance(self.text()) + 1, self._theme.line(self._style))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        font = self._font()
        font.setUnderline(self.isEnabled() and self.underMouse())
        painter.setFont(font)
        role = "ink-off" if not self.isEnabled() else "ink" if self.isDown() else "accent-ink"
        painter.setPen(self._theme.color(role))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter, self.text())

    def _font(self) -> QFont:
        return self._theme.font(self._style, 500)
