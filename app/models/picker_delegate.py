"""How a row of the picker's list is painted."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.model_list import CURRENT_ROLE, ENTRY_ROLE, Index
from app.models.row_view import draw_line
from app.models.words import row_facts
from app.theme import Theme
from app.widgets.frame import draw_frame
from engine.core.facts import ModelEntry

ROW = 44
INSET, PADDING, RADIUS = 4, 8, 6
_SIGN, _SIGN_ROOM = 16, 24
_TOP, _NAME, _FACTS, _SCROLL_BAR = 4, 20, 16, 8


class PickerDelegate(QStyledItemDelegate):
    """Two lines of 20 and 16 px: the name, and its facts or the reason it can't be used, which may take a third.

    The current one has a check. `width` is the list's, in pixels.
    """

    def __init__(self, theme: Theme, width: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._width = theme, width

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """44 px high, or 60 for a reason of two lines."""
        del option
        entry: ModelEntry = index.data(ENTRY_ROLE)
        room = self._width - 2 * (INSET + PADDING) - _SIGN_ROOM - _SCROLL_BAR
        long = QFontMetrics(self._theme.font("caption")).horizontalAdvance(entry.problem) > room
        return QSize(0, ROW + _FACTS if long else ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        entry: ModelEntry = index.data(ENTRY_ROLE)
        box = option.rect.adjusted(INSET, 0, -INSET, 0)
        painter.save()
        enabled = bool(option.state & QStyle.StateFlag.State_Enabled)
        if enabled and option.state & QStyle.StateFlag.State_Selected:
            draw_frame(painter, box, RADIUS, self._theme.color("selected"))
        sign = QPoint(box.left() + PADDING, box.top() + _TOP + (_NAME - _SIGN) // 2)
        ratio = painter.device().devicePixelRatio()
        if index.data(CURRENT_ROLE):
            painter.drawPixmap(sign, self._theme.pixmap("check", "ink-2", _SIGN, ratio))
        elif entry.problem and not entry.download:
            painter.drawPixmap(sign + QPoint(1, 1), self._theme.pixmap("warn", "critical", 14, ratio))
        left = box.left() + PADDING + _SIGN_ROOM
        words = QRect(left, box.top() + _TOP, box.right() - PADDING - left, _NAME)
        draw_line(painter, self._theme, words, entry.name, "ui", 500, "ink" if enabled else "ink-off")
        words = QRect(left, words.top() + _NAME, words.width(), box.height() - 2 * _TOP - _NAME)
        if words.height() > _FACTS:
            painter.setFont(self._theme.font("caption"))
            painter.setPen(self._theme.color("ink-3"))
            painter.drawText(words, Qt.TextFlag.TextWordWrap, entry.problem)
        else:
            draw_line(painter, self._theme, words, row_facts(entry), "caption", 400, "ink-3")
        painter.restore()
