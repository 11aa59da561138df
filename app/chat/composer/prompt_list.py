"""The list of system prompts: its rows, and how they are painted."""

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from engine.chats.prompts import SystemPrompt

type Index = QModelIndex | QPersistentModelIndex

PROMPT_ROLE = Qt.ItemDataRole.UserRole + 1
CURRENT_ROLE = Qt.ItemDataRole.UserRole + 2
NONE = SystemPrompt("No system prompt", "", own=False)
ROW = 44
_INSET, _PADDING, _RADIUS, _SIGN, _SIGN_ROOM = 4, 8, 6, 16, 24
_TOP, _NAME, _TEXT = 4, 20, 16


class PromptList(QAbstractListModel):
    """Shows the prompts that hold what is looked for; without that, “No system prompt” comes first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._all: Sequence[SystemPrompt] = ()
        self._current: str | None = None
        self._query = ""
        self.shown: list[SystemPrompt] = []

    def set_prompts(self, prompts: Sequence[SystemPrompt], current: str | None) -> None:
        """Show these; `current` is the name of the one in force, "" for none, None for one that is not among them."""
        self._all, self._current = prompts, current
        self._refill()

    def set_query(self, query: str) -> None:
        """Show those alone that hold every word of `query`, in name or text."""
        self._query = query
        self._refill()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default.
        """The number of prompts shown."""
        return 0 if parent.isValid() else len(self.shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A prompt's name, the prompt itself, and whether it is in force."""
        prompt = self.shown[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return prompt.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return prompt.text
        if role == PROMPT_ROLE:
            return prompt
        if role == CURRENT_ROLE:
            return ("" if prompt is NONE else prompt.name) == self._current
        return None

    def row_of_current(self) -> int:
        """Return the row of the prompt in force, 0 where it is not shown."""
        rows = [row for row in range(len(self.shown)) if self.data(self.index(row), CURRENT_ROLE)]
        return rows[0] if rows else 0

    def _refill(self) -> None:
        words = self._query.casefold().split()
        found = [one for one in self._all if all(word in f"{one.name}\n{one.text}".casefold() for word in words)]
        self.beginResetModel()
        self.shown = found if words else [NONE, *found]
        self.endResetModel()


class PromptDelegate(QStyledItemDelegate):
    """Two lines: the name, and how the text begins. The one in force has a check."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        """44 px high, 28 without a text."""
        return QSize(0, ROW if index.data(PROMPT_ROLE).text else 28)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        prompt: SystemPrompt = index.data(PROMPT_ROLE)
        box = option.rect.adjusted(_INSET, 0, -_INSET, 0)
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            draw_frame(painter, box, _RADIUS, self._theme.color("selected"))
        if index.data(CURRENT_ROLE):
            ratio = painter.device().devicePixelRatio()
            sign = QPoint(box.left() + _PADDING, box.top() + _TOP + (_NAME - _SIGN) // 2)
            painter.drawPixmap(sign, self._theme.pixmap("check", "ink-2", _SIGN, ratio))
        left = box.left() + _PADDING + _SIGN_ROOM
        line = QRect(left, box.top() + _TOP, box.right() - _PADDING - left, _NAME)
        self._line(painter, line, prompt.name, "ui", 500, "ink")
        if prompt.text:
            line = QRect(left, line.top() + _NAME, line.width(), _TEXT)
            self._line(painter, line, " ".join(prompt.text.split()), "caption", 400, "ink-3")
        painter.restore()

    def _line(self, painter: QPainter, box: QRect, text: str, style: str, weight: int, role: str) -> None:
        painter.setFont(self._theme.font(style, weight))
        painter.setPen(self._theme.color(role))
        shown = painter.fontMetrics().elidedText(text[:400], Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
