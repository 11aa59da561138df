"""A card of figures opens beside its anchor and closes at a press elsewhere or Escape."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.widgets.facts_popover import FactsPopover

ROWS = [("Prompt", "444 tokens"), ("KV cache", "16.2 MB, full precision")]


def opened(qtbot, theme, at):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(600, 400)
    anchor = QWidget(window)
    anchor.setGeometry(at.x(), at.y(), 40, 20)
    window.show()
    popover = FactsPopover(theme, window)
    popover.show_rows(ROWS, anchor)
    return window, anchor, popover


def test_it_opens_over_its_anchor_inside_the_window(qtbot, theme):
    window, anchor, popover = opened(qtbot, theme, QPoint(560, 300))
    assert popover.isVisible()
    assert popover.geometry().bottom() < anchor.y()
    assert window.rect().contains(popover.geometry())
    assert popover.accessibleName() == "Prompt: 444 tokens; KV cache: 16.2 MB, full precision"


def test_without_room_above_it_opens_below(qtbot, theme):
    _, anchor, popover = opened(qtbot, theme, QPoint(10, 5))
    assert popover.y() > anchor.geometry().bottom()


def test_escape_and_a_press_elsewhere_close_it(qtbot, theme):
    window, anchor, popover = opened(qtbot, theme, QPoint(10, 300))
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not popover.isVisible()
    popover.show_rows(ROWS, anchor)
    QTest.mouseClick(window, Qt.MouseButton.LeftButton, pos=QPoint(590, 10))
    assert not popover.isVisible()


def test_it_closes_with_what_it_is_about(qtbot, theme):
    _, anchor, popover = opened(qtbot, theme, QPoint(10, 300))
    anchor.hide()
    assert not popover.isVisible()
