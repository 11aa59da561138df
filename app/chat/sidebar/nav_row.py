"""A row of the sidebar that leads somewhere: icon, name, shortcut."""

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame

_HEIGHT, _RADIUS, _ICON, _PADDING = 28, 6, 16, 8
_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class NavRow(QAbstractButton):
    """28 px high and as wide as it may be; checked while what it leads to is shown."""

    def __init__(self, theme: Theme, icon: str, text: str, shortcut: QKeySequence, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._icon = theme, icon
        self.note = ""
        self._shortcut = shortcut.toString(QKeySequence.SequenceFormat.NativeText)
        self.setText(text)
        self.setAccessibleName(text)
        self.setAccessibleDescription(self._shortcut)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._ring = False
        theme.changed.connect(self.update)

    def set_note(self, note: str, spoken: str) -> None:
        """Show a note in the shortcut's place, as a count; `spoken` is what assistive tools say of it."""
        self.note = note
        self.setAccessibleDescription(spoken)
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring for focus that came from the keyboard alone."""
        self._ring = event.reason() in _KEYBOARD
        super().focusInEvent(event)

    def sizeHint(self) -> QSize:
        """28 high, or more where the text is larger."""
        metrics = QFontMetrics(self._theme.font("ui", 500))
        width = metrics.horizontalAdvance(self.text()) + _ICON + 4 * _PADDING
        return QSize(width, max(_HEIGHT, metrics.height() + 8))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ground for the state in force, then icon, name and shortcut; the focus ring lies inside the row."""
        del event
        painter = QPainter(self)
        ground = "pressed" if self.isDown() else "selected" if self.isChecked() else "hover" if self.underMouse() else ""
        if ground:
            draw_frame(painter, self.rect(), _RADIUS, self._theme.color(ground))
        if self._ring and self.hasFocus():
            draw_frame(painter, self.rect(), _RADIUS, line=self._theme.color("accent"), width=2)
        spot = QPoint(_PADDING, (self.height() - _ICON) // 2)
        painter.drawPixmap(spot, self._theme.pixmap(self._icon, "ink-2", _ICON, self.devicePixelRatioF()))
        words = self.rect().adjusted(2 * _PADDING + _ICON, 0, -_PADDING, 0)
        painter.setFont(self._theme.font("caption"))
        painter.setPen(self._theme.color("ink-3"))
        right = self.note or self._shortcut
        painter.drawText(words, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, right)
        words.setRight(words.right() - painter.fontMetrics().horizontalAdvance(right) - _PADDING)
        painter.setFont(self._theme.font("ui"))
        painter.setPen(self._theme.color("ink"))
        text = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(words, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
