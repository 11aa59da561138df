"""A card of figures opens beside its anchor and closes at a press elsewhere or Escape."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget

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


def copyable(qtbot, theme, rows, height=400):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(900, height)
    anchor = QPushButton(window)
    anchor.setGeometry(20, height - 60, 40, 20)
    window.show()
    window.activateWindow()
    anchor.setFocus()
    popover = FactsPopover(theme, window, copyable=True)
    popover.show_rows(rows, anchor)
    return window, anchor, popover


@pytest.mark.drives("copyFacts")
@pytest.mark.parametrize("way", ["mouse", "space"])
def test_its_rows_are_copied_as_text_and_it_stays_open(qtbot, theme, way):
    window, anchor, popover = copyable(qtbot, theme, [("Model", "M"), ("Time", ""), ("Writing", "6.2 s")])
    button = popover.findChild(QWidget, "copyFacts")
    if way == "mouse":
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    else:
        assert popover.window().focusWidget() is button
        QTest.keyClick(button, Qt.Key.Key_Space)
    assert QGuiApplication.clipboard().text() == "Model: M\n\nTime\nWriting: 6.2 s"
    assert button.text() == "Copied"
    assert popover.isVisible()
    QTest.keyClick(button, Qt.Key.Key_Escape)
    assert not popover.isVisible()
    assert window.focusWidget() is anchor


def test_many_rows_stand_in_two_columns(qtbot, theme):
    rows = [row for part in range(4) for row in ((f"Part {part}", ""), *((f"Row {part}.{n}", "value") for n in range(5)))]
    window, _, few = copyable(qtbot, theme, rows[:12])
    assert window.rect().contains(few.geometry())
    window, _, many = copyable(qtbot, theme, rows)
    assert window.rect().contains(many.geometry())
    assert many.width() > 1.5 * few.width()
    assert many.height() < 1.2 * few.height()
