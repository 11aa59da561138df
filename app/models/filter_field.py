"""The field that narrows a list of models."""

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.composing import ComposingGuard
from app.widgets.frame import draw_frame
from app.widgets.halo import edit_glow
from app.widgets.icon_button import IconButton
from app.widgets.text_field import text_style

_HEIGHT, _RADIUS, _ICON, _PADDING = 28, 6, 16, 8
_PASSED_ON = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class FilterField(QLineEdit):
    """28 px high, with a magnifier and, once something is typed, a button that clears it.

    `moved` carries the keys that belong to the list: arrows, pages and Return. Escape clears; in an empty field it is left to
    whoever is around.
    """

    moved = Signal(QKeyEvent)

    def __init__(self, theme: Theme, name: str, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._clear = IconButton(theme, "x", "Clear", size=20, icon_size=12, role="ink-3", parent=self)
        self._clear.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._clear.setCursor(Qt.CursorShape.ArrowCursor)
        self._clear.clicked.connect(self.clear)
        self._glow = edit_glow(theme, self, _RADIUS)
        self._composing = ComposingGuard(self)
        self.setObjectName(name)
        self.setAccessibleName(hint)
        self.setPlaceholderText(hint)
        self.setFrame(False)
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.textChanged.connect(self._follow_text)
        theme.changed.connect(self._dress)
        self._dress()
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
        self._clear.move(self.width() - 4 - self._clear.width(), (self.height() - self._clear.height()) // 2)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        edge = "accent" if self.hasFocus() else "border-hi" if self.underMouse() else "border"
        ground = self._theme.color("field") if self.isEnabled() else None
        draw_frame(painter, self.rect(), _RADIUS, ground, self._theme.color(edge if self.isEnabled() else "separator"))
        spot = QPoint(_PADDING, (self.height() - _ICON) // 2)
        painter.drawPixmap(
            spot, self._theme.pixmap("search", "ink-3" if self.isEnabled() else "ink-off", _ICON, self.devicePixelRatioF())
        )
        painter.end()
        super().paintEvent(event)

    def _follow_text(self, text: str) -> None:
        self._clear.setVisible(bool(text))
        # QLineEdit keeps 2 px of its own before the text.
        self.setTextMargins(_PADDING + _ICON + _PADDING - 2, 0, 26 if text else 4, 0)

    def _dress(self) -> None:
        # In this order: a style sheet set after a font takes the font away again.
        self.setStyleSheet(text_style(self._theme, "QLineEdit"))
        self.setFont(self._theme.font("ui"))
        self.update()
