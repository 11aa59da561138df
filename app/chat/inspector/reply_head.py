"""What stands over a reply's shaded tokens: how many, how sure the model was, and the way to shade the chat itself."""

from math import exp

from PySide6.QtCore import QPointF, QRect, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from app.chat.inspector.shade_legend import ShadeLegend
from app.theme import Theme
from app.widgets.frame import draw_hairline
from app.widgets.heading import draw_heading
from app.widgets.label import Label
from app.widgets.link import Link
from engine.core.odds import TokenOdds
from engine.core.sizes import count_text

_ROOMY = 364
_BASIS = "By the model's own odds, before temperature and the other sampling settings."


class ReplyHead(QWidget):
    """`shading_toggled` asks to shade the reply in the chat, or to show it formatted again."""

    shading_toggled = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._title, self._note = "", ""
        self.setObjectName("replyHead")
        legend = ShadeLegend(theme, self)
        self._link = Link(theme, "Shade in the chat", style="caption", parent=self)
        self._link.setObjectName("shadeChat")
        self._link.clicked.connect(self.shading_toggled)
        self._row = row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(legend)
        row.addStretch(1)
        row.addWidget(self._link)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12 + 16 + 8, 16, 12)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(Label(theme, _BASIS, style="caption", role="ink-3", wrap=True, parent=self))
        theme.changed.connect(self.update)

    @property
    def text(self) -> str:
        """What it says."""
        return f"{self._title}; {self._note}"

    def show_odds(self, odds: TokenOdds) -> None:
        """Say how many tokens there are and how surprising they were."""
        count = len(odds.ids)
        self._title = count_text(count, "token")
        surprising = sum(1 for logprob in odds.logprobs if exp(logprob) < 0.1)
        mean = exp(sum(odds.logprobs) / count) if count else 1.0
        self._note = f"{percent(mean)} on average, {surprising:,} under 10%"
        self.setAccessibleName(self.text)
        self.update()

    def show_shading(self, shaded: bool) -> None:
        """Say what the link leads to."""
        self._link.setText("Show formatted" if shaded else "Shade in the chat")
        self._link.setAccessibleName(self._link.text())
        self._link.updateGeometry()
        self._link.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the link under the legend where there is no room beside it."""
        super().resizeEvent(event)
        roomy = self.width() >= _ROOMY
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if roomy else QBoxLayout.Direction.TopToBottom)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        draw_heading(painter, self._theme, QRect(16, 12, self.width() - 32, 16), self._title, self._note)
        y = self.height() - 1
        draw_hairline(painter, QPointF(0, y), QPointF(self.width(), y), self._theme.color("separator"))


def percent(probability: float) -> str:
    """Return a probability as people read it: 34%, 0.3%, under 0.1%."""
    share = probability * 100
    if share >= 99.95:
        return "100%"
    if share >= 1:
        return f"{share:.0f}%"
    return f"{share:.1f}%" if share >= 0.1 else "<0.1%"
