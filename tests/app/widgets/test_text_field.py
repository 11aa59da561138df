"""The one-line field: when it says what was typed."""

import pytest
from PySide6.QtCore import Qt

from app.widgets.debounce import INTERVAL_MS
from app.widgets.text_field import TextField


@pytest.fixture
def field(theme, window):
    field = TextField(theme, "Temperature", width=64)
    field.show_text("0.70")
    return window.put(field)


def type_over(qtbot, field, text):
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)


def test_it_waits_until_somebody_stops_typing(field, qtbot):
    said = []
    field.edited.connect(said.append)
    type_over(qtbot, field, "1.25")
    assert said == []
    assert field.waiting
    qtbot.waitUntil(lambda: said == ["1.25"])


def test_return_says_it_at_once(field, qtbot):
    type_over(qtbot, field, "1.25")
    with qtbot.waitSignal(field.edited) as said:
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert said.args == ["1.25"]


def test_nothing_is_lost_when_the_focus_leaves_or_the_field_hides(field, qtbot):
    said = []
    field.edited.connect(said.append)
    type_over(qtbot, field, "1.3")
    field.clearFocus()
    type_over(qtbot, field, "1.4")
    field.hide()
    assert said == ["1.3", "1.4"]


def test_escape_takes_back_what_was_typed(field, qtbot):
    with qtbot.assertNotEmitted(field.edited, wait=INTERVAL_MS + 100):
        type_over(qtbot, field, "1.9")
        qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert field.text() == "0.70"


def test_up_and_down_ask_for_steps(field, qtbot):
    with qtbot.waitSignal(field.stepped) as up:
        qtbot.keyClick(field, Qt.Key.Key_Up)
    with qtbot.waitSignal(field.stepped) as down:
        qtbot.keyClick(field, Qt.Key.Key_Down)
    assert (up.args, down.args) == ([1], [-1])


def edge(field):
    return field.grab().toImage().pixelColor(field.width() // 2, 0).name()


def test_its_edge_says_refused_editing_and_normal(field, theme):
    assert edge(field) == theme.color("border").name()
    field.set_refused(True)
    assert edge(field) == theme.color("critical").name()
    field.set_refused(False)
    field.setFocus()
    assert edge(field) == theme.color("accent").name()


def test_while_edited_it_glows(field, window, theme):
    field.setFocus(Qt.FocusReason.MouseFocusReason)
    place = field.mapTo(window, field.rect().topLeft())
    assert window.grab().toImage().pixelColor(place.x() + 30, place.y() - 1).name() == theme.color("accent-line").name()


def test_its_font_survives_a_change_of_mode(field, theme, qapp):
    theme.set_mode("dark")
    qapp.setStyleSheet(theme.stylesheet())
    assert (field.font().pixelSize(), field.font().family()) == (12, theme.font("small").family())
