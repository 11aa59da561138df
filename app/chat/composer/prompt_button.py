"""The button that says which system prompt a chat has, and opens the list of them."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from app.widgets.halo import focus_ring

_HEIGHT, _PADDING, _GAP, _ICON, _RADIUS = 24, 8, 4, 12, 6
_WIDEST = 160
NOTHING = "Prompt"


class PromptButton(QAbstractButton):
    """24 px high and quiet: “Prompt” where there is none, else its name."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = ""
        self.setObjectName("promptButton")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self._ring = focus_ring(theme, self, _RADIUS)
        theme.changed.connect(self.update)
        self.show_prompt("", "")

    @property
    def words(self) -> str:
        """What the button says."""
        return self._name or NOTHING

    def show_prompt(self, name: str, text: str) -> None:
        """Say which prompt is in force; the tip holds the beginning of its `text`."""
        self._name = name
        beginning = text if len(text) <= 300 else f"{text[:300].rstrip()}…"
        self.setAccessibleName(f"System prompt: {name or 'none'}")
        self.setToolTip(beginning or "Choose a system prompt")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as the name, up to a limit."""
        text = QFontMetrics(self._font()).horizontalAdvance(self.words) + 2
        return QSize(min(_WIDEST, text + 2 * _PADDING + _GAP + _ICON), _HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.isDown() or self.underMouse():
            draw_frame(painter, self.rect(), _RADIUS, self._theme.color("pressed" if self.isDown() else "hover"))
        painter.setFont(self._font())
        role = "ink-2" if self._name else "ink-3"
        painter.setPen(self._theme.color(role))
        box = QRect(_PADDING, 0, self.width() - 2 * _PADDING - _GAP - _ICON, self.height())
        shown = painter.fontMetrics().elidedText(self.words, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)
        icon = self._theme.pixmap("down", role, _ICON, self.devicePixelRatioF())
        painter.drawPixmap(QPoint(self.width() - _PADDING - _ICON, (self.height() - _ICON) // 2), icon)

    def _font(self) -> QFont:
        return self._theme.font("small", 500 if self._name else 400)
