"""The sidebar's empty top."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.theme import Theme
from app.widgets.icon_button import IconButton


class TopStrip(QWidget):
    """Room for the traffic lights and the collapsing button on a Mac, 12 px elsewhere. Drags the window."""

    collapse_requested = Signal()

    def __init__(self, theme: Theme, lights: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(52 if lights else 12)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 12, 0)
        row.addStretch(1)
        button = IconButton(theme, "sidebar", "Hide the sidebar", parent=self)
        button.setObjectName("collapseButton")
        button.clicked.connect(self.collapse_requested)
        button.setVisible(lights)
        row.addWidget(button)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the window, as a title bar does."""
        handle = self.window().windowHandle()
        if event.button() == Qt.MouseButton.LeftButton and handle is not None:
            handle.startSystemMove()
