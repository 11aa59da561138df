"""A row at the foot of the picker's list that does something: “Unload …”, “Models…”."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QEnterEvent, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.models.picker_delegate import INSET, PADDING, RADIUS
from app.theme import Theme
from app.widgets.frame import draw_frame

HEIGHT = 28
_ICON, _ROOM = 16, 24


class MenuRow(QAbstractButton):
    """28 px high; the row with the focus is the highlighted one, and the pointer takes the focus with it, as in a menu."""

    def __init__(self, theme: Theme, icon: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._icon, self._shortcut = theme, icon, ""
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(HEIGHT)
        theme.changed.connect(self.update)

    def set_words(self, text: str, shortcut: str = "") -> None:
        """Show a text, and a shortcut at the right."""
        self._shortcut = shortcut
        self.setText(text)
        self.setAccessibleName(text)

    def sizeHint(self) -> QSize:
        """Room for the text."""
        width = QFontMetrics(self._theme.font("ui")).horizontalAdvance(self.text())
        return QSize(width + 2 * (INSET + PADDING) + _ROOM, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Long names are elided."""
        return QSize(120, HEIGHT)

    def enterEvent(self, event: QEnterEvent) -> None:
        if self.isEnabled():
            self.setFocus(Qt.FocusReason.MouseFocusReason)
        super().enterEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        box = self.rect().adjusted(INSET, 0, -INSET, 0)
        if self.isDown():
            draw_frame(painter, box, RADIUS, self._theme.color("pressed"))
        elif self.hasFocus():
            draw_frame(painter, box, RADIUS, self._theme.color("selected"))
        spot = QPoint(box.left() + PADDING, (self.height() - _ICON) // 2)
        role = "ink-2" if self.isEnabled() else "ink-off"
        painter.drawPixmap(spot, self._theme.pixmap(self._icon, role, _ICON, self.devicePixelRatioF()))
        words = QRect(box.left() + PADDING + _ROOM, 0, box.width() - 2 * PADDING - _ROOM, self.height())
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(self._theme.font("caption"))
        painter.setPen(self._theme.color("ink-3"))
        painter.drawText(words, Qt.AlignmentFlag.AlignRight | middle, self._shortcut)
        words.setRight(words.right() - painter.fontMetrics().horizontalAdvance(self._shortcut) - PADDING)
        painter.setFont(self._theme.font("ui"))
        painter.setPen(self._theme.color("ink" if self.isEnabled() else "ink-off"))
        text = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, words.width())
        painter.drawText(words, Qt.AlignmentFlag.AlignLeft | middle, text)
