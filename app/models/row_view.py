"""Lists of models: rows that are chosen by Return or a double click, and how one is painted."""

import contextlib
from collections.abc import Iterable, Iterator

from PySide6.QtCore import QAbstractListModel, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.badge import BadgeKind, badge_height, badge_width, draw_badge
from app.models.model_list import Index
from app.theme import Theme
from app.widgets.frame import draw_frame

NAME, FACTS = "read-ui", "read-small"
"""The styles of a row's two kinds of text."""
GAP = 8
_PADDING, _RADIUS, _BETWEEN, _ROOMY = 8, 6, 4, 420
_LEFT, _RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
type Badge = tuple[str, BadgeKind, str]
_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


def draw_line(
    painter: QPainter, theme: Theme, box: QRect, text: str, style: str, weight: int, role: str, side: Qt.AlignmentFlag = _LEFT
) -> None:
    """Paint one line of text into `box`, cut with an ellipsis where it is too long."""
    painter.setFont(theme.font(style, weight))
    painter.setPen(theme.color(role))
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, side | Qt.AlignmentFlag.AlignVCenter, shown)


class RowView(QListView):
    """`chosen` carries the row that Return or a double click asks for; `ring` says that the focus came from the keyboard."""

    chosen = Signal(int)

    def __init__(self, model: QAbstractListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ring = False
        self.setModel(model)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setMouseTracking(True)
        self.doubleClicked.connect(lambda index: self.chosen.emit(index.row()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.chosen.emit(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Rows may be higher where there is less room."""
        super().resizeEvent(event)
        self.doItemsLayout()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring for focus that came from the keyboard alone."""
        self.ring = event.reason() in _KEYBOARD
        super().focusInEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.ring = False
        super().mousePressEvent(event)


class RowDelegate(QStyledItemDelegate):
    """Rows of a name over facts that show what is chosen; `paint` of each list draws its words inside `row`.

    A list of another kind has a `height` and a distance from the view's sides, `inset`, of its own.
    """

    inset = 8

    def __init__(self, theme: Theme, view: RowView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view
        theme.changed.connect(view.doItemsLayout)

    @property
    def height(self) -> int:
        """How high a row is, in pixels: 56 at the design's text size."""
        badges = badge_height(self._theme) + _BETWEEN if self.stacked else 0
        return 2 * _PADDING + self._theme.line(NAME) + badges + _BETWEEN + self._theme.line(FACTS)

    @property
    def stacked(self) -> bool:
        """Whether the text is so large for the view that badges take a line of their own."""
        return self._view.viewport().width() < self._theme.grown(_ROOMY)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """All rows are as high, and as wide as the view: a wider wish would make it scroll sideways."""
        del option, index
        return QSize(0, self.height)

    @contextlib.contextmanager
    def row(self, painter: QPainter, option: QStyleOptionViewItem) -> Iterator[QRect]:
        """Draw a row's ground, and yield the room for its words; the painter is as before afterwards."""
        box = option.rect.adjusted(self.inset, 0, -self.inset, 0)
        painter.save()
        self._ground(painter, option, box)
        try:
            yield box.adjusted(_PADDING, 0, -_PADDING, 0)
        finally:
            painter.restore()

    def lines(self, box: QRect) -> tuple[QRect, QRect, QRect]:
        """Return the line for a name, the one for badges, which is the same where there is room, and the one for facts."""
        name, badges, facts = (
            QRect(box.left(), box.top() + _PADDING, box.width(), height)
            for height in (self._theme.line(NAME), badge_height(self._theme), self._theme.line(FACTS))
        )
        badges.moveTop(name.top() + (name.height() - badges.height()) // 2)
        if self.stacked:
            badges.moveTop(name.bottom() + 1 + _BETWEEN)
        facts.moveTop((badges if self.stacked else name).bottom() + 1 + _BETWEEN)
        return name, badges, facts

    def badges(self, painter: QPainter, name: QRect, line: QRect, badges: Iterable[Badge], between: int = GAP) -> None:
        """Draw badges, the last one at the right of their line, or all at its left where it is not the name's too.

        What they take of the name's line is cut off `name`.
        """
        known = [(*badge, badge_width(self._theme, badge[0], badge[2])) for badge in badges if badge[0]]
        x = line.left()
        if not self.stacked and known:
            x = line.right() + 1 - sum(width for *_, width in known) - between * (len(known) - 1)
            name.setRight(x - GAP - 1)
        for text, kind, icon, width in known:
            draw_badge(painter, self._theme, QRect(x, line.top(), width, line.height()), text, kind, icon)
            x += width + between

    def facts(self, painter: QPainter, line: QRect, columns: tuple[tuple[str, int], ...]) -> int:
        """Draw columns of small text from the right, each in its room at the design's text size, or in more where it needs
        that; return where what stands before them has to end."""
        right, metrics = line.right() + 1, QFontMetrics(self._theme.font(FACTS))
        for text, room in columns:
            wide = metrics.horizontalAdvance(text) + 2 * GAP if text else 0
            if not self.stacked:  # Else there is no room to spare for columns that stand under each other.
                wide = max(wide - GAP, self._theme.grown(room))
            column = QRect(right - wide, line.top(), wide, line.height())
            draw_line(painter, self._theme, column, text, FACTS, 400, "ink-3", _RIGHT)
            right -= wide
        return right

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, box: QRect) -> None:
        if option.state & QStyle.StateFlag.State_Selected:
            draw_frame(painter, box, _RADIUS, self._theme.color("selected"))
            if self._view.ring and self._view.hasFocus():
                draw_frame(painter, box, _RADIUS, line=self._theme.color("accent"), width=2)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            draw_frame(painter, box, _RADIUS, self._theme.color("hover"))
