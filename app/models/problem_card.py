"""What is wrong with a model and what to do about it."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from app.widgets.label import Label

_RADIUS, _AFTER = 8, 16


class ProblemCard(QWidget):
    """A card in the colour of failure, with the same space under it as between the parts around it; hidden without one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("modelProblem")
        self._icon = QLabel(self)
        self._problem = Label(theme, style="read-ui", weight=500, role="critical", wrap=True, parent=self)
        self._remedy = Label(theme, style="read-small", wrap=True, parent=self)
        words = QVBoxLayout()
        words.setSpacing(4)
        for label in (self._problem, self._remedy):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            words.addWidget(label)
        self._links = QHBoxLayout()
        self._links.setSpacing(16)
        words.addLayout(self._links)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 12 + _AFTER)
        layout.setSpacing(8)
        layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)
        theme.changed.connect(self._dress)
        self._dress()
        self.hide()

    def add_links(self, *links: QWidget) -> None:
        """Put what can be done about it under the words; who gives the links shows and hides them."""
        for link in links:
            self._links.addWidget(link)
        self._links.addStretch(1)

    @property
    def text(self) -> str:
        """The problem on show, or nothing."""
        return self._problem.text() if self.isVisibleTo(self.parentWidget() or self) else ""

    def show_problem(self, problem: str, remedy: str) -> None:
        """Show a problem and what to do, or nothing when there is none."""
        self._problem.setText(problem)
        self._remedy.setText(remedy)
        self.setAccessibleName(problem)
        self.setAccessibleDescription(remedy)
        self.setVisible(bool(problem))

    def paintEvent(self, _event: QPaintEvent) -> None:
        draw_frame(QPainter(self), self.rect().adjusted(0, 0, 0, -_AFTER), _RADIUS, self._theme.color("critical-soft"))

    def _dress(self) -> None:
        self._icon.setFixedSize(16, self._theme.line("read-ui"))
        self._icon.setPixmap(self._theme.pixmap("warn", "critical", 16, self.devicePixelRatioF()))
        self.update()
