"""The list of models in the models window, and how a row of it is painted."""

from PySide6.QtCore import QAbstractListModel, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.badge import HEIGHT as BADGE
from app.models.badge import BadgeKind, badge_width, draw_badge
from app.models.model_list import CURRENT_ROLE, ENTRY_ROLE, Index
from app.models.words import SEPARATOR, context_text, origin_badge, size_text, stored_as
from app.theme import Theme
from app.widgets.frame import draw_frame
from engine.core.facts import ModelEntry

ROW = 56
_INSET, _PADDING, _RADIUS = 8, 8, 6
_NAME, _FACTS, _BETWEEN, _GAP = 20, 16, 4, 8
_SIZE_ROOM, _CONTEXT_ROOM = 64, 96
_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)
CANT_BE_USED = "Can’t be used"


class ResultsView(QListView):
    """Models, one a row of 56 px. `chosen` carries the row that Return or a double click asks for."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, model: QAbstractListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ring = False
        self.setObjectName("modelResults")
        self.setAccessibleName("Models on this machine")
        self.setModel(model)
        self.setItemDelegate(ResultsDelegate(theme, self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setMouseTracking(True)
        self.doubleClicked.connect(lambda index: self.chosen.emit(index.row()))
        theme.changed.connect(self.viewport().update)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.chosen.emit(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring for focus that came from the keyboard alone."""
        self.ring = event.reason() in _KEYBOARD
        super().focusInEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.ring = False
        super().mousePressEvent(event)


class ResultsDelegate(QStyledItemDelegate):
    """Name, badges, how it is stored, size and context; or, where a model can't be used, the reason."""

    def __init__(self, theme: Theme, view: ResultsView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """All rows are 56 px high, and as wide as the view: a wider wish would make it scroll sideways."""
        del option, index
        return QSize(0, ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        entry: ModelEntry = index.data(ENTRY_ROLE)
        box = option.rect.adjusted(_INSET, 0, -_INSET, 0)
        painter.save()
        self._ground(painter, option, box)
        words = box.adjusted(_PADDING, _PADDING, -_PADDING, -_PADDING)
        upper = QRect(words.topLeft(), QSize(words.width(), _NAME))
        lower = QRect(words.left(), upper.top() + _NAME + _BETWEEN, words.width(), _FACTS)
        current = bool(index.data(CURRENT_ROLE))
        upper.setRight(self._badges(painter, upper, entry, current=current))
        self._line(painter, upper, entry.name, "ui", 600, "ink")
        if entry.problem:
            self._line(painter, lower, entry.problem, "small", 400, "ink-3")
        else:
            self._facts(painter, lower, entry)
        painter.restore()

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, box: QRect) -> None:
        if option.state & QStyle.StateFlag.State_Selected:
            draw_frame(painter, box, _RADIUS, self._theme.color("selected"))
            if self._view.ring and self._view.hasFocus():
                draw_frame(painter, box, _RADIUS, line=self._theme.color("accent"), width=2)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            draw_frame(painter, box, _RADIUS, self._theme.color("hover"))

    def _badges(self, painter: QPainter, line: QRect, entry: ModelEntry, *, current: bool) -> int:
        """Paint the badges at the right; return where the name has to end."""
        badges: list[tuple[str, BadgeKind, str]] = [(origin_badge(entry), "plain", "")]
        if entry.problem:
            badges.insert(0, (CANT_BE_USED, "failed", "warn"))
        elif current:
            badges.insert(0, ("In use", "yes", "check"))
        right = line.right() + 1
        for text, kind, icon in badges:
            width = badge_width(self._theme, text, icon)
            draw_badge(painter, self._theme, QRect(right - width, line.top(), width, BADGE), text, kind, icon)
            right -= width + 4
        return right - _GAP

    def _facts(self, painter: QPainter, line: QRect, entry: ModelEntry) -> None:
        right = line.right() + 1
        for text, room in ((context_text(entry.context), _CONTEXT_ROOM), (size_text(entry.size_bytes), _SIZE_ROOM)):
            column = QRect(right - room, line.top(), room, line.height())
            self._line(painter, column, text, "small", 400, "ink-3", Qt.AlignmentFlag.AlignRight)
            right -= room
        words = SEPARATOR.join(part for part in (entry.architecture, stored_as(entry)) if part)
        self._line(painter, QRect(line.left(), line.top(), right - line.left(), line.height()), words, "small", 400, "ink-3")

    def _line(
        self,
        painter: QPainter,
        box: QRect,
        text: str,
        style: str,
        weight: int,
        role: str,
        side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> None:
        painter.setFont(self._theme.font(style, weight))
        painter.setPen(self._theme.color(role))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, side | Qt.AlignmentFlag.AlignVCenter, shown)
