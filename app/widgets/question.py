"""The question before something is gone."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget


def ask_to_remove(parent: QWidget | None, name: str, text: str, more: str, verb: str, work: Callable[[], object]) -> None:
    """Ask `text`, and do `work` when the button that says `verb` is pressed; Return and Escape leave all as it is.

    The box is called `name` and Question, its buttons `name` and Confirm or Cancel.
    """
    box = QMessageBox(QMessageBox.Icon.Warning, "", text, parent=parent)
    box.setObjectName(f"{name}Question")
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setInformativeText(more)
    confirm = box.addButton(verb, QMessageBox.ButtonRole.DestructiveRole)
    confirm.setObjectName(f"{name}Confirm")
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    cancel.setObjectName(f"{name}Cancel")
    box.setDefaultButton(cancel)
    box.finished.connect(lambda: work() if box.clickedButton() == confirm else None)
    box.open()
