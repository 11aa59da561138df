"""The pointer of a test: what moves goes to the widget itself, whatever other windows stand at that place of the screen.

Qt's own move of the screen's cursor goes to the first window it finds there, which may be one that an earlier test left.
"""

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget


def move(widget, place=None):
    """Move the pointer to `place` of a widget, its middle where none is given."""
    QTest.mouseRelease(QWidget(), Qt.MouseButton.LeftButton)  # What an earlier test pressed and left so gets all that moves.
    window = widget.window()
    QTest.mouseMove(window.windowHandle(), widget.mapTo(window, place or widget.rect().center()))
    QApplication.processEvents()


def hover(widget, place):
    """Tell a widget alone that the pointer is at `place` with no button held, whatever an earlier test left pressed."""
    _tell(widget, place, Qt.MouseButton.NoButton)


def drag_to(widget, place):
    """Move the pointer to `place` of a widget that was pressed with the left button, without letting go."""
    _tell(widget, place, Qt.MouseButton.LeftButton)


def _tell(widget, place, held):
    there, on_screen = QPointF(place), QPointF(widget.mapToGlobal(place))
    none = Qt.MouseButton.NoButton
    QApplication.sendEvent(
        widget, QMouseEvent(QEvent.Type.MouseMove, there, on_screen, none, held, Qt.KeyboardModifier.NoModifier)
    )
    QApplication.processEvents()
