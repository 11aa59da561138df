"""The gauges: what they say, to the eye and to assistive tools, and how often."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.widgets.gauge import ContextGauge, GaugeCard, SpeedGauge
from app.widgets.memory_gauge import MemoryGauge, figure_text, parts, widths
from app.widgets.throttle import INTERVAL_MS, Throttle
from engine.core.facts import MemoryReading

GB = 1024**3


def reading(**changes):
    values = {
        "footprint": 10.2, "active": 7, "cached": 3.1, "peak": 8, "weights": 4.5, "kv": 2.3,
        "total": 64, "available": 32.2, "budget": 39.2,
    }  # fmt: skip
    return MemoryReading(**{name: round(size * GB) for name, size in (values | changes).items()})


def settle(qtbot):
    qtbot.wait(INTERVAL_MS + 50)


def test_the_parts_add_up_to_the_machine():
    sizes = {part.role: part.size / GB for part in parts(reading())}
    assert sizes["m-flint"] == pytest.approx(0.3)
    assert sizes["m-mac"] == pytest.approx(21.6)
    assert sizes["m-free"] == pytest.approx(32.2)
    assert sum(sizes.values()) == pytest.approx(64)


def test_mapped_weights_outside_the_footprint_are_still_counted():
    assert all(part.size >= 0 for part in parts(reading(footprint=0.5)))
    assert sum(part.size for part in parts(reading(footprint=0.5))) == 64 * GB


def test_memory_is_named_with_its_value(theme):
    gauge = MemoryGauge(theme)
    gauge.show_reading(reading())
    assert gauge.objectName() == "memoryGauge"
    assert gauge.accessibleName() == "Memory, 10.2 of 39.2 GB"
    assert "KV 2.3 GB" in gauge.accessibleDescription()


def test_memory_without_a_budget_does_not_invent_one(theme):
    gauge = MemoryGauge(theme)
    gauge.show_reading(reading(budget=0))
    assert gauge.text == "10.2 GB"


def test_memory_is_painted_before_any_reading_and_with_an_empty_one(theme, window):
    gauge = window.put(MemoryGauge(theme))
    empty = gauge.grab().toImage()
    gauge.show_reading(MemoryReading(0, 0, 0, 0, 0, 0, 0, 0, 0))
    gauge.grab()
    gauge.show_reading(reading())
    assert gauge.accessibleName() == "Memory, 0.0 GB"  # the newest comes when the interval is over
    assert not empty.isNull()


def test_the_bar_shows_weights_first_and_the_budget_in_ink(theme, window, qtbot):
    gauge = window.put(MemoryGauge(theme))
    gauge.show_reading(reading())
    image = gauge.grab().toImage()
    assert image.pixelColor(5, 30).name() == theme.color("m-weights").name()
    at = round((21.6 + 39.2) / 64 * gauge.width())
    assert image.pixelColor(at - 1, 24).name() == theme.color("ink").name()


@given(st.lists(st.integers(0, 64 * GB), min_size=6, max_size=6).filter(any), st.integers(60, 800))
def test_the_bar_is_filled_exactly_and_every_part_can_be_seen(sizes, length):
    spans = widths(sizes, sum(sizes), length)
    shown = [span for span, size in zip(spans, sizes, strict=True) if size]
    assert sum(spans) + len(shown) - 1 == pytest.approx(length)
    assert all(span >= 2 for span in shown)
    assert all(span == 0 for span, size in zip(spans, sizes, strict=True) if not size)


def test_figures_stay_four_characters():
    assert [figure_text(round(size * GB)) for size in (0, 0.31, 32.2, 99.94, 99.96, 512)] == [
        "0.0",
        "0.3",
        "32.2",
        "99.9",
        "100",
        "512",
    ]


def test_speed_says_when_there_is_no_model_and_when_it_is_ready(theme, qtbot):
    gauge = SpeedGauge(theme)
    assert (gauge.text, gauge.note) == ("Speed", "no model yet")
    gauge.set_model(True)
    settle(qtbot)
    assert (gauge.text, gauge.note) == ("Speed", "ready")


def test_speed_says_its_phase_and_share_of_the_limit(theme, qtbot):
    gauge = SpeedGauge(theme)
    gauge.set_limit(85)
    gauge.set_model(True)
    gauge.show_reading(783, "reading")
    settle(qtbot)
    assert (gauge.text, gauge.note) == ("783 tok/s, reading", "")
    gauge.show_reading(61.2, "writing")
    settle(qtbot)
    assert (gauge.text, gauge.note) == ("61 tok/s", "72% of limit")
    assert gauge.accessibleName() == "Speed, 61 tok/s, 72% of limit"


def test_without_a_limit_speed_says_the_time_to_the_first_token(theme, qtbot):
    gauge = SpeedGauge(theme)
    gauge.set_model(True)
    gauge.set_first_token(0.41)
    gauge.show_reading(61.2, "writing")
    settle(qtbot)
    assert gauge.note == "first token 0.41 s"
    gauge.show_reading(0, "idle")
    settle(qtbot)
    assert (gauge.text, gauge.note) == ("last 61 tok/s", "first token 0.41 s")


def test_another_model_starts_with_no_figures(theme, qtbot):
    gauge = SpeedGauge(theme)
    gauge.show_reading(61.2, "writing")
    gauge.set_model(True)
    settle(qtbot)
    assert gauge.text == "Speed"
    assert gauge.sparkline.points == ()


def test_the_card_has_the_measures_of_the_design(theme):
    card = GaugeCard(theme)
    assert card.sizeHint().height() == card.layout().minimumSize().height() == 192


def test_context_is_hidden_without_a_model_and_accented_when_nearly_full(theme, window, qtbot):
    gauge = ContextGauge(theme)
    window.layout().addWidget(gauge)
    assert not gauge.isVisible()
    gauge.show_use(18_000, 32_768)
    qtbot.waitUntil(gauge.isVisible)
    assert gauge.text == "18k / 32k"
    assert gauge.accessibleName() == "Context, 18,000 of 32,768 tokens"

    def accented():
        image = gauge.grab().toImage()
        accent = theme.color("accent").name()
        return any(image.pixelColor(x, y).name() == accent for x in range(image.width()) for y in range(image.height()))

    assert not accented()
    gauge.show_use(28_000, 32_768)
    settle(qtbot)
    assert accented()
    gauge.show_use(0, 0)
    qtbot.waitUntil(lambda: not gauge.isVisible())


def test_context_keeps_its_width_while_it_fills(theme, qtbot):
    gauge = ContextGauge(theme)
    gauge.show_use(0, 32_768)
    empty = gauge.sizeHint().width()
    for used in (900, 9_400, 31_000, 32_768):
        gauge.show_use(used, 32_768)
        settle(qtbot)
        assert gauge.sizeHint().width() == empty


def test_a_burst_of_readings_paints_the_first_and_the_last(qtbot, theme):
    seen = []
    latest = [0]
    throttle = Throttle(lambda: seen.append(latest[0]), theme)
    for value in range(1, 51):
        latest[0] = value
        throttle.request()
    assert seen == [1]
    qtbot.waitUntil(lambda: seen == [1, 50])
