"""A field for several lines of text."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.debounce import Debounce
from app.widgets.frame import draw_frame
from app.widgets.halo import edit_glow
from app.widgets.line_field import text_style

_RADIUS = 6
_MOST_LINES = 10


class TextArea(QWidget):
    """A field that grows from `least_lines` to 10 with its text, then scrolls; Tab leaves it.

    `edited` carries the text 400 ms after the last key, and at once when the focus leaves. `edit` is the text edit inside.
    """

    edited = Signal(str)

    def __init__(self, theme: Theme, name: str, *, least_lines: int = 3, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._silent = self._refused = False
        self._least_lines = least_lines
        self.edit = QPlainTextEdit(self)
        self.edit.setAccessibleName(name)
        self.edit.setObjectName(f"field.{name}")
        self.edit.setTabChangesFocus(True)
        self.edit.setFrameShape(QFrame.Shape.NoFrame)
        self.edit.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.edit.document().setDocumentMargin(3)
        self.edit.installEventFilter(self)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 2, 2, 2)
        layout.addWidget(self.edit)
        self._glow = edit_glow(theme, self, _RADIUS, source=self.edit)
        self._debounce = Debounce(self._say, self)
        self.edit.textChanged.connect(self._changed)
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def text(self) -> str:
        """The text as it stands."""
        return self.edit.toPlainText()

    @property
    def waiting(self) -> bool:
        """Whether something was typed that has not been said yet."""
        return self._debounce.waiting

    def show_text(self, text: str) -> None:
        """Show a text without saying so; what was typed and not yet said is dropped."""
        self._debounce.forget()
        self.set_refused(False)
        if text != self.text:
            self._silent = True
            self.edit.setPlainText(text)
            self._silent = False

    def set_refused(self, refused: bool) -> None:
        """Mark the text as not applied."""
        self._refused = refused
        self.update()

    def flush(self) -> None:
        """Say what was typed now."""
        self._debounce.flush()

    def sizeHint(self) -> QSize:
        """As many lines as there are, from the least to 10."""
        line = QFontMetrics(self._theme.font("small")).lineSpacing()
        return QSize(200, min(max(self._text_height(), self._least_lines * line), _MOST_LINES * line) + 2 * 3 + 4)

    def _text_height(self) -> int:
        """Return the height of the text in pixels, counted no further than needed: only visible blocks are laid out."""
        line = QFontMetrics(self._theme.font("small")).lineSpacing()
        layout = self.edit.document().documentLayout()
        height, block = 0.0, self.edit.document().begin()
        while block.isValid() and height < _MOST_LINES * line:
            height += layout.blockBoundingRect(block).height()
            block = block.next()
        return round(height)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        edge = "accent" if self.edit.hasFocus() else "border-hi" if self.underMouse() else "border"
        edge = "critical" if self._refused else edge
        if self.isEnabled():
            draw_frame(painter, self.rect(), _RADIUS, color("field"), color(edge))
        else:
            draw_frame(painter, self.rect(), _RADIUS, line=color("separator"))

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Say what was typed before the focus or the field itself is gone."""
        if event.type() in (QEvent.Type.FocusOut, QEvent.Type.Hide):
            self.flush()
            self.update()
        elif event.type() == QEvent.Type.FocusIn:
            self.update()
        elif event.type() == QEvent.Type.Resize:
            # The text is laid out for the new width only after this event.
            QTimer.singleShot(0, self, self._fit)
        return False

    def _changed(self) -> None:
        self._fit()
        if not self._silent:
            self._debounce.touch()

    def _fit(self) -> None:
        height = self.sizeHint().height()
        if height != self.height():
            self.setFixedHeight(height)

    def _say(self) -> None:
        self.edited.emit(self.text)

    def _dress(self) -> None:
        self._theme.dress(self.edit, text_style(self._theme, "QPlainTextEdit"), self._theme.font("small"))
        self._fit()
        self.update()
