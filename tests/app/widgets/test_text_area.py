"""The field for several lines."""

import pytest
from PySide6.QtCore import Qt

from app.widgets.button import Button
from app.widgets.debounce import INTERVAL_MS
from app.widgets.text_area import TextArea


@pytest.fixture
def area(theme, window):
    return window.put(TextArea(theme, "System prompt"))


def test_it_waits_until_somebody_stops_typing(area, qtbot):
    said = []
    area.edited.connect(said.append)
    qtbot.keyClicks(area.edit, "Be brief.")
    assert said == []
    qtbot.waitUntil(lambda: said == ["Be brief."])


def test_nothing_is_lost_when_the_focus_leaves(area, qtbot):
    area.edit.setFocus()
    qtbot.keyClicks(area.edit, "Be brief.")
    with qtbot.waitSignal(area.edited) as said:
        area.edit.clearFocus()
    assert said.args == ["Be brief."]


def test_return_breaks_the_line_and_tab_leaves(area, theme, window, qtbot):
    after = window.put(Button(theme, "Next"))
    area.edit.setFocus()
    qtbot.keyClicks(area.edit, "a")
    qtbot.keyClick(area.edit, Qt.Key.Key_Return)
    qtbot.keyClicks(area.edit, "b")
    qtbot.keyClick(area.edit, Qt.Key.Key_Tab)
    assert area.text == "a\nb"
    assert after.hasFocus()


def test_it_grows_with_its_text_and_stops_at_ten_lines(area, qtbot):
    least = area.height()
    area.show_text("\n".join("line" for _ in range(6)))
    qtbot.waitUntil(lambda: area.height() > least)
    six = area.height()
    area.show_text("\n".join("line" for _ in range(500)))
    qtbot.waitUntil(lambda: area.height() > six)
    assert area.height() < 2 * six
    area.show_text("")
    qtbot.waitUntil(lambda: area.height() == least)


def test_showing_a_text_says_nothing(area, qtbot):
    with qtbot.assertNotEmitted(area.edited, wait=INTERVAL_MS + 100):
        area.show_text("from the store")


def test_a_text_that_is_not_applied_has_a_critical_edge_until_another_is_shown(area, theme):
    def edge():
        image = area.grab().toImage()
        ratio = image.devicePixelRatio()
        return image.pixelColor(int(area.width() * ratio / 2), 0).name()

    area.set_refused(True)
    assert edge() == theme.color("critical").name()
    area.show_text("good")
    assert edge() != theme.color("critical").name()
