"""What is drawn around a control: the keyboard's focus ring, and the glow of a field that is being edited."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget
from shiboken6 import isValid

from app.theme import Theme
from app.widgets.frame import draw_frame

_KEYBOARD = {
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
}
_AWAY = {Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason}
_FOLLOWED = {QEvent.Type.Move, QEvent.Type.Resize}


class _Line(QWidget):
    """The ring itself: over the controls, deaf to the mouse."""

    def __init__(self, theme: Theme, role: str, width: int, radius: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._role, self._width, self._radius = theme, role, width, radius
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        draw_frame(painter, self.rect(), self._radius, line=self._theme.color(self._role), width=self._width)


class Halo(QObject):
    """A line around `control` while it has the focus.

    A widget can't paint outside itself, so the line is a widget of its own, laid over the nearest ancestor with room for it.
    `gap` pixels lie between the control's edge and the line; `around` gives the part of the control it surrounds, the whole
    of it by default; `source` is the widget whose focus counts, the control itself by default.
    """

    def __init__(
        self,
        theme: Theme,
        control: QWidget,
        radius: int,
        *,
        gap: int,
        width: int,
        role: str,
        keyboard_only: bool,
        around: Callable[[], QRect] | None = None,
        source: QWidget | None = None,
    ) -> None:
        super().__init__(control)
        self._theme, self._control, self._role = theme, control, role
        self._gap, self._width, self._radius = gap, width, radius + gap + width
        self._keyboard_only = keyboard_only
        self._around = around or control.rect
        self._source = source or control
        self._line: _Line | None = None
        self._watched: list[QWidget] = []
        self._comes_back = False
        self._source.installEventFilter(self)

    @property
    def visible(self) -> bool:
        """Whether the line is drawn now."""
        return self._line is not None

    def follow(self) -> None:
        """Move the line to where the control is now."""
        host = self._line.parentWidget() if self._line is not None and isValid(self._line) else None
        if self._line is None or host is None:
            return
        reach = self._gap + self._width
        rect = self._around().adjusted(-reach, -reach, reach, reach)
        self._line.setGeometry(QRect(self._control.mapTo(host, rect.topLeft()), rect.size()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the focus and every move of the control and of what holds it."""
        kind = event.type()
        if watched is self._source and kind == QEvent.Type.FocusIn and isinstance(event, QFocusEvent):
            returning = event.reason() in _AWAY and self._comes_back
            if not self._keyboard_only or event.reason() in _KEYBOARD or returning:
                self._show()
        elif watched is self._source and kind == QEvent.Type.FocusOut and isinstance(event, QFocusEvent):
            # Another window or a menu only borrows the focus.
            self._comes_back = self.visible and event.reason() in _AWAY
            self._hide()
        elif watched is self._source and kind == QEvent.Type.Hide:
            self._hide()
        elif kind in _FOLLOWED:
            self.follow()
        return False

    def _show(self) -> None:
        self._hide()
        host = self._host()
        self._line = _Line(self._theme, self._role, self._width, self._radius, host)
        widget: QWidget | None = self._control
        while widget is not None and widget is not host:
            widget.installEventFilter(self)
            self._watched.append(widget)
            widget = widget.parentWidget()
        self.follow()
        self._line.show()
        self._line.raise_()

    def _hide(self) -> None:
        for widget in self._watched:
            if widget is not self._source and isValid(widget):
                widget.removeEventFilter(self)
        self._watched.clear()
        if self._line is not None and isValid(self._line):
            self._line.hide()
            self._line.deleteLater()
        self._line = None

    def _host(self) -> QWidget:
        reach = self._gap + self._width
        rect = self._around().adjusted(-reach, -reach, reach, reach)
        host = self._control.parentWidget() or self._control
        while not host.isWindow():
            corner = self._control.mapTo(host, QPoint(rect.topLeft()))
            if host.rect().contains(QRect(corner, rect.size())) or isinstance(host.parentWidget(), QAbstractScrollArea):
                break
            host = host.parentWidget() or host.window()
        return host


def focus_ring(
    theme: Theme, control: QWidget, radius: int, around: Callable[[], QRect] | None = None, source: QWidget | None = None
) -> Halo:
    """Give `control` the ring for focus that came from the keyboard: 2 px of accent, 2 px away."""
    return Halo(theme, control, radius, gap=2, width=2, role="accent", keyboard_only=True, around=around, source=source)


def edit_glow(theme: Theme, control: QWidget, radius: int, source: QWidget | None = None) -> Halo:
    """Give a field the 2 px glow it has while it is edited."""
    return Halo(theme, control, radius, gap=0, width=2, role="accent-line", keyboard_only=False, source=source)
