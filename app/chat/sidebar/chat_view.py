"""The sidebar's list: chats are opened by a click, selected by more, dragged, renamed in place, with a menu per row."""

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.chat.sidebar.chat_delegate import INSET
from app.chat.sidebar.chat_list import ROW_ROLE, Key, Row
from app.chat.sidebar.chat_menu import fill_export_menu, fill_menu, fill_move_menu
from app.chat.sidebar.drag_view import DragView
from app.chat.sidebar.wishes import Wishes
from app.theme import Theme
from engine.chats.records import Folder

_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)
_AWAY = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_EXTEND = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier
_SELECT = QItemSelectionModel.SelectionFlag


class ChatView(DragView):
    """Emits `chosen` with a `Row` when a person picks one; all else that people want of chats are `wishes`.

    `browsing` is True while it is picked by moving on with the arrow keys: the keyboard then stays where it is.
    """

    chosen = Signal(object)
    entered = Signal()
    """Return: the keyboard is to go on in the chat."""

    def __init__(self, theme: Theme, wishes: Wishes, parent: QWidget | None = None) -> None:
        super().__init__(theme, wishes, parent)
        self._waiting: Sequence[Row] | None = None
        self._folders: Sequence[Folder] = ()
        self._pressed: Row | None = None
        self.browsing = False
        self._silent = False
        self._unseen = False
        self.setObjectName("chatList")
        self.setAccessibleName("Chats")
        self.selectionModel().currentChanged.connect(self._take_current)
        self._rows.renamed.connect(wishes.rename_requested)
        self._rows.folder_renamed.connect(wishes.folder_renamed)
        self._delegate.edit_ended.connect(self._catch_up, Qt.ConnectionType.QueuedConnection)

    def set_folders(self, folders: Sequence[Folder]) -> None:
        """Offer these folders in the menus."""
        self._folders = folders

    def show_rows(self, rows: Sequence[Row], selected: str | None) -> None:
        """List `rows`, with the chat `selected`; nothing is emitted.

        What is at the top of the view stays there, and what is selected, so. While a title is being edited the list waits for
        its end.
        """
        if self._delegate.editing:
            self._waiting = rows
            return
        self._waiting = None
        tall = bool(rows) and rows[0].kind in ("hit", "trashed")
        other = tall != self._delegate.tall
        self._delegate.tall = tall
        anchor = None if other else self._anchor()
        picked, current = self._keys()
        self._silent = True
        self.setAutoScroll(False)
        if self._rows.replace(rows):
            self._look.hovered = self._look.menu = -1
            self.doItemsLayout()
            self._pick_again(picked, current)
            self._keep(anchor)
        self.setAutoScroll(True)
        self._silent = False
        self.select(selected, scroll=False)
        self._follow_pointer()

    def select(self, chat_id: str | None, scroll: bool = True) -> None:
        """Mark a chat as the one shown, or none; nothing is emitted.

        Hits are left alone: a chat may have several. So is what somebody selected beside the chat that was shown already, and
        the row of a rename until its end: going on from there would end it with half a name.
        """
        other = chat_id != self._look.shown
        self._look.shown = chat_id
        self.viewport().update()
        if self._delegate.tall or self._delegate.editing or (not other and self._is_apart()):
            return
        place = self._rows.row_of(chat_id) if chat_id is not None else -1
        index = self._rows.index(place) if place >= 0 else QModelIndex()
        if index == self.currentIndex() and self.selectedIndexes() == ([index] if place >= 0 else []):
            return
        self._silent = True
        self.setAutoScroll(False)
        if place >= 0:
            self.selectionModel().setCurrentIndex(index, _SELECT.ClearAndSelect)
        else:
            self.selectionModel().clear()
        self.setAutoScroll(True)
        self._silent = False
        if scroll:
            self._reveal()

    def reveal_shown(self) -> None:
        """Bring the chat that is shown into view, if it is what is selected; not while somebody scrolls the list."""
        index = self.currentIndex()
        if not self._scrolling.isActive() and index.isValid() and index.data(ROW_ROLE).chat_id == self._look.shown:
            self._reveal()

    def choose_first(self) -> None:
        """Pick the first row that can be picked, as a person would."""
        for place, row in enumerate(self.rows):
            if row.kind not in ("heading", "folder"):
                self.setCurrentIndex(self._rows.index(place))
                return

    def rename_current(self) -> None:
        """Edit the title of the row with the keyboard."""
        index = self.currentIndex()
        if index.isValid() and index.flags() & Qt.ItemFlag.ItemIsEditable:
            self.edit(index)

    def rename_row(self, row_id: str) -> None:
        """Edit the title of a chat or the name of a folder."""
        place = self._rows.row_of(row_id)
        if place >= 0:
            self._silent = True
            self.setFocus(Qt.FocusReason.OtherFocusReason)
            self.setCurrentIndex(self._rows.index(place))
            self._silent = False
            self.edit(self._rows.index(place))

    def picked(self) -> list[Row]:
        """Return the rows that a key or a menu acts on: all that are selected, top to bottom."""
        # By ranges: as indexes, Qt would ask of each row whether it can be selected, as headings in a range can't.
        selection = self.selectionModel().selection()
        ranges = [selection.at(number) for number in range(selection.count())]
        places = sorted(place for part in ranges for place in range(part.top(), part.bottom() + 1))
        return [row for row in (self._rows.rows[place] for place in places) if row.kind != "heading"]

    def current_chat(self) -> str:
        """Return the id of the chat that the keyboard is on, or nothing; a deleted one is none."""
        row: Row | None = self.currentIndex().data(ROW_ROLE)
        return row.chat_id if row is not None and row.kind != "trashed" else ""

    # -- menus ----------------------------------------------------------------------------------------------------------

    def open_menu(self, index: QModelIndex, where: QPoint) -> None:
        """Show the menu of a row, or of all that are selected with it, at `where` on the screen."""
        row: Row = index.data(ROW_ROLE)
        rows = [one for one in self.picked() if one.kind == row.kind]
        menu = self._new_menu(index.row())
        fill_menu(menu, rows if row in rows else [row], self._folders, self._wishes, lambda: self.edit(index))
        menu.popup(where)

    def open_move_menu(self, rows: Sequence[Row]) -> None:
        """Show where chats can be moved to: what a drag does, by keyboard."""
        place = self.currentIndex().row() if self.current_chat() else self._rows.row_of(rows[0].chat_id)
        menu = self._new_menu(place)
        fill_move_menu(menu, rows, self._folders, self._wishes)
        self._pop_up(menu, place)

    def open_export_menu(self, chat_ids: tuple[str, ...]) -> None:
        """Show the forms in which these chats can be exported."""
        menu = self._new_menu(self.currentIndex().row())
        fill_export_menu(menu, chat_ids, self._wishes)
        self._pop_up(menu, self.currentIndex().row())

    def _new_menu(self, place: int) -> QMenu:
        menu = QMenu(self)
        menu.setObjectName("chatMenu")
        menu.aboutToHide.connect(lambda: self._mark_menu(-1))
        menu.aboutToHide.connect(menu.deleteLater)
        self._mark_menu(place)
        return menu

    def _pop_up(self, menu: QMenu, place: int) -> None:
        """Show a menu under a row, -1 for none, its first line ready."""
        row = self.visualRect(self._rows.index(place)) if place >= 0 else QRect(0, 0, INSET, 0)
        menu.popup(self.viewport().mapToGlobal(row.bottomLeft() + QPoint(INSET, 0)))
        first = next((action for action in menu.actions() if action.isEnabled() and not action.isSeparator()), None)
        if first is not None:
            menu.setActiveAction(first)

    # -- mouse ----------------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A left press picks a row or opens its menu; with Shift or Ctrl it selects; a right one only opens the menu."""
        position = event.position().toPoint()
        index = self.indexAt(position)
        self._set_ring(False)
        self._pressed = None
        if event.button() != Qt.MouseButton.LeftButton or not index.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        row: Row = index.data(ROW_ROLE)
        if self._has_dots(row) and self._delegate.dots_rect(self.visualRect(index)).contains(position):
            self.open_menu(index, self.viewport().mapToGlobal(self._delegate.dots_rect(self.visualRect(index)).bottomLeft()))
            return
        plain = not event.modifiers() & _EXTEND
        if row.kind == "folder" and plain:
            self._wishes.folder_expanded.emit(row.folder_id, not row.expanded)
            return
        together = len(self.selectedIndexes()) > 1 and self.selectionModel().isSelected(index)
        self._silent = True
        super().mousePressEvent(event)
        self._silent = False
        if plain and together:
            self._pressed = row  # It may be dragged with the others: it is opened when the button is let go.
        elif plain:
            self._choose(row)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open one of several selected rows that was pressed, but not dragged away."""
        self._silent = True
        super().mouseReleaseEvent(event)
        self._silent = False
        pressed, self._pressed = self._pressed, None
        index = self.indexAt(event.position().toPoint())
        if pressed is not None and index.isValid() and index.data(ROW_ROLE) == pressed:
            self._choose(pressed)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Rename a chat, restore a deleted one; a folder was opened and closed by the clicks."""
        position = event.position().toPoint()
        index = self.indexAt(position)
        if not index.isValid() or self._delegate.dots_rect(self.visualRect(index)).contains(position):
            return
        row: Row = index.data(ROW_ROLE)
        if row.kind == "trashed":
            self._wishes.restore_requested.emit((row.chat_id,))
        elif row.kind == "folder":
            self.mousePressEvent(event)
        else:
            self._silent = True
            super().mouseDoubleClickEvent(event)
            self._silent = False

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu of the row under the pointer, or of the selected one when a key asked for it; elsewhere the list's own."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if index.isValid() and index.flags() & Qt.ItemFlag.ItemIsEnabled and index.data(ROW_ROLE).kind != "more":
            where = self.viewport().mapToGlobal(self._delegate.dots_rect(self.visualRect(index)).bottomLeft())
            self.open_menu(index, where if by_key else event.globalPos())
        elif not self._delegate.tall:
            menu = self._new_menu(-1)
            fill_menu(menu, (), self._folders, self._wishes, lambda: None)
            menu.popup(self.viewport().mapToGlobal(QPoint(INSET, INSET)) if by_key else event.globalPos())

    # -- keyboard -------------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete asks for it, F2 renames, Return picks or opens, arrows too; with Shift they select; the rest is the list's."""
        index = self.currentIndex()
        row: Row | None = index.data(ROW_ROLE) if index.isValid() else None
        if self._delegate.editing:
            event.accept()  # The field of a rename lets its Return through to here.
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self._select_all()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._ask_to_delete()
        elif event.key() == Qt.Key.Key_F2:
            self.rename_current()
        elif row is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open_by_key(row)
        elif row is not None and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and row.folder_id:
            self._fold(row, event.key() == Qt.Key.Key_Right)
        else:
            extends = bool(event.modifiers() & _EXTEND) and event.key() in _MOVES
            if event.key() in _MOVES:
                self._set_ring(True)
            self._silent = extends
            super().keyPressEvent(event)
            self._silent = False

    def _ask_to_delete(self) -> None:
        rows = self.picked()
        chats = tuple(dict.fromkeys(row.chat_id for row in rows if row.chat_id))
        if chats:
            deleted = rows[0].kind == "trashed"
            (self._wishes.removal_requested if deleted else self._wishes.delete_requested).emit(chats)
        elif rows and rows[0].kind == "folder":
            self._wishes.folder_deleted.emit(rows[0].folder_id)

    def _open_by_key(self, row: Row) -> None:
        if row.kind == "folder":
            self._wishes.folder_expanded.emit(row.folder_id, not row.expanded)
        elif row.kind == "trashed":
            self._wishes.restore_requested.emit(tuple(one.chat_id for one in self.picked()))
        else:
            self._choose(row)
            if row.kind != "more":
                self.entered.emit()

    def _fold(self, row: Row, open_: bool) -> None:
        """Open or close a folder; from a chat in it, Left goes to the folder first."""
        if row.kind == "folder":
            if open_ != row.expanded:
                self._wishes.folder_expanded.emit(row.folder_id, open_)
        elif not open_:
            self._set_ring(True)
            self.setCurrentIndex(self._rows.index(self._rows.row_of(row.folder_id)))

    def _select_all(self) -> None:
        """Select every chat that is listed, folders and headings left out."""
        chosen = QItemSelection()
        start = -1
        for place, row in enumerate([*self.rows, Row("heading", "")]):
            if row.chat_id and start < 0:
                start = place
            elif not row.chat_id and start >= 0:
                chosen.select(self._rows.index(start), self._rows.index(place - 1))
                start = -1
        self.selectionModel().select(chosen, _SELECT.ClearAndSelect)

    # -- other events ---------------------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """Bring into view what was selected before there was one."""
        super().showEvent(event)
        if self._unseen:
            self._reveal()

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
        """Without focus there is no ring, and a folder that the keyboard was on gives way to the chat that is shown."""
        self._set_ring(False)
        super().focusOutEvent(event)
        rows = self.picked()
        if event.reason() not in _AWAY and len(rows) == 1 and rows[0].kind == "folder" and not self._delegate.editing:
            shown, self._look.shown = self._look.shown, None
            self.select(shown, scroll=False)

    # -- parts ----------------------------------------------------------------------------------------------------------

    def _take_current(self, current: QModelIndex) -> None:
        self._look.current = current.row()
        if not self._silent and current.isValid():
            self.browsing = True
            self._choose(current.data(ROW_ROLE), by_moving=True)
            self.browsing = False

    def _choose(self, row: Row, *, by_moving: bool = False) -> None:
        """Open what was picked. Moving over a row opens chats alone."""
        if row.kind not in ("chat", "hit") and (by_moving or row.kind != "more"):
            return
        if row.chat_id:
            self._look.shown = row.chat_id
        self.chosen.emit(row)

    def _is_apart(self) -> bool:
        """Return whether something else than the chat that is shown is selected."""
        rows = self.picked()
        return len(rows) > 1 or (len(rows) == 1 and self.hasFocus() and rows[0].chat_id != self._look.shown)

    def _keys(self) -> tuple[list[Key], Key | None]:
        index = self.currentIndex()
        return [row.key for row in self.picked()], index.data(ROW_ROLE).key if index.isValid() else None

    def _pick_again(self, picked: Sequence[Key], current: Key | None) -> None:
        """Select what was selected before the rows changed, and nothing else: Qt goes on to a neighbour of what is gone."""
        chosen = QItemSelection()
        for place in (self._rows.find(key) for key in picked):
            if place >= 0:
                chosen.select(self._rows.index(place), self._rows.index(place))
        self.selectionModel().select(chosen, _SELECT.ClearAndSelect)
        place = self._rows.find(current) if current is not None else -1
        if place < 0 and not chosen.isEmpty():
            place = chosen.first().top()
        index = self._rows.index(place) if place >= 0 else QModelIndex()
        self.selectionModel().setCurrentIndex(index, _SELECT.NoUpdate)

    def _has_dots(self, row: Row) -> bool:
        return row.kind in ("chat", "folder", "trashed")

    def _catch_up(self) -> None:
        if not self._delegate.editing:
            self.show_rows(self.rows if self._waiting is None else self._waiting, self._look.shown)

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
