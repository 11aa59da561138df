"""How a row of the chat list is painted, and the field that renames it in place."""

from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPalette, QPen, QTextCharFormat, QTextLayout, QTextLine, QTextOption
from PySide6.QtWidgets import QLineEdit, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.chat.sidebar.chat_list import ROW_ROLE, UNTITLED, Row
from app.theme import Theme
from app.widgets.composing import ComposingGuard

INSET, PADDING, RADIUS = 8, 8, 6
INDENT = 24
_DOTS, _DOTS_ROOM = 14, 24
_ICON, _ARROW = 16, 12
_MARK = 6
_ROW, _HIT = 28, 48


@dataclass
class Look:
    """What the delegate has to know beyond the row itself.

    `right` is the room right of a row: the scroll bar stands in it where it takes a width of its own. `current` is the row with
    the keyboard, `target` the one that dragged chats would go to, `shown` the chat that is open.
    """

    hovered: int = -1
    menu: int = -1
    current: int = -1
    target: int = -1
    shown: str | None = None
    writing: str | None = None
    ring: bool = False
    right: int = INSET


class ChatDelegate(QStyledItemDelegate):
    """Paints headings, folders, chats and hits by role; nothing in a row is a widget but the field of a rename.

    Emits `edit_ended` once that field is gone.
    """

    edit_ended = Signal()

    def __init__(self, theme: Theme, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._look = look
        self.tall = False
        self.editing = False
        self._guard: ComposingGuard | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows are of one height: 28, or 48 where they are `tall`, of two lines."""
        del index
        lines = QFontMetrics(self._theme.font("ui")).height() + (
            QFontMetrics(self._theme.font("small")).height() if self.tall else 0
        )
        return QSize(option.rect.width(), max(_HIT if self.tall else _ROW, lines + 8))

    def ground(self, row: QRect) -> QRect:
        """Return the part of a row that is tinted when it is hovered or selected."""
        return row.adjusted(INSET, 0, -self._look.right, 0)

    def dots_rect(self, row: QRect) -> QRect:
        """Return where a row's "more" button is, for a row's rectangle in the view."""
        return QRect(row.right() + 1 - self._look.right - _DOTS_ROOM, row.top(), _DOTS_ROOM, row.height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Draw one row."""
        row: Row = index.data(ROW_ROLE)
        painter.save()
        if row.kind == "heading":
            self._paint_heading(painter, option.rect, row, index.row())
        else:
            self._paint_row(painter, option, row, index.row())
        painter.restore()

    def _paint_heading(self, painter: QPainter, rect: QRect, row: Row, place: int) -> None:
        if place == self._look.target:
            self._paint_target(painter, self.ground(rect))
        painter.setFont(self._theme.font("caption", 600))
        painter.setPen(self._theme.color("ink-3"))
        box = rect.adjusted(INSET + PADDING, 8, -INSET - PADDING, -4)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, row.title)

    def _paint_row(self, painter: QPainter, option: QStyleOptionViewItem, row: Row, place: int) -> None:
        state = option.state
        selected = bool(state & state.State_Selected)
        hovered = place in (self._look.hovered, self._look.menu)
        box = self.ground(option.rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if selected or hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("selected" if selected else "hover"))
            painter.drawRoundedRect(QRectF(box), RADIUS, RADIUS)
        if place == self._look.target:
            self._paint_target(painter, box)
        if self._look.ring and place == self._look.current:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.color("accent"), 2))
            painter.drawRoundedRect(QRectF(box).adjusted(1, 1, -1, -1), RADIUS - 1, RADIUS - 1)
        words = box.adjusted(PADDING, 0, -PADDING, 0)
        dots = hovered and row.kind != "more"
        if dots and row.kind != "hit":
            words.setRight(self._paint_dots(painter, option.rect))
        if row.chat_id and row.chat_id == self._look.writing:
            words.setRight(self._paint_mark(painter, words) - PADDING)
        if row.kind == "folder":
            self._paint_folder(painter, words, row, dots)
        elif row.kind == "chat":
            weight = 500 if selected or row.chat_id == self._look.shown else 400
            words.setLeft(words.left() + (INDENT if row.folder_id else 0))
            self._line(painter, words, row.title or UNTITLED, self._theme.font("ui", weight), "ink")
        elif row.kind == "more":
            self._line(painter, words, row.title, self._theme.font("ui", 500), "accent-ink")
        else:
            self._paint_two_lines(painter, words, row)

    def _paint_folder(self, painter: QPainter, words: QRect, row: Row, dots: bool) -> None:
        """Draw the icon, the name, and how many chats are inside or, while they are listed, an arrow."""
        ratio = painter.device().devicePixelRatio()
        spot = QPoint(words.left(), words.center().y() - 7)
        painter.drawPixmap(spot, self._theme.pixmap("folder", "ink-2", _ICON, ratio))
        if row.expanded and not dots:
            arrow = QPoint(words.right() + 1 - _ARROW, words.center().y() - _ARROW // 2 + 1)
            painter.drawPixmap(arrow, self._theme.pixmap("down", "ink-2", _ARROW, ratio))
            words.setRight(arrow.x() - PADDING)
        elif row.note and not dots:
            words.setRight(self._note(painter, words, row.note) - PADDING)
        words.setLeft(words.left() + INDENT)
        self._line(painter, words, row.title, self._theme.font("ui"), "ink")

    def _paint_two_lines(self, painter: QPainter, words: QRect, row: Row) -> None:
        upper, lower = words.adjusted(0, 5, 0, 0), words.adjusted(0, 25, 0, 0)
        upper.setHeight(20)
        lower.setHeight(16)
        if row.note:
            upper.setRight(self._note(painter, upper, row.note) - PADDING)
        self._line(painter, upper, row.title or UNTITLED, self._theme.font("ui", 500), "ink")
        self._paint_snippet(painter, lower, row)

    def _note(self, painter: QPainter, box: QRect, text: str) -> int:
        """Draw a note at the right of a row; return its left edge."""
        font = self._theme.font("caption")
        painter.setFont(font)
        painter.setPen(self._theme.color("ink-3"))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        return box.right() - QFontMetrics(font).horizontalAdvance(text)

    def _paint_target(self, painter: QPainter, box: QRect) -> None:
        """Mark the row that dragged chats would go to."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(self._theme.color("accent-soft"))
        painter.setPen(QPen(self._theme.color("accent"), 1))
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)

    def _paint_dots(self, painter: QPainter, rect: QRect) -> int:
        """Draw the "more" button; return where words have to end."""
        box = self.dots_rect(rect)
        spot = box.center() - QRect(0, 0, _DOTS, _DOTS).center()
        ratio = painter.device().devicePixelRatio()
        painter.drawPixmap(spot, self._theme.pixmap("dots", "ink-3", _DOTS, ratio))
        return box.left() - 4

    def _paint_mark(self, painter: QPainter, words: QRect) -> int:
        """Draw the dot of a chat in which a reply is being written; return its left edge."""
        left = words.right() - 1 - _MARK
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent"))
        painter.drawEllipse(QRectF(left, words.center().y() + 1 - _MARK / 2, _MARK, _MARK))
        return left

    def _line(self, painter: QPainter, box: QRect, text: str, font: QFont, role: str) -> None:
        painter.setFont(font)
        painter.setPen(self._theme.color(role))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)

    def _paint_snippet(self, painter: QPainter, box: QRect, row: Row) -> None:
        """Draw the place of a hit on one line, the matched words in ink and heavier than the rest."""
        layout, line = self._set(row.snippet, row.spans)
        if line.naturalTextWidth() > box.width():
            room = box.width() - QFontMetrics(layout.font()).horizontalAdvance("…")
            kept = row.snippet.encode("utf-16-le", "surrogatepass")[: 2 * line.xToCursor(room)]
            layout, line = self._set(kept.decode("utf-16-le", "ignore").rstrip() + "…", row.spans)
        painter.setClipRect(box)
        painter.setPen(self._theme.color("ink-3"))
        layout.draw(painter, QPointF(box.left(), box.top() + (box.height() - line.height()) / 2))

    def _set(self, text: str, spans: tuple[tuple[int, int], ...]) -> tuple[QTextLayout, QTextLine]:
        """Set a text on one line however long it is, with `spans` of it emphasised."""
        layout = QTextLayout(text, self._theme.font("small"))
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        layout.setTextOption(option)
        layout.setFormats([self._emphasis(text, start, min(end, len(text))) for start, end in spans if start < end])
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(1e6)
        layout.endLayout()
        return layout, line

    def _emphasis(self, text: str, start: int, end: int) -> QTextLayout.FormatRange:
        strong = QTextCharFormat()
        strong.setFontWeight(600)
        strong.setForeground(self._theme.color("ink"))
        part = QTextLayout.FormatRange()
        part.start, part.length = units(text[:start]), units(text[start:end])
        part.format = strong
        return part

    # -- rename in place -----------------------------------------------------------------------------------------------

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QLineEdit:
        """Return a field over the row, with the title ready to be typed over."""
        del option
        editor = QLineEdit(parent)
        editor.setObjectName("chatTitle")
        editor.setAccessibleName("Folder name" if index.data(ROW_ROLE).kind == "folder" else "Chat title")
        editor.setMaxLength(200)
        editor.setFont(self._theme.font("ui"))
        css = self._theme.css
        editor.setStyleSheet(
            f"QLineEdit {{ background: {css('field')}; color: {css('ink')}; border: 1px solid {css('accent')};"
            f" border-radius: {RADIUS}px; padding: 0 {PADDING - 3}px; }}"
        )
        self._guard = ComposingGuard(editor)
        self.editing = True
        return editor

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        """A Return that ends a composition does not end the rename."""
        if self._guard is not None and self._guard.parent() is editor and self._guard.holds(event):
            event.accept()
            return True
        return super().eventFilter(editor, event)

    def destroyEditor(self, editor: QWidget, index: QModelIndex | QPersistentModelIndex) -> None:
        """The list may change again."""
        self._guard = None
        super().destroyEditor(editor, index)
        self.editing = False
        self.edit_ended.emit()

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Keep the field on the row's own ground, its text where the title was."""
        row: Row = index.data(ROW_ROLE)
        editor.setGeometry(self.ground(option.rect).adjusted(INDENT + 2 if row.folder_id else 0, 0, 0, 0))

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: QModelIndex | QPersistentModelIndex) -> None:
        """Hand the title to the model, which refuses an empty one."""
        if isinstance(editor, QLineEdit):
            model.setData(index, editor.text())

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Let an editor's text take the theme's ink."""
        super().initStyleOption(option, index)
        option.palette.setColor(QPalette.ColorRole.Text, self._theme.color("ink"))


def units(text: str) -> int:
    """Return a text's length as Qt counts it: in UTF-16, where an emoji is two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
