"""Texts of the chat area in the theme's styles: labels that keep their line height, and cards to set them on."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame


class Words(QLabel):
    """A text in one style and role. `wrap` breaks it into lines of the style's height; without, one line is cut."""

    def __init__(
        self,
        theme: Theme,
        style: str,
        role: str,
        *,
        weight: int | None = None,
        wrap: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._style, self._role, self._weight, self._wrap = theme, style, role, weight, wrap
        self._words = ""
        self.setTextFormat(Qt.TextFormat.RichText if wrap else Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if not wrap:
            self.setFixedHeight(theme.line(style))
        theme.changed.connect(self._restyle)
        self._restyle()

    @property
    def words(self) -> str:
        """The text as it was given."""
        return self._words

    def say(self, text: str) -> None:
        """Show `text`; markup in it is shown as it is."""
        if text == self._words:
            return
        self._words = text
        self.setAccessibleName(text)
        self._set()

    def set_role(self, role: str) -> None:
        """Set the ink."""
        if role != self._role:
            self._role = role
            self._restyle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take the height that the lines need at this width: a layout would squeeze a text that wraps."""
        super().resizeEvent(event)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """One line may be cut; lines that wrap need their words' width."""
        return super().minimumSizeHint() if self._wrap else QSize(0, self._theme.line(self._style))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw one line, cut with an ellipsis where it does not fit; lines that wrap are the label's own."""
        if self._wrap:
            super().paintEvent(event)
            return
        painter = QPainter(self)
        painter.setPen(self._theme.color(self._role))
        shown = painter.fontMetrics().elidedText(self._words, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), self.alignment(), shown)

    def _set(self) -> None:
        text = self._words
        if self._wrap:
            line = self._theme.line(self._style)
            # By hand: what the standard library has for it loads a table of 2,000 signs before the first window.
            shown = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", "<br>")
            text = f'<p style="line-height:{line}px; -qt-line-height-type:fixed; margin:0">{shown}</p>'
        self.setText(text)
        self._fit()

    def _fit(self) -> None:
        if self._wrap:
            self.setMinimumHeight(0)  # The height set before would be the least that the label asks for.
            self.setFixedHeight(max(self._theme.line(self._style), self.heightForWidth(self.width())))

    def _restyle(self) -> None:
        self.setFont(self._theme.font(self._style, self._weight))
        if self._wrap:
            self.setStyleSheet(f"QLabel {{ color: {self._theme.css(self._role)}; }}")
        else:
            self.setFixedHeight(self._theme.line(self._style))
        self._set()  # The lines' height is said in the text, and the text size may be another.
        self.update()


class Card(QWidget):
    """A raised ground with a thin edge; `column` is where its content goes, 16 px from the edges."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(16, 16, 16, 16)
        self.column.setSpacing(8)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw ground and edge."""
        del event
        draw_frame(QPainter(self), self.rect(), 8, self._theme.color("raised"), self._theme.color("separator"))
