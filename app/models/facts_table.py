"""A table of facts: a name and a value each, in two columns where there is room."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.theme import Theme
from app.widgets.label import Label

_STYLE, _AROUND = "read-small", 4
_NAME, _TWO_FROM = 104, 480


class FactsTable(QWidget):
    """Lines, 4 px apart; the values can be selected."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._cells: list[tuple[QLabel, QLabel]] = []
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(0)
        self._grid.setVerticalSpacing(4)
        theme.changed.connect(self._fit)

    def show_facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Show these names and values; a pair without a value is left out. The same ones again stay, with what is selected."""
        wanted = [(name, value) for name, value in facts if value]
        if wanted == [(name.text(), value.text()) for name, value in self._cells]:
            return
        for cell in [label for pair in self._cells for label in pair]:
            self._grid.removeWidget(cell)
            cell.hide()
            cell.deleteLater()
        self._cells = [self._pair(name, value) for name, value in wanted]
        self._columns = 0
        self._fit()

    def facts(self) -> dict[str, str]:
        """Return what is shown."""
        return {name.text(): value.text() for name, value in self._cells}

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _pair(self, name: str, value: str) -> tuple[QLabel, QLabel]:
        left = Label(self._theme, name, style=_STYLE, role="ink-3", parent=self)
        right = Label(self._theme, value, style=_STYLE, wrap=True, parent=self)
        right.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        right.setAccessibleName(f"{name}: {value}")
        left.setFixedHeight(left.height() + _AROUND)
        # Both stand on one line, whatever the font's own height; more lines go down from there.
        for label, right_edge in ((left, 0), (right, 8)):
            label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
            label.setContentsMargins(0, 3, right_edge, 1)
        return left, right

    def _fit(self) -> None:
        """Give names and lines the room that text of this size takes."""
        for name, value in self._cells:
            name.setFixedWidth(self._theme.grown(_NAME))
            value.setMinimumHeight(self._theme.line(_STYLE) + _AROUND)
        self._arrange()

    def _arrange(self) -> None:
        columns = 2 if self.width() >= self._theme.grown(_TWO_FROM) else 1
        if columns == self._columns:
            return
        self._columns = columns
        rows = -(-len(self._cells) // columns)
        for place, (name, value) in enumerate(self._cells):
            column, row = (place // rows, place % rows) if rows else (0, 0)
            self._grid.addWidget(name, row, 2 * column, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, row, 2 * column + 1)
            name.show()
            value.show()
        for column in range(2):
            self._grid.setColumnStretch(2 * column + 1, 1 if column < columns else 0)
