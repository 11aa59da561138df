"""The spinner turns only while it can be seen."""

from app.widgets.spinner import Spinner


def test_it_turns_while_visible_only(theme, window, qtbot):
    spinner = window.put(Spinner(theme, "Loading"))
    assert spinner.turning
    assert spinner.accessibleName() == "Loading"
    spinner.hide()
    assert not spinner.turning


def test_it_stands_still_where_less_motion_is_asked_for(theme, window, monkeypatch):
    monkeypatch.setattr(type(theme), "still", property(lambda self: True))
    spinner = window.put(Spinner(theme))
    assert not spinner.turning
    accent = theme.color("accent").name()
    image = spinner.grab().toImage()
    assert any(image.pixelColor(x, y).name() == accent for x in range(12) for y in range(12))
