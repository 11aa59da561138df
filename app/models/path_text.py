"""A path that can be selected and copied, broken anywhere where it is longer than its line."""

import math

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.line_field import text_style


class PathText(QPlainTextEdit):
    """As high as its lines. Tab goes through it; the mouse and the keyboard select."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName(name)
        self.setAccessibleName("Folder of the model")
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        theme.changed.connect(self._dress)
        self._dress()

    def show_path(self, path: str) -> None:
        """Show another path."""
        if path != self.toPlainText():
            self.setPlainText(path)
            self._fit()

    def sizeHint(self) -> QSize:
        """As high as its lines."""
        return QSize(200, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        # The document itself counts its height in lines, whatever they measure; the block is measured in pixels.
        self.setFixedHeight(math.ceil(self.blockBoundingRect(self.firstVisibleBlock()).height()) + 2)

    def _dress(self) -> None:
        # In this order: a style sheet set after a font takes the font away again.
        self.setStyleSheet(
            text_style(self._theme, "QPlainTextEdit").replace(self._theme.css("ink"), self._theme.css("ink-2"), 1)
        )
        font = self._theme.font("token")
        font.setPixelSize(self._theme.font("read-caption").pixelSize())
        self.setFont(font)
        self._fit()
