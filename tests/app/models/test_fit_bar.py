import pytest

from app.models.fit_bar import FitBar, Share

GB = 10**9


@pytest.fixture
def bar(qtbot, theme):
    bar = FitBar(theme)
    qtbot.addWidget(bar)
    bar.resize(560, bar.height())
    bar.show()
    return bar


def colors(bar):
    image = bar.grab().toImage()
    return {image.pixelColor(x, 9).name() for x in range(image.width())}


@pytest.mark.parametrize("theme", ["light", "dark"], indirect=True)
def test_what_is_over_the_budget_wears_the_colour_of_failure(bar, theme):
    bar.show_shares((Share("Weights", "m-weights", 17 * GB), Share("KV", "m-kv", 3 * GB)), 24 * GB)
    assert theme.color("critical").name() not in colors(bar)
    assert "Left in the budget 4.0 GB" in bar.accessibleName()
    bar.show_shares((Share("Weights", "m-weights", 30 * GB), Share("KV", "m-kv", 3 * GB)), 24 * GB)
    assert theme.color("critical").name() in colors(bar)
    assert "Over the budget 9.0 GB" in bar.accessibleName()


def test_its_legend_takes_a_second_line_where_there_is_little_room(bar):
    bar.show_shares((Share("Weights", "m-weights", 17 * GB), Share("KV", "m-kv", 3 * GB)), 24 * GB)
    high = bar.height()
    bar.resize(220, high)
    assert bar.height() > high
