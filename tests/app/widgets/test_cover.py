import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget
from shiboken6 import delete

from app.widgets.cover import Cover

LEFT = Qt.MouseButton.LeftButton


class Opened(Cover):
    def __init__(self, theme, window):
        super().__init__(window)
        self.field = QLineEdit(self)
        self.set_seen(theme, self.field, 8, lambda: QRect(40, 40, window.width() - 80, 24))


@pytest.fixture
def window(qtbot):
    window = QWidget()
    window.resize(300, 200)
    window.asked = QLineEdit(window)
    window.other = QLineEdit(window)
    window.other.move(0, 100)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    window.asked.setFocus()
    return window


@pytest.fixture
def cover(window, theme):
    cover = Opened(theme, window)
    cover.left = []
    cover.closed.connect(lambda: cover.left.append(1))
    cover.open_over([window.asked])
    cover.field.setFocus()
    return cover


@pytest.mark.parametrize("way", ["press", "escape", "elsewhere", "hidden"])
def test_it_goes_once_whatever_ends_it(cover, window, way):
    if way == "press":
        QTest.mouseClick(cover, LEFT, pos=QPoint(5, 5))
    elif way == "escape":
        QTest.keyClick(cover, Qt.Key.Key_Escape)
    elif way == "elsewhere":
        window.other.setFocus()
    else:
        window.hide()
    assert cover.isHidden()
    cover.leave()
    assert cover.left == [1]
    if way != "hidden":
        assert (window.other if way == "elsewhere" else window.asked).hasFocus()


def test_a_press_on_the_card_and_other_keys_leave_it_open(cover):
    QTest.mouseClick(cover, LEFT, pos=QPoint(50, 50))
    QTest.keyClick(cover.field, Qt.Key.Key_F5)
    assert cover.isVisible()
    assert cover.left == []


def test_it_covers_the_window_at_every_size(cover, window):
    window.resize(500, 300)
    assert cover.size() == window.size()
    assert cover.field.width() == 420


def test_the_keyboard_goes_back_to_the_first_that_can_have_it(cover, window, theme):
    cover.leave()
    gone, unseen, deaf = QLineEdit(window), QLineEdit(window), QWidget(window)
    unseen.hide()
    deaf.show()
    cover.open_over([gone, unseen, deaf, window.other])
    cover.field.setFocus()
    delete(gone)
    cover.leave()
    assert window.other.hasFocus()


def test_it_opens_again(cover, window):
    for _ in range(2):
        cover.leave()
        cover.open_over([window.asked])
        cover.field.setFocus()
        assert cover.isVisible()
        QTest.keyClick(cover, Qt.Key.Key_Escape)
        assert cover.isHidden()
