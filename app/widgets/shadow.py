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
        card = QRectF(self.rect()).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        # One ring a pixel; laid over one another they add up to half the shadow at the card's edge, falling to none as a
        # square, which is near what a blur gives.
        for reach in range(MARGIN, 0, -1):
            outer, inner = (1 - reach / MARGIN) ** 2, (1 - (reach - 1) / MARGIN) ** 2
            ring = card.adjusted(-reach, -reach, reach, reach)
            draw_frame(painter, ring, self._radius + reach, faded(color, 0.5 * (inner - outer)))

    def _follow(self) -> None:
        self.setGeometry(self._card.geometry().adjusted(-MARGIN, -MARGIN + _DROP, MARGIN, MARGIN + _DROP))
        self.stackUnder(self._card)
