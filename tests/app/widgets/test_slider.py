"""The slider: its scale, and driving it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent

from app.widgets.slider import Scale, Slider
from tests.app.pointer import drag_to


@pytest.fixture
def slider(theme, window):
    slider = Slider(theme, "Temperature")
    slider.set_range(0, 2, 0.05)
    slider.set_value(0.7)
    return window.put(slider)


def test_arrows_move_by_one_stop_and_say_so(slider, qtbot):
    slider.setFocus(Qt.FocusReason.TabFocusReason)
    with qtbot.waitSignal(slider.moved) as moved:
        qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert moved.args == [0.75]
    qtbot.keyClick(slider, Qt.Key.Key_Left)
    qtbot.keyClick(slider, Qt.Key.Key_Left)
    assert slider.value == 0.65
    qtbot.keyClick(slider, Qt.Key.Key_PageUp)
    assert slider.value == 1.15


def test_home_and_end_go_to_the_ends_and_no_further(slider, qtbot):
    qtbot.keyClick(slider, Qt.Key.Key_End)
    assert slider.value == 2
    with qtbot.assertNotEmitted(slider.moved):
        qtbot.keyClick(slider, Qt.Key.Key_Right)
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    assert slider.value == 0


def test_the_pointer_sets_and_drags(slider, qtbot):
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(slider.width() // 2, 10))
    assert slider.value == 1.0
    drag_to(slider, QPoint(slider.width() - 1, 10))
    assert slider.value == 2.0


def test_the_wheel_does_not_change_it(slider):
    event = QWheelEvent(
        QPointF(10, 10), QPointF(10, 10), QPoint(0, 0), QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    slider.wheelEvent(event)
    assert slider.value == 0.7
    assert not event.isAccepted()


def test_setting_a_value_says_nothing(slider, qtbot):
    with qtbot.assertNotEmitted(slider.moved):
        slider.set_value(1.5)
    assert slider.accessibleDescription() == "1.5"


def test_inherited_is_stone_and_changed_is_accented(slider, theme):
    def fill():
        return slider.grab().toImage().pixelColor(6, 10).name()

    slider.set_value(1.0)
    slider.set_inherited(0.7, False)
    assert fill() == theme.color("m-mac").name()
    slider.set_inherited(0.7, True)
    assert fill() == theme.color("accent").name()


def test_a_logarithmic_scale_spends_equal_length_on_equal_ratios():
    scale = Scale(1, 65536, 1, True)
    assert scale.position(256) == pytest.approx(0.5)
    assert scale.value(0.5) == 256


def test_a_logarithmic_scale_stops_at_round_values():
    scale = Scale(256, 1_048_576, 256, True)
    assert [scale.move(4096, n) for n in (0, 1, 8, -1)] == [4096, 4608, 8192, 3840]
    assert scale.move(32768, 8) == 65536


@given(st.floats(0, 1), st.booleans())
def test_any_place_of_the_knob_is_a_value_in_range_that_stays(position, logarithmic):
    scale = Scale(1, 131072, 1, logarithmic)
    value = scale.value(position)
    assert 1 <= value <= 131072
    assert scale.snap(value) == value


@given(st.integers(1, 131072), st.booleans())
def test_a_step_up_grows_and_a_step_down_shrinks(value, logarithmic):
    scale = Scale(1, 131072, 1, logarithmic)
    assert scale.move(value, 1) > value or value == 131072
    assert scale.move(value, -1) < value or value == 1
