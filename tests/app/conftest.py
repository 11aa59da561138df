"""What the tests of widgets stand on."""

import pytest

from app.theme import Theme


@pytest.fixture
def theme(qapp, request):
    """The one theme, light and with its style sheet in force, as in the app.

    `@pytest.mark.parametrize("theme", ["light", "dark"], indirect=True)` runs a test in both appearances.
    """
    theme = Theme()
    theme.set_mode(getattr(request, "param", "light"))
    qapp.setStyleSheet(theme.stylesheet())
    yield theme
    qapp.setStyleSheet("")
