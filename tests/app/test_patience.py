"""What tests wait with."""

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget


def test_no_wait_is_given_a_time_that_a_busy_machine_could_take(qtbot):
    with pytest.raises(TypeError):
        qtbot.waitUntil(lambda: True, timeout=5_000)
    with pytest.raises(TypeError):
        qtbot.waitSignal(QTimer().timeout, timeout=5_000)


@pytest.mark.parametrize("wait", ["waitExposed", "waitActive"])
def test_a_window_is_there_where_it_was_waited_for(qtbot, wait):
    window = QWidget()
    qtbot.addWidget(window)
    window.winId()  # Else it is no window of the platform's yet.
    QTimer.singleShot(20, lambda: (window.show(), window.activateWindow()))
    getattr(qtbot, wait)(window)
    assert window.windowHandle().isExposed()
    assert wait == "waitExposed" or window.isActiveWindow()
