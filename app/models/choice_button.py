"""A small button that shows a choice and opens the others under it."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.theme import Theme
from app.widgets.button import Button

_ICON, _PADDING, _GAP = 12, 10, 4


class ChoiceButton(Button):
    """24 px high. `choices` are pairs of a value and its label; `chosen` carries the value somebody chose."""

    chosen = Signal(str)

    def __init__(
        self, theme: Theme, name: str, what: str, choices: Sequence[tuple[str, str]], parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, choices[0][1], small=True, parent=parent)
        self._choices = dict(choices)
        self._what = what
        self.value = choices[0][0]
        self.setObjectName(name)
        self.menu = QMenu(self)
        self.menu.setObjectName(f"{name}.menu")
        group = QActionGroup(self.menu)
        for value, label in choices:
            action = self.menu.addAction(label)
            action.setCheckable(True)
            action.setChecked(value == self.value)
            group.addAction(action)
            action.triggered.connect(lambda _checked=False, value=value: self._choose(value))
        self.clicked.connect(self.open)
        self._describe()

    def open(self) -> None:
        """Open the choices under the button."""
        self.menu.popup(self.mapToGlobal(QPoint(0, self.height() + 4)))

    def sizeHint(self) -> QSize:
        """The text, and the arrow after it."""
        width = QFontMetrics(self._theme.font("small", 500)).horizontalAdvance(self.text())
        return QSize(width + _GAP + _ICON + 2 * _PADDING, 24)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._paint_ground(painter)
        role = "ink" if self.isEnabled() else "ink-off"
        painter.setFont(self._theme.font("small", 500))
        painter.setPen(self._theme.color(role))
        words = QRect(_PADDING, 0, self.width() - 2 * _PADDING, self.height())
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text())
        pixmap = self._theme.pixmap("down", "ink-3" if self.isEnabled() else "ink-off", _ICON, self.devicePixelRatioF())
        painter.drawPixmap(QPoint(self.width() - _PADDING - _ICON, (self.height() - _ICON) // 2), pixmap)

    def _choose(self, value: str) -> None:
        if value != self.value:
            self.value = value
            self._describe()
            self.chosen.emit(value)

    def _describe(self) -> None:
        self.setText(self._choices[self.value])
        self.setAccessibleName(f"{self._what}: {self.text()}")
        self.updateGeometry()
