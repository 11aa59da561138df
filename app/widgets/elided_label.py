"""A line of text, or a few, cut with dots to the room there is."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent, QTextLayout
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.label import Label


class ElidedLabel(Label):
    """As wide as there is room, `lines` high; the whole text is its tool tip. Set it with `show_words`."""

    def __init__(
        self,
        theme: Theme,
        *,
        style: str = "ui",
        role: str = "ink",
        weight: int | None = None,
        lines: int = 1,
        parent: QWidget | None = None,
    ) -> None:
        self.words, self.lines = "", lines
        super().__init__(theme, style=style, role=role, weight=weight, parent=parent)
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

    def changeEvent(self, event: QEvent) -> None:
        """Cut it anew in another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._cut()

    def _cut(self) -> None:
        whole, last = self._broken(max(8, self.width()))
        end = self.fontMetrics().elidedText(last, Qt.TextElideMode.ElideRight, max(8, self.width()))
        cut = "\n".join([*whole, end])
        if cut != self.text():
            self.setText(cut)
        self.setToolTip(self.words if end != last else "")

    def _broken(self, width: int) -> tuple[list[str], str]:
        """Return the lines that are full, and all that is left for the last one."""
        if self.lines == 1:
            return [], self.words
        layout = QTextLayout(self.words, self.font())
        layout.beginLayout()
        whole, start = [], 0
        for _ in range(self.lines - 1):
            line = layout.createLine()
            line.setLineWidth(width)
            end = line.textStart() + line.textLength()
            if end >= len(self.words):
                break
            whole.append(self.words[start:end].rstrip())
            start = end
        layout.endLayout()
        return whole, self.words[start:]
