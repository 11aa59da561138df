"""The sidebar's list of chats: chosen by click and arrow keys, renamed in place, with a menu per row."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QCursor,
    QFocusEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QListView, QMenu, QToolTip, QWidget

from app.chat.chat_delegate import INSET, PADDING, ChatDelegate, Look
from app.chat.chat_list import ROW_ROLE, ChatListModel, Row
from app.theme import Theme

_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class ChatView(QListView):
    """Emits `chosen` with a `Row` when a person picks one, `renamed` and `delete_requested` with the chat's id."""

    chosen = Signal(object)
    renamed = Signal(str, str)
    delete_requested = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._look = Look()
        self._rows = ChatListModel(self)
        self._delegate = ChatDelegate(theme, self._look, self)
        self._waiting: tuple[Sequence[Row], str | None] | None = None
        self._selected: str | None = None
        self._silent = False
        self._unseen = False
        self._empty: tuple[str, str] = ("", "")
        self.setObjectName("chatList")
        self.setAccessibleName("Chats")
        self.setModel(self._rows)
        self.setItemDelegate(self._delegate)
        self._set_up()
        self.selectionModel().currentChanged.connect(self._take_current)
        self._rows.renamed.connect(self.renamed)
        self._delegate.edit_ended.connect(self._catch_up, Qt.ConnectionType.QueuedConnection)
        self.verticalScrollBar().valueChanged.connect(self._follow_pointer)
        theme.changed.connect(self.viewport().update)

    @property
    def rows(self) -> Sequence[Row]:
        """What is listed, top to bottom."""
        return self._rows.rows

    def show_rows(self, rows: Sequence[Row], selected: str | None) -> None:
        """List `rows`, with the chat `selected`; nothing is emitted.

        What is at the top of the view stays there. While a title is being edited the list waits for its end.
        """
        if self._delegate.editing:
            self._waiting = (rows, selected)
            return
        self._waiting = None
        hits = bool(rows) and rows[0].kind == "hit"
        other = hits != self._delegate.hits
        self._delegate.hits = hits
        anchor = None if other else self._anchor()
        self._silent = True
        if self._rows.replace(rows):
            self._look.hovered = self._look.menu = -1
            self.doItemsLayout()
            self._keep(anchor)
        self._silent = False
        self.select(selected, scroll=False)
        self._follow_pointer()

    def select(self, chat_id: str | None, scroll: bool = True) -> None:
        """Mark a chat as the one shown, or none; nothing is emitted. Hits are left alone: a chat may have several."""
        self._selected = chat_id
        if self._delegate.hits:
            return
        place = self._rows.row_of(chat_id) if chat_id is not None else -1
        index = self._rows.index(place) if place >= 0 else QModelIndex()
        if index == self.currentIndex() and (place < 0) == (not self.selectionModel().hasSelection()):
            return
        self._silent = True
        self.setAutoScroll(False)
        if place >= 0:
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        else:
            self.selectionModel().clear()
        self.setAutoScroll(True)
        self._silent = False
        if scroll:
            self._reveal()

    def set_writing(self, chat_id: str | None) -> None:
        """Mark the chat in which a reply is being written."""
        before, self._look.writing = self._look.writing, chat_id
        for changed in (before, chat_id):
            if changed is not None:
                self._rows.touch(changed)
        self.viewport().update()

    def set_empty(self, heading: str, text: str) -> None:
        """Say what stands where there are no rows."""
        self._empty = (heading, text)
        self.setAccessibleDescription(text)
        self.viewport().update()

    def choose_first(self) -> None:
        """Pick the first row that can be picked, as a person would."""
        for place, row in enumerate(self._rows.rows):
            if row.kind != "heading":
                self.setCurrentIndex(self._rows.index(place))
                return

    def rename_current(self) -> None:
        """Edit the title of the chat that is selected."""
        index = self.currentIndex()
        if index.isValid() and index.flags() & Qt.ItemFlag.ItemIsEditable:
            self.edit(index)

    def open_menu(self, index: QModelIndex, where: QPoint) -> None:
        """Show a row's menu at `where` on the screen."""
        row: Row = index.data(ROW_ROLE)
        menu = QMenu(self)
        menu.setObjectName("chatMenu")
        if row.kind == "chat":
            menu.addAction("Rename").triggered.connect(lambda: self.edit(index))
        menu.addAction("Delete").triggered.connect(lambda: self.delete_requested.emit(row.chat_id))
        menu.aboutToHide.connect(lambda: self._mark_menu(-1))
        menu.aboutToHide.connect(menu.deleteLater)
        self._mark_menu(index.row())
        menu.popup(where)

    def dots_of(self, chat_id: str) -> QRect:
        """Return where a chat's "more" button is in the viewport; empty when the chat is not listed."""
        place = self._rows.row_of(chat_id)
        return self._delegate.dots_rect(self.visualRect(self._rows.index(place))) if place >= 0 else QRect()

    # -- events ---------------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A left press picks a row or opens its menu; a right one only opens the menu."""
        index = self.indexAt(event.position().toPoint())
        self._set_ring(False)
        if event.button() != Qt.MouseButton.LeftButton or not index.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        dots = self._delegate.dots_rect(self.visualRect(index))
        if dots.contains(event.position().toPoint()):
            self.open_menu(index, self.viewport().mapToGlobal(dots.bottomLeft()))
            return
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Rename, unless it is the "more" button that was clicked twice."""
        position = event.position().toPoint()
        index = self.indexAt(position)
        if index.isValid() and not self._delegate.dots_rect(self.visualRect(index)).contains(position):
            super().mouseDoubleClickEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The row under the pointer shows its "more" button."""
        self._hover(event.position().toPoint())
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """No row is hovered any more."""
        self._look.hovered = -1
        self.viewport().update()
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu of the row under the pointer, or of the selected one when a key asked for it."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if index.isValid() and index.flags() & Qt.ItemFlag.ItemIsEnabled:
            where = self.viewport().mapToGlobal(self._delegate.dots_rect(self.visualRect(index)).bottomLeft())
            self.open_menu(index, where if by_key else event.globalPos())

    def showEvent(self, event: QShowEvent) -> None:
        """Bring into view what was selected before there was one."""
        super().showEvent(event)
        if self._unseen:
            self._reveal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Rows keep their width whether the scroll bar takes some or lies over them."""
        super().resizeEvent(event)
        self._look.right = max(0, INSET - (self.width() - self.viewport().width()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete asks for it, F2 renames, Return picks again; the rest is the list's own."""
        index = self.currentIndex()
        if self._delegate.editing:
            # The field of a rename lets its Return through to here.
            event.accept()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            if index.isValid():
                self.delete_requested.emit(index.data(ROW_ROLE).chat_id)
        elif event.key() == Qt.Key.Key_F2:
            self.rename_current()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if index.isValid():
                self.chosen.emit(index.data(ROW_ROLE))
        else:
            if event.key() in _MOVES:
                self._set_ring(True)
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring for focus that came from the keyboard; focus alone picks nothing, as Qt's list would."""
        self._set_ring(event.reason() in _KEYBOARD)
        nothing = not self.currentIndex().isValid()
        self._silent = True
        super().focusInEvent(event)
        if nothing:
            self.selectionModel().clear()
        self._silent = False

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Without focus there is no ring."""
        self._set_ring(False)
        super().focusOutEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """A title that is cut off is shown whole as a tool tip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = self.indexAt(event.pos())
            title = index.data() if index.isValid() else ""
            room = self.viewport().width() - 2 * (INSET + PADDING)
            if title and QFontMetrics(self._theme.font("ui", 500)).horizontalAdvance(title) > room:
                QToolTip.showText(event.globalPos(), title, self, self.visualRect(index))
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows, or what is to be said when there are none."""
        super().paintEvent(event)
        heading, text = self._empty
        if self._rows.rowCount() or not text:
            return
        painter = QPainter(self.viewport())
        box = self.viewport().rect().adjusted(INSET + PADDING, 8, -INSET - PADDING, 0)
        painter.setPen(self._theme.color("ink-3"))
        if heading:
            painter.setFont(self._theme.font("caption", 600))
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, heading)
            box.setTop(box.top() + 24)
        painter.setFont(self._theme.font("small"))
        painter.drawText(box, Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, text)

    # -- parts ----------------------------------------------------------------------------------------------------------

    def _set_up(self) -> None:
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QListView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QListView.EditTrigger.DoubleClicked)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.verticalScrollBar().setSingleStep(28)
        self.viewport().setAutoFillBackground(False)

    def _take_current(self, current: QModelIndex) -> None:
        if self._silent or not current.isValid():
            return
        row: Row = current.data(ROW_ROLE)
        self._selected = row.chat_id
        self.chosen.emit(row)

    def _catch_up(self) -> None:
        if self._waiting is not None and not self._delegate.editing:
            rows, _ = self._waiting
            self.show_rows(rows, self._selected)

    def _anchor(self) -> tuple[str, int] | None:
        """Return the chat at the top of the view and how far it is from the edge; None at the very top."""
        if self.verticalScrollBar().value() == 0:
            return None
        top = self.indexAt(QPoint(0, 0)).row()
        for place in range(max(top, 0), self._rows.rowCount()):
            chat_id = self._rows.rows[place].chat_id
            if chat_id:
                return chat_id, self.visualRect(self._rows.index(place)).top()
        return None

    def _keep(self, anchor: tuple[str, int] | None) -> None:
        if anchor is None:
            return
        place = self._rows.row_of(anchor[0])
        if place >= 0:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + self.visualRect(self._rows.index(place)).top() - anchor[1])

    def _reveal(self) -> None:
        """Bring the selected chat into view, with its heading where that stands right above; later when not shown yet."""
        index = self.currentIndex()
        self._unseen = not self.isVisible()
        if self._unseen or not index.isValid():
            return
        above = self._rows.index(index.row() - 1)
        if above.isValid() and above.data(ROW_ROLE).kind == "heading":
            self.scrollTo(above)
        self.scrollTo(index)

    def _mark_menu(self, place: int) -> None:
        self._look.menu = place
        self.viewport().update()

    def _set_ring(self, ring: bool) -> None:
        if ring != self._look.ring:
            self._look.ring = ring
            self.viewport().update()

    def _follow_pointer(self) -> None:
        if self.viewport().underMouse():
            self._hover(self.viewport().mapFromGlobal(QCursor.pos()))

    def _hover(self, position: QPoint) -> None:
        index = self.indexAt(position)
        place = index.row() if index.isValid() and index.flags() & Qt.ItemFlag.ItemIsEnabled else -1
        if place != self._look.hovered:
            self._look.hovered = place
            self.viewport().update()
