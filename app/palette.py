"""The command palette: type a few letters of an action, a chat or a model, and Return does it."""

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.palette_items import Item, matching
from app.theme import Theme
from app.widgets.cover import Cover
from app.widgets.filter_field import FilterField
from app.widgets.frame import draw_frame
from app.widgets.label import Label

type Index = QModelIndex | QPersistentModelIndex

_WIDTH, _TOP, _MARGIN, _RADIUS = 560, 96, 16, 12
_ROW, _ROWS, _INSET, _PADDING, _ROW_RADIUS = 32, 10, 4, 12, 6
_ITEM_ROLE = Qt.ItemDataRole.UserRole


class Palette(Cover):
    """The items are given anew each time it opens. What was chosen is done after it is gone and the focus is back."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._items: Sequence[Item] = ()
        self._card = _Card(theme, self)
        self.set_seen(theme, self._card, _RADIUS, self._room)
        self.setObjectName("palette")
        self.setAccessibleName("Commands")
        self._card.field.textChanged.connect(self._narrow)
        self._card.field.moved.connect(self._move)
        self._card.list.clicked.connect(self._choose)

    @property
    def shown(self) -> Sequence[Item]:
        """What is offered for the words typed so far."""
        return self._card.rows.items

    def open_with(self, items: Sequence[Item]) -> None:
        """Show the palette with these items and take the keyboard."""
        self._items = items
        self._card.field.clear()
        self._narrow("")
        self.open_over(_with_parents(QApplication.focusWidget()))
        self._card.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def focusNextPrevChild(self, _next: bool) -> bool:
        """Tab stays in the field: there is one."""
        return True

    def _narrow(self, query: str) -> None:
        self._card.show_items(matching(self._items, query))
        self.place()

    def _move(self, event: QKeyEvent) -> None:
        """Take a key that belongs to the list."""
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _ROWS, Qt.Key.Key_PageUp: -_ROWS}
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            self._choose(self._card.list.currentIndex())
        else:
            self._card.step(step)

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            item: Item = index.data(_ITEM_ROLE)
            self.leave()
            item.work()

    def _room(self) -> QRect:
        """In the middle, near the top."""
        window = self.window()
        top = min(_TOP, window.height() // 8)
        width = min(_WIDTH, window.width() - 2 * _MARGIN)
        height = min(self._card.wanted_height(), window.height() - top - _MARGIN)
        return QRect((window.width() - width) // 2, top, width, height)


def _with_parents(widget: QWidget | None) -> Sequence[QWidget]:
    found = []
    while widget is not None and not widget.isWindow():
        found.append(widget)
        widget = widget.parentWidget()
    return found


class _Card(QFrame):
    """The part that is seen: a field over the rows."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.field = FilterField(theme, "paletteField", "Type a command, a chat or a model", self)
        self.rows = _Rows(self)
        self.list = QListView(self)
        self.list.setObjectName("paletteList")
        self.list.setAccessibleName("What matches")
        self.list.setModel(self.rows)
        self.list.setItemDelegate(_RowDelegate(theme, self.list))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.entered.connect(self.list.setCurrentIndex)
        self._nothing = Label(theme, "Nothing matches.", style="small", role="ink-3", parent=self)
        self._nothing.setContentsMargins(_PADDING, 0, 0, 0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 8, 1, 8)
        layout.setSpacing(8)
        top = QVBoxLayout()
        top.setContentsMargins(8, 0, 8, 0)
        top.addWidget(self.field)
        layout.addLayout(top)
        layout.addWidget(self._nothing)
        layout.addWidget(self.list, 1)
        theme.changed.connect(self.update)

    def show_items(self, items: Sequence[Item]) -> None:
        """List these, the first one chosen."""
        self.rows.replace(items)
        self._nothing.setVisible(not items)
        self.list.setVisible(bool(items))
        self.step(-len(items))

    def step(self, steps: int) -> None:
        """Move the choice, not over the ends."""
        last = self.rows.rowCount() - 1
        row = max(0, min(last, self.list.currentIndex().row() + steps))
        self.list.setCurrentIndex(self.rows.index(row))
        title = self.rows.items[row].title if last >= 0 else "Nothing matches"
        self.field.setAccessibleDescription(title)

    def wanted_height(self) -> int:
        """Room for as many rows as there are, up to ten."""
        rows = min(_ROWS, self.rows.rowCount())
        return 8 + self.field.height() + 8 + (rows * _ROW if rows else 16) + 8

    def paintEvent(self, _event: QPaintEvent) -> None:
        draw_frame(QPainter(self), self.rect(), _RADIUS, self._theme.color("raised"), self._theme.color("border"))


class _Rows(QAbstractListModel):
    """The items as a list."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.items: Sequence[Item] = ()

    def replace(self, items: Sequence[Item]) -> None:
        """Hold other items."""
        self.beginResetModel()
        self.items = items
        self.endResetModel()

    def rowCount(self, _parent: Index | None = None) -> int:
        return len(self.items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        item = self.items[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return item.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(part for part in (item.title, item.kind, item.keys) if part)
        return item if role == _ITEM_ROLE else None


class _RowDelegate(QStyledItemDelegate):
    """A row: what it is called, at the right its kind and its keys."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(0, _ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        item: Item = index.data(_ITEM_ROLE)
        box = option.rect.adjusted(_INSET, 0, -_INSET, 0)
        if option.state & QStyle.StateFlag.State_Selected:
            draw_frame(painter, box, _ROW_RADIUS, self._theme.color("selected"))
        words = box.adjusted(_PADDING, 0, -_PADDING, 0)
        words.setRight(self._at_right(painter, words, item.keys, "ink-2"))
        words.setRight(self._at_right(painter, words, item.kind, "ink-3"))
        painter.setFont(self._theme.font("ui"))
        painter.setPen(self._theme.color("ink"))
        title = painter.fontMetrics().elidedText(item.title, Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(words, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)

    def _at_right(self, painter: QPainter, words: QRect, text: str, role: str) -> int:
        """Write a small text at the right end; return where what stands before it has to end."""
        if not text:
            return words.right()
        painter.setFont(self._theme.font("caption"))
        painter.setPen(self._theme.color(role))
        painter.drawText(words, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        return words.right() - painter.fontMetrics().horizontalAdvance(text) - _PADDING
