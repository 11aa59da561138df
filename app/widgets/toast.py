"""Messages at the window's upper right: errors with what to do, and what can be undone."""

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QPoint, QPropertyAnimation, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.announcement import announce
from app.widgets.frame import draw_frame
from app.widgets.icon_button import IconButton
from app.widgets.label import Label
from app.widgets.link import Link
from app.widgets.shadow import Shadow

type Kind = Literal["error", "refusal", "info"]

WIDTH = 344
SHOWN_MS = 6000
_RIGHT, _TOP, _BETWEEN = 16, 52 + 12, 8
_MOST = 4
_IN_MS, _OUT_MS = 160, 240
_SLIDE = 16


class Toast(QWidget):
    """One message; `closed` says that it is gone or going."""

    closed = Signal()

    def __init__(
        self,
        theme: Theme,
        text: str,
        hint: str,
        kind: Kind,
        action: tuple[str, Callable[[], object]] | None,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._theme, self.kind, self.text, self.hint = theme, kind, text, hint
        self._over, self._closing = parent, False
        self.setObjectName("toast")
        self.setAccessibleName(text)
        self.setAccessibleDescription(hint)
        self.setFixedWidth(WIDTH)
        self._icon = QLabel(self)
        self._title = Label(theme, text, weight=500, wrap=True, parent=self)
        self._hint = Label(theme, hint, style="small", role="ink-2", wrap=True, parent=self)
        self._fill(action)
        self.shadow = Shadow(theme, self, 8)
        self.timer = QTimer(self, interval=SHOWN_MS, singleShot=True)
        self.timer.timeout.connect(self.close_toast)
        self._motion = QPropertyAnimation(self, b"pos", self)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        theme.changed.connect(self._dress)
        self._dress()

    def close_toast(self) -> None:
        """Take the message away."""
        if self._closing:
            return
        self._closing = True
        self.timer.stop()
        for button in self.findChildren(QAbstractButton):
            button.setEnabled(False)  # It leaves the keyboard now, not once it is out of sight, and is pressed once.
        self.closed.emit()
        if self._theme.still or not self.isVisible():
            self._gone()
            return
        self.move_to(QPoint(self._over.width() + _SLIDE, self.y()), _OUT_MS)
        self._motion.finished.connect(self._gone)

    def move_to(self, place: QPoint, duration_ms: int = _IN_MS) -> None:
        """Glide to a place in the parent, or be there at once where the system asks for less motion."""
        self._motion.stop()
        if self._theme.still or not self.isVisible():
            self.move(place)
            return
        self._motion.setDuration(duration_ms)
        self._motion.setEndValue(place)
        self._motion.start()

    def sizeHint(self) -> QSize:
        """As high as the wrapped text needs."""
        layout = self.layout()
        return QSize(WIDTH, layout.heightForWidth(WIDTH) if layout else 40)

    def paintEvent(self, _event: QPaintEvent) -> None:
        color = self._theme.color
        draw_frame(QPainter(self), self.rect(), 8, color("raised"), color("border"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes it."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_toast()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Wait while somebody reads."""
        self.timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        if self.kind != "error" and not self._closing:
            self.timer.start()
        super().leaveEvent(event)

    def _fill(self, action: tuple[str, Callable[[], object]] | None) -> None:
        self._icon.setFixedSize(16, 24)
        for label in (self._title, self._hint):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._hint.setVisible(bool(self.hint))
        words = QVBoxLayout()
        words.setContentsMargins(0, 2, 0, 2)
        words.setSpacing(2)
        words.addWidget(self._title)
        words.addWidget(self._hint)
        if action is not None:
            link = Link(self._theme, action[0], parent=self)
            link.setObjectName("toastAction")
            link.clicked.connect(action[1])
            link.clicked.connect(self.close_toast)
            words.addWidget(link)
        close = IconButton(self._theme, "x", "Close", size=24, icon_size=14, role="ink-3", parent=self)
        close.setObjectName("toastClose")
        close.clicked.connect(self.close_toast)
        for button in self.findChildren(QAbstractButton):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # Who clicks goes on writing.
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 8)
        layout.setSpacing(8)
        layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)

    def _dress(self) -> None:
        name, role = ("check", "ink-2") if self.kind == "info" else ("warn", "critical")
        self._icon.setPixmap(self._theme.pixmap(name, role, 16, self.devicePixelRatioF()))
        self.update()

    def _gone(self) -> None:
        self.hide()
        self.shadow.hide()
        self.deleteLater()


class Toaster(QObject):
    """Shows messages over `parent`, newest at the top, 16 px from its right edge and 12 under its toolbar.

    Information goes after 6 s, unless the pointer is over it; errors stay until somebody closes them. A refusal, by which
    nothing failed, looks like an error and goes like information.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._over = theme, parent
        self._toasts: list[Toast] = []
        parent.installEventFilter(self)

    @property
    def toasts(self) -> tuple[Toast, ...]:
        """The messages on show, newest first."""
        return tuple(self._toasts)

    def show(
        self, text: str, hint: str = "", kind: Kind = "info", action: tuple[str, Callable[[], object]] | None = None
    ) -> Toast:
        """Show a message with what to do about it and at most one action, as `("Undo", restore)`.

        The same message again takes the place of the one on show.
        """
        for old in self._toasts:
            if (old.text, old.hint) == (text, hint):
                old.close_toast()
                break
        toast = Toast(self._theme, text, hint, kind, action, self._over)
        toast.closed.connect(lambda: self._forget(toast))
        self._toasts.insert(0, toast)
        for surplus in self._toasts[_MOST:]:
            surplus.close_toast()
        toast.resize(toast.sizeHint())
        toast.move(self._over.width() - WIDTH - _RIGHT + _SLIDE, _TOP)
        toast.show()
        toast.raise_()
        if kind != "error":
            toast.timer.start()
        self._arrange()
        announce(self._over, f"{toast.text} {toast.hint}".strip(), urgent=toast.kind != "info")
        return toast

    def dismiss_newest(self) -> bool:
        """Close the newest message; return whether there was one. For the window's own Escape."""
        if self._toasts:
            self._toasts[0].close_toast()
            return True
        return False

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Keep to the window's edge."""
        if event.type() == QEvent.Type.Resize:
            for toast, place in self._places():
                toast.move(place)
        return False

    def _places(self) -> list[tuple[Toast, QPoint]]:
        left, y = self._over.width() - WIDTH - _RIGHT, _TOP
        places = []
        for toast in self._toasts:
            places.append((toast, QPoint(left, y)))
            y += toast.height() + _BETWEEN
        return places

    def _arrange(self) -> None:
        for toast, place in self._places():
            toast.move_to(place)

    def _forget(self, toast: Toast) -> None:
        if toast in self._toasts:
            self._toasts.remove(toast)
            self._arrange()
