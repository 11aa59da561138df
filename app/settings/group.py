"""A group of the panel: a heading, what stands under it, and what is folded away."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.frame import draw_hairline
from app.widgets.halo import focus_ring
from app.widgets.label import Label

MARGIN = 16


class MoreButton(QAbstractButton):
    """Opens and closes the less common settings of a group; checked means open. Says how many of them are set here."""

    def __init__(self, theme: Theme, label: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._label, self._count = theme, label, 0
        self.setObjectName(f"more.{label}")
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._ring = focus_ring(theme, self, 4)
        theme.changed.connect(self._resize)
        self.toggled.connect(lambda _open: self.say(self._count))
        self.say(0)

    def say(self, count: int) -> None:
        """Show that `count` of the folded settings are set here."""
        self._count = count
        self.setText(f"More, {count} set" if count else "More")
        self.setAccessibleName(f"{'Fewer' if self.isChecked() else 'More'} settings of {self._label}")
        self.setAccessibleDescription(f"{count} set here" if count else "")
        self._resize()

    def sizeHint(self) -> QSize:
        """The chevron and the text."""
        width = QFontMetrics(self._theme.font("small", 500)).horizontalAdvance(self.text())
        return QSize(20 + width + 4, 24)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        role = "ink" if self.underMouse() else "ink-2"
        icon = self._theme.pixmap("down" if self.isChecked() else "right", role, 12, self.devicePixelRatioF())
        painter.drawPixmap(QPoint(1, (self.height() - 12) // 2), icon)
        painter.setPen(self._theme.color(role))
        painter.setFont(self._theme.font("small", 500))
        painter.drawText(QRect(18, 0, self.width() - 18, self.height()), Qt.AlignmentFlag.AlignVCenter, self.text())

    def _resize(self) -> None:
        self.updateGeometry()
        self.update()


class Group(QWidget):
    """A heading with rows under it, and a line above that runs through the whole panel; `rare` rows are folded away.

    `beside` stands at the right of the heading.
    """

    def __init__(
        self,
        theme: Theme,
        label: str,
        rows: Sequence[QWidget],
        *,
        rare: Sequence[QWidget] = (),
        beside: QWidget | None = None,
        line: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._line = theme, line
        self.setObjectName(f"group.{label}")
        self.setAccessibleName(label)
        heading = QHBoxLayout()
        heading.addWidget(Label(theme, label, style="caption", role="ink-3", weight=600, parent=self))
        heading.addStretch(1)
        if beside is not None:
            heading.addWidget(beside)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, 12, MARGIN, 4)
        layout.setSpacing(8)
        layout.addLayout(heading)
        for row in rows:
            layout.addWidget(row)
        self.more: MoreButton | None = None
        self._folded = QWidget(self)
        self._folded.setVisible(False)
        if rare:
            self._fold(theme, label, rare, layout)
        theme.changed.connect(self.update)

    def set_right_margin(self, margin: int) -> None:
        """Set the room right of the rows."""
        layout = self.layout()
        if layout is not None:
            layout.setContentsMargins(MARGIN, 12, margin, 4)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._line:
            line = self._theme.color("separator")
            draw_hairline(QPainter(self), QPointF(0, 0), QPointF(self.width() - 1, 0), line)

    def _fold(self, theme: Theme, label: str, rare: Sequence[QWidget], layout: QVBoxLayout) -> None:
        self.more = MoreButton(theme, label, self)
        column = QVBoxLayout(self._folded)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for row in rare:
            column.addWidget(row)
        layout.addWidget(self.more)
        layout.addWidget(self._folded)
        self.more.toggled.connect(self._folded.setVisible)


class GroupColumn(QWidget):
    """Groups in a view `width` pixels wide: where a scroll bar takes room, the right margin gives it, so that nothing moves."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for group in self.findChildren(Group):
            group.set_right_margin(max(0, MARGIN - (self._width - event.size().width())))
