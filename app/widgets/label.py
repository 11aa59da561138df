"""Text set in a style and a role of the theme."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.theme import Theme


class Label(QLabel):
    """Plain text in one of the theme's text styles and ink roles; `lines` of the style's height, or wrapped ones."""

    lines = 1

    def __init__(
        self,
        theme: Theme,
        text: str = "",
        *,
        style: str = "ui",
        role: str = "ink",
        weight: int | None = None,
        wrap: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._theme, self._style, self._role, self._weight = theme, style, role, weight
        self._line = theme.line(style)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if wrap:
            policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
            policy.setHeightForWidth(True)  # Wrapping had set it, and a layout asks for the lines of its own width by it.
            self.setSizePolicy(policy)
        else:
            self.setFixedHeight(self.lines * self._line)
        theme.changed.connect(self._dress)
        self._dress()

    def set_role(self, role: str) -> None:
        """Set the ink."""
        if role != self._role:
            self._role = role
            self._dress()

    def _dress(self) -> None:
        sheet = f"color: {self._theme.css(self._role)}; background: transparent;"
        self._theme.dress(self, sheet, self._theme.font(self._style, self._weight))
        before, self._line = self._line, self._theme.line(self._style)
        if not self.wordWrap() and self._line != before:  # The room that somebody gave around the lines stays.
            self.setFixedHeight(self.minimumHeight() + self.lines * (self._line - before))
