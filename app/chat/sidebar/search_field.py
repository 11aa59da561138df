"""The field that searches all chats."""

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.theme import Theme
from app.widgets.composing import ComposingGuard
from app.widgets.frame import draw_frame
from app.widgets.halo import edit_glow
from app.widgets.icon_button import IconButton

_HEIGHT, _RADIUS, _ICON, _PADDING = 28, 6, 16, 8


class SearchField(QLineEdit):
    """28 px high; shows its shortcut at the right, or a button that clears it.

    Emits `down_pressed` when the arrow asks for the results, and `left` for Escape in an empty field.
    """

    down_pressed = Signal()
    left = Signal()

    def __init__(self, theme: Theme, shortcut: QKeySequence, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shortcut = shortcut.toString(QKeySequence.SequenceFormat.NativeText)
        self._clear = IconButton(theme, "x", "Clear the search", size=20, icon_size=12, role="ink-3", parent=self)
        self._clear.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._clear.setCursor(Qt.CursorShape.ArrowCursor)
        self._clear.clicked.connect(self.clear)
        self._clear.setObjectName("clearSearchButton")
        self._clear.hide()
        self._glow = edit_glow(theme, self, _RADIUS)
        self._composing = ComposingGuard(self)
        self.setObjectName("chatSearch")
        self.setAccessibleName("Search the chats")
        self.setPlaceholderText("Search")
        self.setFixedHeight(_HEIGHT)
        self.setFrame(False)
        self.textChanged.connect(self._follow_text)
        theme.changed.connect(self._restyle)
        self._restyle()
        self._follow_text("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape clears; the arrow down goes on to the results; the rest edits."""
        if event.key() == Qt.Key.Key_Escape:
            if self.text():
                self.clear()
            else:
                self.left.emit()
        elif event.key() == Qt.Key.Key_Down:
            self.down_pressed.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the clearing button at the right."""
        super().resizeEvent(event)
        self._clear.move(self.width() - 4 - self._clear.width(), (self.height() - self._clear.height()) // 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ground, the magnifier and the shortcut, then the text."""
        painter = QPainter(self)
        if self.hasFocus():
            draw_frame(painter, self.rect(), _RADIUS, self._theme.color("field"), self._theme.color("accent"))
        else:
            draw_frame(painter, self.rect(), _RADIUS, self._theme.color("selected"))
        spot = QPoint(_PADDING, (self.height() - _ICON) // 2)
        painter.drawPixmap(spot, self._theme.pixmap("search", "ink-3", _ICON, self.devicePixelRatioF()))
        if not self.text():
            painter.setFont(self._theme.font("caption"))
            painter.setPen(self._theme.color("ink-3"))
            box = self.rect().adjusted(_PADDING, 0, -_PADDING, 0)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._shortcut)
        painter.end()
        super().paintEvent(event)

    def _follow_text(self, text: str) -> None:
        self._clear.setVisible(bool(text))
        shortcut = self.fontMetrics().horizontalAdvance(self._shortcut)
        # QLineEdit keeps 2 px of its own before the text.
        self.setTextMargins(_PADDING + _ICON + _PADDING - 2, 0, 28 if text else shortcut + 12, 0)

    def _restyle(self) -> None:
        self.setFont(self._theme.font("ui"))
        self.update()
