"""Files that are dropped onto a part of the window."""

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget


class FileDrop(QObject):
    """Takes files that are dropped onto `target` or what is in it.

    `dropped` carries their paths, `hovering` whether some are held over it.
    """

    dropped = Signal(list)
    hovering = Signal(bool)

    def __init__(self, target: QWidget) -> None:
        super().__init__(target)
        target.setAcceptDrops(True)
        target.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Take what holds files; leave everything else."""
        if isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            files = local_files(event.mimeData())
            self.hovering.emit(False)
            if files:
                event.setDropAction(Qt.DropAction.CopyAction)
                event.accept()
                self.dropped.emit(files)
            return bool(files)
        if isinstance(event, QDragEnterEvent | QDragMoveEvent):
            found = bool(local_files(event.mimeData()))
            if found:
                event.setDropAction(Qt.DropAction.CopyAction)
                event.accept()
                self.hovering.emit(True)
            return found
        if event.type() == QEvent.Type.DragLeave:
            self.hovering.emit(False)
        return False


def local_files(data: QMimeData) -> list[Path]:
    """Return the files on this machine that were dragged or copied."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()] if data.hasUrls() else []
