"""Links in messages: opened in the browser, and only after people saw where they go."""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

OPENED = ("http", "https", "mailto")
MOST_LETTERS = 2000


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
    box.open()
