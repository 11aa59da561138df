"""The pointer of a test: what moves goes to the widget itself, whatever other windows stand at that place of the screen.

Qt's own move of the screen's cursor goes to the first window it finds there, which may be one that an earlier test left.
"""

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication


def move(widget, place=None):
    """Move the pointer to `place` of a widget, its middle where none is given."""
    window = widget.window()
    QTest.mouseMove(window.windowHandle(), widget.mapTo(window, place or widget.rect().center()))
    QApplication.processEvents()


def drag_to(widget, place):
    """Move the pointer to `place` of a widget that was pressed with the left button, without letting go."""
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    there, on_screen = QPointF(place), QPointF(widget.mapToGlobal(place))
    moved = QMouseEvent(QEvent.Type.MouseMove, there, on_screen, none, left, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(widget, moved)
    QApplication.processEvents()
