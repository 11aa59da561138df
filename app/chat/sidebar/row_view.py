"""A list of the sidebar's rows: how they look under the pointer and the keyboard, and what stands where there are none."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QCursor, QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import QListView, QToolTip, QWidget

from app.chat.sidebar.chat_delegate import INSET, PADDING, ChatDelegate, Look
from app.chat.sidebar.chat_list import ChatListModel, Row
from app.theme import Theme

# So long after the last turn of the wheel, or move of the bar, a person is taken to scroll still.
_SCROLLS_MS = 1000


class RowView(QListView):
    """Shows a `ChatListModel`; the delegate draws the rows by its `Look`, which follows the pointer here."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._look = Look()
        self._rows = ChatListModel(self)
        self._delegate = ChatDelegate(theme, self._look, self)
        self._empty: tuple[str, str] = ("", "")
        self.setModel(self._rows)
        self.setItemDelegate(self._delegate)
        self._set_up()
        self._scrolling = QTimer(self, singleShot=True, interval=_SCROLLS_MS)
        self.verticalScrollBar().actionTriggered.connect(self._scrolling.start)
        self.verticalScrollBar().sliderReleased.connect(self._scrolling.start)
        self.verticalScrollBar().valueChanged.connect(self._follow_pointer)
        theme.changed.connect(self.viewport().update)

    @property
    def rows(self) -> Sequence[Row]:
        """What is listed, top to bottom."""
        return self._rows.rows

    def place_of(self, chat_id: str | None) -> int:
        """Return the first row of a chat, -1 where it is not listed."""
        return self._rows.row_of(chat_id or "")

    def set_writing(self, chat_id: str | None) -> None:
        """Mark the chat in which a reply is being written."""
        self._look.writing = chat_id
        self.viewport().update()

    def set_empty(self, heading: str, text: str) -> None:
        """Say what stands where there are no rows."""
        self._empty = (heading, text)
        self.setAccessibleDescription(text)
        self.viewport().update()

    def dots_of(self, chat_id: str) -> QRect:
        """Return where a row's "more" button is in the viewport, by its chat or folder; empty when it is not listed."""
        place = self._rows.row_of(chat_id)
        return self._delegate.dots_rect(self.visualRect(self._rows.index(place))) if place >= 0 else QRect()

    # -- events ---------------------------------------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The row under the pointer shows its "more" button."""
        self._hover(event.position().toPoint())
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """No row is hovered any more."""
        self._look.hovered = -1
        self.viewport().update()
        super().leaveEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Rows keep their width whether the scroll bar takes some or lies over them."""
        super().resizeEvent(event)
        self._look.right = max(0, INSET - (self.width() - self.viewport().width()))

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
        # A word that has no room in a line is broken.
        option = QTextOption(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        painter.drawText(QRectF(box), text, option)

    # -- parts ----------------------------------------------------------------------------------------------------------

    def _set_up(self) -> None:
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setDragDropMode(QListView.DragDropMode.DragDrop)
        self.setDropIndicatorShown(False)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QListView.EditTrigger.DoubleClicked)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.verticalScrollBar().setSingleStep(28)
        self.viewport().setAutoFillBackground(False)

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
