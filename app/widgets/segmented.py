"""A row of segments of which one is chosen."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QSizePolicy, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from app.widgets.halo import focus_ring

_PADDING = 10


class _Segment(QAbstractButton):
    """One choice."""

    def __init__(self, theme: Theme, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setText(text)
        self.setAccessibleName(text)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._ring = focus_ring(theme, self, 5)

    def sizeHint(self) -> QSize:
        """Room for the text as it is set when chosen."""
        width = QFontMetrics(self._theme.font("small", 600)).horizontalAdvance(self.text())
        return QSize(width + 2 * _PADDING, 20)

    def minimumSizeHint(self) -> QSize:
        """The text with a little air."""
        return QSize(self.sizeHint().width() - 2 * _PADDING + 8, 20)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        chosen = self.isChecked()
        if chosen and self.isEnabled():
            draw_frame(painter, self.rect(), 5, color("segment"), color("segment-line"))
        if self.isDown() and self.isEnabled():
            draw_frame(painter, self.rect(), 5, color("pressed"))
        bright = chosen or self.underMouse()
        role = "ink-off" if not self.isEnabled() else "ink" if bright else "ink-2"
        painter.setPen(color(role))
        painter.setFont(self._theme.font("small", 600 if chosen else 400))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())


class Segmented(QWidget):
    """Segments for `choices`, pairs of a value and its label. `chosen` carries the value somebody chose."""

    chosen = Signal(str)

    def __init__(
        self, theme: Theme, choices: Sequence[tuple[str, str]], name: str, *, height: int = 28, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = name
        self.setObjectName(f"segmented.{name}")
        self.setFixedHeight(height)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.setSpacing(0)
        self._group = QButtonGroup(self)
        self._segments: dict[str, _Segment] = {}
        for value, label in choices:
            segment = _Segment(theme, label, self)
            segment.setObjectName(f"segment.{value}")
            self._group.addButton(segment)
            self._segments[value] = segment
            layout.addWidget(segment, 1)
            segment.clicked.connect(lambda _checked=False, value=value: self._choose(value))
        self._value = choices[0][0]
        self._segments[self._value].setChecked(True)
        self._describe()
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """All are as wide as the widest."""
        widest = max(segment.sizeHint().width() for segment in self._segments.values())
        return QSize(widest * len(self._segments) + 4, self.height())

    @property
    def value(self) -> str:
        """The chosen value."""
        return self._value

    def set_value(self, value: str) -> None:
        """Choose without saying so. Raises `KeyError` for a value that is none of the choices."""
        self._segments[value].setChecked(True)
        self._value = value
        self._describe()

    def set_choice_enabled(self, value: str, enabled: bool, why: str = "") -> None:
        """Let a choice be taken, or not and `why`. Raises `KeyError` for a value that is none of the choices."""
        self._segments[value].setEnabled(enabled)
        self._segments[value].setToolTip("" if enabled else why)

    def paintEvent(self, _event: QPaintEvent) -> None:
        draw_frame(QPainter(self), self.rect(), 6, self._theme.color("selected"))

    def _choose(self, value: str) -> None:
        if value != self._value:
            self._value = value
            self._describe()
            self.chosen.emit(value)

    def _describe(self) -> None:
        self.setAccessibleName(self._name)
        self.setAccessibleDescription(self._segments[self._value].text())
