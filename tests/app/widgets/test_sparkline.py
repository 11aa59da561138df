"""The last minute of a rate."""

import pytest

from app.widgets.sparkline import Sparkline


@pytest.fixture
def now():
    return [1000.0]


@pytest.fixture
def line(theme, window, now):
    return window.put(Sparkline(theme, clock=lambda: now[0]))


def accented(line, theme):
    """Columns with the accent in them."""
    image = line.grab().toImage()
    accent = theme.color("accent").name()
    return {x for x in range(image.width()) if any(image.pixelColor(x, y).name() == accent for y in range(image.height()))}


def test_it_forgets_what_is_older_than_a_minute(line, now):
    line.add(50, "writing")
    now[0] += 30
    line.add(60, "writing")
    now[0] += 31
    line.add(70, "writing")
    assert [round(age) for age, _, _ in line.points] == [31, 0]


def test_where_nothing_ran_there_is_a_gap(line, now, theme):
    for step in range(20):
        line.add(50, "writing")
        now[0] += 0.5 if step != 9 else 20
    columns = accented(line, theme)
    assert columns
    middle = range(min(columns), max(columns))
    assert len(set(middle) - columns) > 20


def test_a_limit_that_is_known_is_drawn_and_one_that_is_not_is_not(line, theme):
    ink = theme.color("ink-3").name()

    def dashed():
        image = line.grab().toImage()
        return any(image.pixelColor(x, y).name() == ink for x in range(40) for y in range(10))

    assert not dashed()
    line.set_limit("writing", 85.0)
    assert dashed()


def test_a_rate_over_its_limit_stays_inside(line, now, theme):
    line.set_limit("writing", 10.0)
    for _ in range(5):
        line.add(50, "writing")
        now[0] += 1
    assert accented(line, theme)


def test_it_moves_only_while_something_can_be_seen(line, now, qtbot):
    assert not line._timer.isActive()
    line.add(50, "writing")
    assert line._timer.isActive()
    now[0] += 61
    qtbot.waitUntil(lambda: not line._timer.isActive())
