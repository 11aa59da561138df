"""The button in a code block's header that copies the code, exactly as it was written."""

from PySide6.QtCore import QSize, QTimer
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.button import Button

_SAID_MS = 1_500
_HEIGHT, _PADDING, _ICON, _SPACE = 20, 8, 12, 5


class CopyButton(Button):
    """Copies `code`, and says for a moment that it did."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Copy", icon="copy", small=True, quiet=True, parent=parent)
        self.code = ""
        self.setObjectName("copyCode")
        self.setAccessibleName("Copy code")
        self._said = QTimer(self)
        self._said.setSingleShot(True)
        self._said.setInterval(_SAID_MS)
        self._said.timeout.connect(lambda: self._say("Copy", "copy"))
        self.clicked.connect(self._copy)

    def sizeHint(self) -> QSize:
        """Wide enough for "Copied", so that the button does not move when it says so."""
        width = QFontMetrics(self._text_font()).horizontalAdvance("Copied")
        return QSize(width + _ICON + _SPACE + 2 * _PADDING + 2, _HEIGHT)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.code)
        self._say("Copied", "check")
        self._said.start()

    def _say(self, text: str, icon: str) -> None:
        self._icon = icon
        self.setText(text)

    def _text_font(self) -> QFont:
        return self._theme.font("caption", 500)

    def _icon_size(self) -> int:
        return _ICON
