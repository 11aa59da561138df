"""The system's dialogs for files and folders. Each calls back with what was chosen, and the event loop goes on meanwhile.

`name` is the dialog's object name; without a `folder` it begins where the last one ended.
"""

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

type Chosen = Callable[[Path], object]


def ask_for_file(parent: QWidget, name: str, title: str, filters: str, chosen: Chosen, folder: str = "") -> None:
    """Ask for a file that is there."""
    dialog = _dialog(parent, name, title, filters, folder)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.fileSelected.connect(lambda path: chosen(Path(path)))
    dialog.open()


def ask_for_files(
    parent: QWidget, name: str, title: str, filters: str, chosen: Callable[[tuple[Path, ...]], object], folder: str = ""
) -> QFileDialog:
    """Ask for files that are there; return the dialog."""
    dialog = _dialog(parent, name, title, filters, folder)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(lambda paths: chosen(tuple(map(Path, paths))))
    dialog.open()
    return dialog


def ask_for_folder(parent: QWidget, name: str, title: str, chosen: Chosen, folder: str = "") -> None:
    """Ask for a folder."""
    dialog = _dialog(parent, name, title, "", folder)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.fileSelected.connect(lambda path: chosen(Path(path)))
    dialog.open()


def ask_where_to_save(
    parent: QWidget, name: str, title: str, filters: str, file: str, chosen: Chosen, folder: str = ""
) -> None:
    """Ask where to save what would be called `file`; with `filters`, its ending follows the kind that is chosen."""
    dialog = _dialog(parent, name, title, filters, folder)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.selectFile(file)
    dialog.setDefaultSuffix(_suffix(dialog.selectedNameFilter()))
    dialog.filterSelected.connect(lambda kind: dialog.setDefaultSuffix(_suffix(kind)))
    dialog.fileSelected.connect(lambda path: chosen(Path(path)))
    dialog.open()


def _dialog(parent: QWidget, name: str, title: str, filters: str, folder: str) -> QFileDialog:
    dialog = QFileDialog(parent, title, folder, filters)
    dialog.setObjectName(name)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return dialog


def _suffix(kind: str) -> str:
    """Return the ending that a filter names first, as in "Markdown (*.md)"; nothing where it names none."""
    found = re.search(r"\*\.(\w+)", kind)
    return found.group(1) if found else ""
