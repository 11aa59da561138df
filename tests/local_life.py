"""All that Flint does on this machine alone, from its first window to its last command: `test_offline` runs it without a network.

The hub is not forbidden by any setting here: nothing is asked because nothing asks.
"""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.models.keep_controller import KeepController
from engine.core.paths import locate
from tests.app.conftest import fox, qtbot  # noqa: F401 - fixtures
from tests.app.window_driver import give_model, open_window, remember
from tests.engine.cli.conftest import flint  # noqa: F401 - a fixture
from tests.models.speaking import FOX
from tests.models.tiny import tiny_llama
from tests.models.tiny_gguf import tiny_gguf


@pytest.fixture(autouse=True)
def nothing_forbids_the_hub(monkeypatch, tmp_path):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("HF_TOKEN", "hf_somebodys")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def wide(tmp_path):
    return tiny_llama(tmp_path / "wide", hidden=64, heads=2, kv_heads=2, inner=128)


def test_a_window(qtbot, fox, wide, tmp_path):  # noqa: F811
    remember(model=give_model(fox))
    give_model(wide)
    tiny_gguf(tmp_path / "small.gguf")
    with open_window(qtbot) as driver:
        driver.wait_ready()
        assert driver.ask("Hello").text == FOX
        look_everywhere(driver)
        driver.window.models.unload()
        assert driver.ask("Hello again").text == FOX
    with open_window(qtbot) as driver:
        driver.wait_ready()
        keep_models(driver, tmp_path)


def look_everywhere(driver):
    """Open what there is to open, and give each of it time to ask for something."""
    window = driver.window
    window.place.show()
    dialog = driver.part("modelsDialog")
    driver.wait(lambda: dialog.discover.results.model().rowCount() and window.place.hub.downloads.free_bytes)
    driver.click("segment.machine")
    driver.click("segment.discover")
    window.place.hub.ask_for_token(dialog)
    driver.wait(lambda: driver.part("tokenDialog").isVisible())
    driver.click("cancelToken")
    dialog.close()
    for name in ("showSettings", "showInspector", "commandPalette", "showShortcuts", "choosePrompt"):
        window.findChild(QAction, name).trigger()
        QTest.qWait(300)
        QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Escape)


def keep_models(driver, folder):
    """Import, copy, name, describe and remove models in the models window."""
    window = driver.window
    window.place.show()
    dialog = driver.part("modelsDialog")
    dialog.offer(folder / "small.gguf")
    driver.wait(lambda: any(entry.name == "Small" or "small" in entry.id for entry in window.models.entries))
    driver.click("segment.machine")
    entry = window.models.entry("wide")
    dialog.detail.wished.emit("quantize", "4", entry)
    driver.wait(lambda: window.models.entry("wide-4-bit"))
    dialog.detail.wished.emit("template", "", entry)
    driver.wait(lambda: driver.part("modelTemplate").isVisible())
    driver.click("modelTemplateCancel")
    keeping = window.findChild(KeepController)
    keeping._keep(entry, "Zebra", "good at German")
    driver.wait(lambda: window.models.entry("wide").notes)
    keeping._remove(entry)
    driver.wait(lambda: window.models.entry("wide") is None)


def test_commands(flint, wide, tmp_path):  # noqa: F811
    give_model(wide)
    tiny_gguf(tmp_path / "small.gguf")
    for arguments in (
        ("models", "import", tmp_path / "small.gguf"),
        ("models", "list"),
        ("models", "info", "wide"),
        ("models", "fit", "wide"),
        ("models", "quantize", "wide", "--bits", "4"),
        ("models", "rename", "wide", "Zebra"),
        ("models", "note", "wide", "good at German"),
        ("models", "template", "wide"),
        ("chat", "Hello", "--model", "wide", "--max-tokens", "3"),
        ("cache", "show"),
        ("cache", "clear"),
        ("models", "rm", "wide", "--yes"),
        ("doctor",),
    ):
        outcome = flint(*arguments)
        assert outcome.status == 0, outcome
    assert not (locate().models / "wide").exists()
