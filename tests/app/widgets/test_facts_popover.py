"""A card of figures opens beside its anchor and closes at a press elsewhere or Escape."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
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


PARTS = [row for part in range(6) for row in ((f"Part {part}", ""), *((f"Row {part}.{n}", "a value " * 5) for n in range(7)))]


@pytest.mark.drives("copyFacts")
@pytest.mark.parametrize("width", [420, 640, 700, 760, 900])
@pytest.mark.parametrize("height", [320, 400, 900])
def test_in_a_window_of_any_size_it_stands_inside_and_can_be_copied(qtbot, theme, width, height):
    window, anchor, popover = copyable(qtbot, theme, ROWS, height)
    window.resize(width, height)
    for left in (0, width - 60):
        anchor.move(left, height - 60)
        popover.show_rows(PARTS, anchor)
        assert window.rect().adjusted(8, 8, -8, -8).contains(popover.geometry())
        button = popover.findChild(QWidget, "copyFacts")
        assert popover.rect().contains(button.geometry())
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        assert button.text() == "Copied"


@pytest.mark.parametrize("way", ["wheel", "key"])
def test_rows_that_have_no_room_are_scrolled_to(qtbot, theme, way):
    window, anchor, popover = copyable(qtbot, theme, ROWS, 400)
    window.resize(420, 400)
    popover.show_rows(PARTS, anchor)
    first = popover.grab().toImage()
    images = []
    for _ in range(60):
        if way == "wheel":
            place = popover.mapTo(window, popover.rect().center())
            QTest.wheelEvent(window.windowHandle(), QPointF(place), QPoint(0, -120))
        else:
            QTest.keyClick(window.focusWidget(), Qt.Key.Key_Down)
        images.append(popover.grab().toImage())
    assert popover.isVisible()
    assert images[0] != first
    assert images[-1] == images[-2] != images[0]
    assert popover._scrolled == popover._hidden() > 0
