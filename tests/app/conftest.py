"""What the tests of widgets and of the whole window stand on."""

import pytest

from app.theme import Theme
from tests.app.driving import Witness
from tests.app.patience import PatientBot
from tests.app.window_driver import give_model, open_window, remember, set_settings


@pytest.fixture
def qtbot(qapp, request):
    """pytest-qt's, whose waits are of one length: far more than anything takes."""
    return PatientBot(request)


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


@pytest.fixture(autouse=True)
def driven(request):
    """Fail a test whose `drives` mark names widgets that got no input while it ran."""
    marks = [name for mark in request.node.iter_markers("drives") for name in mark.args]
    if not marks:
        yield
        return
    witness = Witness(request.getfixturevalue("qapp"))
    yield
    witness.stop()
    idle = [name for name in marks if not witness.saw(name)]
    assert not idle, f"the test says that it drives {idle}, but gave it no mouse or keyboard input"


@pytest.fixture(autouse=True)
def without_starter(request, monkeypatch):
    """Windows of tests that ask for no starter are as on a machine without it: listing it takes longer than many a test."""
    if not {"starter", "starter_gguf"} & set(request.fixturenames):
        monkeypatch.setattr("engine.models.starter.starter_file", lambda *_: None)


@pytest.fixture
def found(qtbot, server):
    """A window with the models dialog open on Discover, over a test's own `server`."""
    from tests.app.hub_window import hub_window

    with hub_window(qtbot) as discovering:
        yield discovering


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


@pytest.fixture
def flint(qtbot, fox):
    """An open window whose model says the fox's sentence."""
    remember(model=give_model(fox))
    with open_window(qtbot) as driver:
        driver.wait_ready()
        yield driver


@pytest.fixture
def writing(qtbot, endless):
    """An open window, and the pending reply of a model that does not end by itself, some words of it on screen."""
    remember(model=give_model(endless))
    set_settings(max_tokens=30_000)
    with open_window(qtbot) as driver:
        driver.wait_ready()
        pending = driver.send("Tell me about the fox")
        driver.wait(lambda: len(driver.deltas(pending.request_id)) > 2)
        yield driver, pending
