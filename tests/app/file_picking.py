"""Choosing in one of the system's dialogs for files, as somebody does who types a path and presses Return."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget


def file_dialog(qtbot, window, name):
    """The dialog that is open over a window."""
    qtbot.waitUntil(lambda: window.findChild(QFileDialog, name) is not None)
    return window.findChild(QFileDialog, name)


def pick_file(qtbot, window, name, path):
    """Choose a path in the dialog that is open over a window, and wait until it is gone."""
    field = file_dialog(qtbot, window, name).findChild(QWidget, "fileNameEdit")
    field.setText(str(path))
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.findChild(QFileDialog, name) is None)
