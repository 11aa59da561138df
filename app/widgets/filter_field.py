"""The field that narrows a list."""

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.icon_button import IconButton
from app.widgets.line_field import LineField

_ICON = 16
PADDING = 8
_PASSED_ON = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class FilterField(LineField):
    """28 px high, with a magnifier and, once something is typed, a button that clears it.

    `moved` carries the keys that belong to the list: arrows, pages and Return. Escape clears; in an empty field it is left to
    whoever is around.
    """

    moved = Signal(QKeyEvent)

    def __init__(self, theme: Theme, name: str, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent=parent)
        self.clearing = IconButton(theme, "x", "Clear", size=20, icon_size=12, role="ink-3", parent=self)
        self.clearing.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.clearing.setCursor(Qt.CursorShape.ArrowCursor)
        self.clearing.clicked.connect(self.clear)
        self.setObjectName(name)
        self.setAccessibleName(hint)
        self.setPlaceholderText(hint)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._follow_text)
        self._follow_text("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _PASSED_ON:
            self.moved.emit(event)
        elif event.key() == Qt.Key.Key_Escape:
            if self.text():
                self.clear()
            else:
                event.ignore()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the clearing button at the right."""
        super().resizeEvent(event)
        self.clearing.move(self.width() - 4 - self.clearing.width(), (self.height() - self.clearing.height()) // 2)

    def draw_ground(self, painter: QPainter) -> None:
        """Draw the frame and the magnifier."""
        super().draw_ground(painter)
        self.draw_magnifier(painter)

    def draw_magnifier(self, painter: QPainter) -> None:
        """Draw what says that words are looked for."""
        role = "ink-3" if self.isEnabled() else "ink-off"
        spot = QPoint(PADDING, (self.height() - _ICON) // 2)
        painter.drawPixmap(spot, self._theme.pixmap("search", role, _ICON, self.devicePixelRatioF()))

    def room_at_right(self) -> int:
        """Return the pixels that an empty field keeps free at its right."""
        return 4

    def _follow_text(self, text: str) -> None:
        self.clearing.setVisible(bool(text))
        # QLineEdit keeps 2 px of its own before the text.
        self.setTextMargins(PADDING + _ICON + PADDING - 2, 0, 26 if text else self.room_at_right(), 0)
