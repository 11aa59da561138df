"""The soft shadow under a toast or a popover."""

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame, faded

MARGIN = 24
_DROP = 8


class Shadow(QWidget):
    """Lies under `card`, a sibling, and follows it: 24 px of blur, 8 px down. Deaf to the mouse."""

    def __init__(self, theme: Theme, card: QWidget, radius: int) -> None:
        super().__init__(card.parentWidget())
        self._theme, self._card, self._radius = theme, card, radius
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        card.installEventFilter(self)
        card.destroyed.connect(self.deleteLater)
        theme.changed.connect(self.update)
        self._follow()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Follow the card."""
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self._follow()
        elif event.type() == QEvent.Type.Show:
            self.show()
            self._follow()
        elif event.type() == QEvent.Type.Hide:
            self.hide()
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color("shadow")
        card = QRectF(self.rect()).adjusted(MARGIN, MARGIN - _DROP, -MARGIN, -MARGIN - _DROP).translated(0, _DROP)
        # Rings laid over one another add up to a fall that is steep at the card and flat at its end, as a blur is.
        steps = 12
        for step in range(steps):
            reach = (MARGIN - _DROP) * (1 - step / steps)
            share = 1.6 / steps * (step + 1) / steps
            draw_frame(painter, card.adjusted(-reach, -reach, reach, reach), self._radius + reach, faded(color, share))

    def _follow(self) -> None:
        self.setGeometry(self._card.geometry().adjusted(-MARGIN, -MARGIN + _DROP, MARGIN, MARGIN + _DROP))
        self.stackUnder(self._card)
