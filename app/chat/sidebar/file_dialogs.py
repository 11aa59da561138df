"""The system's dialogs for files of chats. Each calls back with what was chosen, and the event loop goes on meanwhile."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

MARKDOWN, JSON = "Markdown (*.md)", "JSON, with everything (*.json)"
_CHATS = "Chats (*.json *.zip);;All files (*)"


def ask_for_file(parent: QWidget, folder: str, name: str, filters: str, chosen: Callable[[Path], object]) -> None:
    """Ask where to save a file; its ending follows the kind that is chosen."""
    dialog = _dialog(parent, "Export", folder, "exportDialog")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilter(filters)
    dialog.selectFile(name)
    dialog.setDefaultSuffix(_suffix(dialog.selectedNameFilter()))
    dialog.filterSelected.connect(lambda kind: dialog.setDefaultSuffix(_suffix(kind)))
    dialog.filterSelected.connect(lambda kind: dialog.selectFile(Path(name).stem + "." + _suffix(kind)))
    dialog.fileSelected.connect(lambda path: chosen(Path(path)))
    dialog.open()


def ask_for_folder(parent: QWidget, folder: str, chosen: Callable[[Path], object]) -> None:
    """Ask for a folder to put files into."""
    dialog = _dialog(parent, "Export into a Folder", folder, "exportDialog")
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.fileSelected.connect(lambda path: chosen(Path(path)))
    dialog.open()


def ask_for_chats(parent: QWidget, folder: str, chosen: Callable[[tuple[Path, ...]], object]) -> None:
    """Ask for files to import chats from."""
    dialog = _dialog(parent, "Import Chats", folder, "importDialog")
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.setNameFilter(_CHATS)
    dialog.filesSelected.connect(lambda paths: chosen(tuple(map(Path, paths))))
    dialog.open()


def first_folder() -> str:
    """Return the folder that such dialogs show at first."""
    return QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation) or str(Path.home())


def _dialog(parent: QWidget, title: str, folder: str, name: str) -> QFileDialog:
    dialog = QFileDialog(parent, title, folder if Path(folder).is_dir() else first_folder())
    dialog.setObjectName(name)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return dialog


def _suffix(kind: str) -> str:
    return "json" if kind == JSON else "md"
