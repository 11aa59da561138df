"""Links in messages: opened in the browser, and only after people saw where they go."""

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QTextOption
from PySide6.QtWidgets import QLabel, QMessageBox, QPlainTextEdit, QWidget

OPENED = ("http", "https", "mailto")
MOST_LETTERS = 2000
_WIDTH, _MOST_LINES = 400, 12


def shown_address(address: str, most: int) -> str:
    """Return an address as it goes over the wire, `most` letters of it.

    There are no letters in it that look like others, none that turn the line around, and no markup.
    """
    return bytes(QUrl(address).toEncoded().data()).decode("ascii")[:most]


def open_link(address: str, parent: QWidget) -> None:
    """Ask whether to open a web or mail address, showing it in full; anything else (files, scripts) is only shown."""
    url = QUrl(address)
    box = QMessageBox(parent)
    box.setObjectName("linkQuestion")
    box.setText("Open this link in the browser?" if url.scheme() in OPENED else "Flint doesn't open links of this kind.")
    box.setInformativeText(shown_address(address, MOST_LETTERS))
    if url.scheme() in OPENED:
        box.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(QMessageBox.StandardButton.Open)
        box.finished.connect(
            lambda answer: QDesktopServices.openUrl(url) if answer == QMessageBox.StandardButton.Open else None
        )
    _show_whole(box)
    box.open()


def _show_whole(box: QMessageBox) -> None:
    """Put the address into a field that breaks it anywhere and scrolls: the box's own label cuts what has no spaces.

    Where the system shows the box itself, as on a Mac, its own text stands.
    """
    label, grid = box.findChild(QLabel, "qt_msgbox_informativelabel"), box.layout()
    if not label or not grid:
        return
    field = QPlainTextEdit(box.informativeText(), box)
    field.setObjectName("linkAddress")
    field.setAccessibleName("Address")
    field.setReadOnly(True)
    field.setTabChangesFocus(True)
    field.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
    field.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    field.document().setDocumentMargin(0)
    width, line = _WIDTH, field.fontMetrics().lineSpacing()
    lines = -(-field.fontMetrics().horizontalAdvance(field.toPlainText()) // (width - 2 * line)) or 1
    field.setFixedSize(width, line * min(_MOST_LINES, lines + 1))
    grid.replaceWidget(label, field)
    label.hide()
