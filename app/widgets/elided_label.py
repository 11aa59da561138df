"""One line of text that is cut, with dots, to the room there is."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.label import Label


class ElidedLabel(Label):
    """As wide as there is room; the whole text is its tool tip. Set it with `show_words`."""

    def __init__(self, theme: Theme, *, style: str = "ui", role: str = "ink", parent: QWidget | None = None) -> None:
        super().__init__(theme, style=style, role=role, parent=parent)
        self.words = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_words(self, words: str) -> None:
        """Show a text, or the start of it."""
        self.words = words
        self.setAccessibleName(words)
        self._cut()

    def minimumSizeHint(self) -> QSize:
        """It can be cut to nothing."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut it anew."""
        super().resizeEvent(event)
        self._cut()

    def _cut(self) -> None:
        cut = self.fontMetrics().elidedText(self.words, Qt.TextElideMode.ElideRight, max(8, self.width()))
        if cut != self.text():
            self.setText(cut)
        self.setToolTip(self.words if cut != self.words else "")
