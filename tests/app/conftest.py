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


@pytest.fixture(scope="session")
def fox(tmp_path_factory):
    """The folder of a model that says one sentence and ends. Only read it."""
    from tests.models.speaking import speaking_model

    return speaking_model(tmp_path_factory.mktemp("models") / "fox")


@pytest.fixture(scope="session")
def endless(tmp_path_factory):
    """The folder of a model that says the same sentence for as long as it may. Only read it."""
    from tests.models.speaking import speaking_model

    return speaking_model(tmp_path_factory.mktemp("models") / "endless", endless=True)


@pytest.fixture(scope="session")
def greeting(tmp_path_factory):
    """The folder of a model that says another sentence and ends. Only read it."""
    from tests.models.speaking import GREETING, speaking_model

    return speaking_model(tmp_path_factory.mktemp("models") / "greeting", GREETING)
