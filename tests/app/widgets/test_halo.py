"""The ring around the focused control follows it, and goes with it."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from app.widgets.button import Button
from app.widgets.slider import Slider


def test_it_follows_a_control_that_moves(theme, window):
    button = Button(theme, "Go", parent=window)
    button.move(50, 50)
    button.show()
    button.setFocus(Qt.FocusReason.TabFocusReason)
    button.move(120, 80)
    line = button._ring._line
    assert line.mapTo(window, QPoint(0, 0)) == button.pos() - QPoint(4, 4)


def test_it_follows_what_holds_the_control(theme, window):
    holder = QWidget(window)
    holder.setGeometry(40, 40, 80, 28)
    button = Button(theme, "Go", parent=holder)
    holder.show()
    button.setFocus(Qt.FocusReason.TabFocusReason)
    holder.move(100, 90)
    assert button._ring._line.mapTo(window, QPoint(0, 0)) == button.mapTo(window, QPoint(-4, -4))


def test_it_follows_the_knob_of_a_slider(theme, window, qtbot):
    slider = window.put(Slider(theme, "Temperature"))
    slider.set_value(0.5)
    slider.setFocus(Qt.FocusReason.TabFocusReason)
    before = slider._ring._line.x()
    qtbot.keyClick(slider, Qt.Key.Key_End)
    assert slider._ring._line.x() > before


def test_it_is_cut_off_with_the_control_where_that_scrolls(theme, window):
    area = QScrollArea()
    body = QWidget()
    layout = QVBoxLayout(body)
    buttons = [Button(theme, str(number)) for number in range(30)]
    for button in buttons:
        layout.addWidget(button)
    area.setWidget(body)
    window.put(area)
    buttons[3].setFocus(Qt.FocusReason.TabFocusReason)
    assert area.viewport().isAncestorOf(buttons[3]._ring._line)


def test_it_comes_back_when_the_window_does(theme, window, qtbot):
    button = window.put(Button(theme, "Go"))
    button.setFocus(Qt.FocusReason.TabFocusReason)
    other = QWidget()
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitActive(other)
    assert not button._ring.visible
    window.activateWindow()
    qtbot.waitActive(window)
    assert button._ring.visible


def test_it_is_gone_with_a_control_that_is_deleted(theme, window, qtbot):
    from shiboken6 import isValid

    button = window.put(Button(theme, "Go"))
    button.setFocus(Qt.FocusReason.TabFocusReason)
    line = button._ring._line
    button.hide()
    button.deleteLater()
    qtbot.waitUntil(lambda: not isValid(line))
