"""A theme and a window to put widgets in."""

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget


@pytest.fixture
def window(qtbot):
    """A shown, active window; `window.put(widget)` lays a widget into it."""

    class Window(QWidget):
        def __init__(self):
            super().__init__()
            self.setLayout(QVBoxLayout())
            self.layout().setContentsMargins(20, 20, 20, 20)

        def put(self, widget):
            self.layout().addWidget(widget)
            qtbot.waitUntil(widget.isVisible)
            return widget

    window = Window()
    qtbot.addWidget(window)
    window.resize(480, 320)
    window.show()
    window.activateWindow()
    qtbot.waitActive(window)
    return window
