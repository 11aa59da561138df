"""A file that goes with a message, as a chip: its name, what it comes to, and a button that takes it away."""

from math import ceil

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.chat.composer.token_estimate import about
from app.theme import Theme
from app.widgets.frame import draw_frame
from app.widgets.halo import focus_ring
from app.widgets.icon_button import IconButton
from engine.chats.attachment import Attachment, framed
from engine.core.sizes import count_text

HEIGHT = 24
WIDEST = 280
_PADDING, _ICON, _GAP, _RADIUS, _REMOVE = 8, 14, 6, 6, 20


class AttachmentChip(QAbstractButton):
    """24 px high. A click opens it (`clicked`); `remove_pressed` comes from its button, or from Delete, where it has one."""

    remove_pressed = Signal()

    def __init__(self, theme: Theme, *, removable: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name, self._detail = "", ""
        self._fraction: float | None = None
        self._remove: IconButton | None = None
        if removable:
            self._remove = IconButton(theme, "x", "Remove", size=_REMOVE, icon_size=12, role="ink-3", parent=self)
            self._remove.clicked.connect(self.remove_pressed)
        self.setFixedHeight(HEIGHT)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._ring = focus_ring(theme, self, _RADIUS)
        theme.changed.connect(self.update)

    @property
    def focus_chain(self) -> list[QWidget]:
        """The chip and its button, in the order of Tab."""
        return [self, self._remove] if self._remove else [self]

    @property
    def words(self) -> str:
        """What the chip says: the name, and what is known of it."""
        return f"{self._name}, {self._detail}"

    @property
    def shown_name(self) -> str:
        """The name as far as it has room."""
        room = max(0, self.width() - self._around())
        return self._metrics(500).elidedText(self._name, Qt.TextElideMode.ElideMiddle, room)

    def show_attachment(self, place: int, attachment: Attachment, *, counted: bool = True) -> None:
        """Show a text that is ready, the one at a `place` in its row."""
        tokens = attachment.tokens if counted else 0
        detail = count_text(tokens, "token", short=True) if tokens else about(framed(attachment))
        self._show(place, attachment.name, detail, None)

    def show_reading(self, place: int, name: str, fraction: float) -> None:
        """Show a file that is being read."""
        self._show(place, name, f"Reading {fraction:.0%}" if fraction else "Reading", fraction)

    def sizeHint(self) -> QSize:
        """As wide as its words, up to a limit; then the name is cut."""
        name = self._advance(500, self._name)
        return QSize(min(WIDEST, self._around() + name), HEIGHT)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return opens, as Space does; Delete takes it away."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self._remove:
            self.remove_pressed.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the button at the right."""
        super().resizeEvent(event)
        if self._remove:
            self._remove.move(self.width() - _REMOVE - 2, (HEIGHT - _REMOVE) // 2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        # On a raised ground the chip lies in, in a bubble it stands out.
        draw_frame(painter, self.rect(), _RADIUS, color("inset" if self._remove else "content"), color("separator"))
        if self.isDown() or self.underMouse():
            draw_frame(painter, self.rect(), _RADIUS, color("pressed" if self.isDown() else "hover"))
        if self._fraction is not None:
            painter.fillRect(
                QRect(_RADIUS, HEIGHT - 2, round((self.width() - 2 * _RADIUS) * self._fraction), 2), color("accent")
            )
        icon = self._theme.pixmap("file", "ink-3", _ICON, self.devicePixelRatioF())
        painter.drawPixmap(QPoint(_PADDING, (HEIGHT - _ICON) // 2), icon)
        left = _PADDING + _ICON + _GAP
        painter.setFont(self._theme.font("small", 500))
        painter.setPen(color("ink"))
        name = self.shown_name
        width = self._advance(500, name)
        painter.drawText(QRect(left, 0, width + 2, HEIGHT), Qt.AlignmentFlag.AlignVCenter, name)
        painter.setFont(self._theme.font("small"))
        painter.setPen(color("ink-3"))
        painter.drawText(QRect(left + width + _GAP, 0, self.width(), HEIGHT), Qt.AlignmentFlag.AlignVCenter, self._detail)

    def _metrics(self, weight: int | None) -> QFontMetricsF:
        """Return what text takes on this screen: letters stand closer or wider where pixels are finer."""
        return QFontMetricsF(self._theme.font("small", weight), self)

    def _advance(self, weight: int | None, text: str) -> int:
        # Rounded down, a text would be cut where there is just room for it.
        return ceil(self._metrics(weight).horizontalAdvance(text))

    def _around(self) -> int:
        """Return the width of all but the name."""
        detail = self._advance(None, self._detail)
        return _PADDING + _ICON + _GAP + _GAP + detail + (_REMOVE + 4 if self._remove else _PADDING) + 3

    def _show(self, place: int, name: str, detail: str, fraction: float | None) -> None:
        self._name, self._detail, self._fraction = name, detail, fraction
        self.setObjectName(f"attachment.{place}")
        self.setAccessibleName(f"Attached: {self.words}")
        self.setToolTip(name)
        if self._remove:
            self._remove.setObjectName(f"removeAttachment.{place}")
            self._remove.setAccessibleName(f"Remove {name}")
            self._remove.setToolTip(f"Remove {name}")
        self.resize(self.sizeHint())
        self.updateGeometry()
        self.update()
