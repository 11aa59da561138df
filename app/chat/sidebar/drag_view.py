"""The sidebar's list where chats are dragged: onto a folder, to the pinned ones, or out of either."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDrag, QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.chat.sidebar.chat_drag import Target, drag_picture, dragged_chats, target_of
from app.chat.sidebar.chat_list import CHATS_MIME, ROW_ROLE
from app.chat.sidebar.row_view import RowView
from app.chat.sidebar.wishes import Wishes
from app.theme import Theme

MOST_FILES = 20
"""Chats of which a drag offers files: they are made while whoever wants them waits."""
_EDGE = 20


class DragView(RowView):
    """Emits `dragging` while chats of its own are on their way; where they were dropped is a wish.

    `files_of` makes files of chats that are dragged, for other programs and for the composer.
    """

    dragging = Signal(bool)

    def __init__(self, theme: Theme, wishes: Wishes, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._wishes = wishes
        self._target: Target | None = None
        self.files_of: Callable[[tuple[str, ...]], Sequence[Path]] = lambda _: ()
        self.setDragDropMode(RowView.DragDropMode.DragDrop)
        self.setDropIndicatorShown(False)

    def startDrag(self, actions: Qt.DropAction) -> None:
        """Take the selected chats along, wherever they are dropped."""
        del actions
        indexes = [index for index in self.selectedIndexes() if index.data(ROW_ROLE).kind == "chat"]
        if not indexes:
            return
        from app.chat.sidebar.late_files import LateFiles

        drag = QDrag(self)
        data = self._rows.mimeData(indexes)
        chats = dragged_chats(data)
        if len(chats) <= MOST_FILES:
            data = LateFiles(data, lambda: self.files_of(chats))
        drag.setMimeData(data)
        drag.setPixmap(drag_picture(self._theme, [index.data(ROW_ROLE) for index in indexes], self.devicePixelRatioF()))
        self.dragging.emit(True)
        drag.exec(Qt.DropAction.MoveAction | Qt.DropAction.CopyAction, Qt.DropAction.MoveAction)
        self._aim(None)
        self.dragging.emit(False)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Let chats in; files are the sidebar's."""
        if event.mimeData().hasFormat(CHATS_MIME) and not self._delegate.tall:
            event.accept()
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Mark where the chats would go, and scroll at the edges."""
        position = event.position().toPoint()
        bar = self.verticalScrollBar()
        if position.y() < _EDGE or position.y() > self.viewport().height() - _EDGE:
            bar.setValue(bar.value() + (-_EDGE if position.y() < _EDGE else _EDGE))
        index = self.indexAt(position)
        self._aim(target_of(self.rows, index.row() if index.isValid() else -1))
        if self._target is not None:
            event.setDropAction(Qt.DropAction.MoveAction)
            event.accept()
        else:
            event.ignore()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Nothing would go anywhere here."""
        self._aim(None)
        event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        """Ask for the chats to be where they were dropped."""
        index = self.indexAt(event.position().toPoint())
        target = target_of(self.rows, index.row() if index.isValid() else -1)
        chats = dragged_chats(event.mimeData())
        self._aim(None)
        if target is None or not chats:
            event.ignore()
            return
        event.setDropAction(Qt.DropAction.MoveAction)
        event.accept()
        if target.pinned:
            self._wishes.pin_requested.emit(chats, True)
        else:
            self._wishes.move_requested.emit(chats, target.folder_id)

    def _aim(self, target: Target | None) -> None:
        self._target = target
        self._look.target = target.place if target is not None else -1
        self.viewport().update()
