"""The strip of downloads: what stands where."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from app.models.download_list import DownloadList
from app.models.hub_wishes import HubWishes
from engine.core.hub_facts import Download

STATES = ("done", "failed", "failed", "failed", "paused", "queued", "waiting", "running")


def downloads(*states):
    return tuple(Download(f"org/m{number}-{state}", f"M {number}", state, 10, 100) for number, state in enumerate(states))


@pytest.fixture
def strip(qtbot, theme):
    strip = DownloadList(theme, HubWishes())
    qtbot.addWidget(strip)
    strip.resize(1000, 300)
    strip.show()
    return strip


def shown(strip):
    QTest.qWait(0)  # The layout places them once the event loop turns.
    rows = sorted(strip._rows.values(), key=lambda row: row.y())
    return [row.download.state for row in rows]


def test_what_is_under_way_comes_before_what_is_over(strip):
    strip.show_downloads(downloads(*STATES), 0)
    assert shown(strip) == ["running", "waiting", "queued", "paused", "failed", "failed", "failed", "done"]
    first = next(row for row in strip._rows.values() if row.download.state == "running")
    assert first.y() + first.height() <= strip._scroll.height()


def test_a_row_moves_with_its_state_and_keeps_the_focus(strip):
    running = downloads("failed", "running")
    strip.show_downloads(running, 0)
    row = strip._rows[running[1].model_id]
    row._cancel.setFocus()
    focused = strip.focusWidget()
    ended = (running[0], Download(running[1].model_id, "M 1", "done", 100, 100))
    strip.show_downloads(ended, 0)
    assert shown(strip) == ["failed", "done"]
    assert strip._rows[running[1].model_id] is row
    assert strip.focusWidget() is focused is row._cancel
    assert strip._lines.count() == 2


def test_tab_goes_through_the_rows_as_they_stand_on_screen(strip, qtbot):
    qtbot.waitActive(strip)
    for states in (STATES, tuple(reversed(STATES)), STATES[3:]):
        strip.show_downloads(tuple(Download(f"org/m{n}", f"M {n}", state, 10, 100) for n, state in enumerate(states)), 0)
        QTest.qWait(0)
        stops = [part for row in strip._rows.values() for part in row.findChildren(QAbstractButton) if part.isVisible()]
        as_seen = sorted(stops, key=lambda part: (part.parentWidget().y(), part.x()))
        as_seen[0].setFocus()
        passed = [strip.focusWidget()]
        while len(passed) < len(as_seen):
            QTest.keyClick(strip.focusWidget(), Qt.Key.Key_Tab)
            passed.append(strip.focusWidget())
        assert passed == as_seen
