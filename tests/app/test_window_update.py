"""“Check for a Newer Version” in the models window, by mouse and keyboard, against the hub on loopback."""

import os

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from app.models import keep_controller
from app.widgets.toast import Toast
from engine.models import hub as flint_hub
from engine.models.hub import Hub
from engine.models.huggingface_cache import cache_folder
from engine.models.repository_download import RepositoryDownload
from tests.app.hub_window import FOX_ID, hub_on_loopback
from tests.app.window_driver import open_window, remember
from tests.hub.fault_table import NOWHERE
from tests.models.speaking import FOX

LEFT = Qt.MouseButton.LeftButton
CHANGED = '{"temperature": 0.25}'


@pytest.fixture
def server(monkeypatch, fox):
    with hub_on_loopback(monkeypatch, fox) as server:
        yield server


@pytest.fixture
def models(qtbot, server):
    """A window whose model came from the hub, with the models window open on it; the hub was asked nothing since."""
    hub = Hub(lambda: "", os.environ)
    RepositoryDownload(hub, cache_folder(os.environ), hub.describe(FOX_ID)).run()
    remember(model=FOX_ID)
    with open_window(qtbot) as driver:
        driver.wait_ready()
        driver.window.place.show()
        driver.dialog = driver.part("modelsDialog")
        driver.dialog.show_place("machine")
        driver.wait(lambda: driver.dialog.detail.entry is not None)
        server.asked.clear()
        yield driver


def open_menu(driver):
    QTest.mouseClick(driver.dialog.detail.more, LEFT)
    menu = next(menu for menu in driver.dialog.findChildren(QMenu, "modelMoreMenu") if menu.isVisible())
    return menu, next(action for action in menu.actions() if action.text() == "Check for a Newer Version")


def check(driver):
    menu, action = open_menu(driver)
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(action).center())


def toasts(driver):
    return {toast.text: toast for toast in driver.dialog.findChildren(Toast) if toast.isVisible()}


def newer(server):
    """The authors change one small file."""
    server.repositories[FOX_ID].add("generation_config.json", CHANGED)
    return f"There is a newer version of {FOX_ID}."


@pytest.mark.drives("modelMore", "modelMoreMenu")
def test_the_newest_version_is_told_after_one_question(models, server):
    check(models)
    models.wait(lambda: "This is the newest version." in toasts(models))
    assert [asked.path for asked in server.asked] == [f"/api/models/{FOX_ID}"]


@pytest.mark.drives("modelMore", "modelMoreMenu", "toastAction")
def test_by_mouse_a_newer_version_is_fetched_where_it_changed_and_used_from_the_next_message_on(models, server):
    told = newer(server)
    check(models)
    models.wait(lambda: told in toasts(models))
    assert len(server.asked) == 1  # Nothing is fetched before somebody says so.
    models.press(toasts(models)[told], "toastAction")
    models.wait(lambda: (download := models.window.place.hub.downloads.of(FOX_ID)) and download.state == "done")
    read = {"config.json", "README.md"}  # For the model's facts.
    assert {asked.path.rpartition("/")[2] for asked in server.requests("/resolve/")} == {*read, "generation_config.json"}
    assert server.bytes_sent("generation_config") == len(CHANGED)
    assert server.bytes_sent("/cdn/") == 0
    commit = server.repositories[FOX_ID].commit
    models.wait(lambda: (entry := models.window.models.entry(FOX_ID)) and entry.path.endswith(commit))
    models.wait(lambda: models.window.models.model is None)
    models.dialog.close()
    assert models.ask("Hello").text == FOX
    assert models.window.models.model.recommended.values()["temperature"] == 0.25


@pytest.mark.drives("modelMore", "modelMoreMenu", "toastAction")
def test_by_keyboard_the_same_and_the_version_in_use_stays_until_then(models, server):
    told = newer(server)
    models.dialog.detail.more.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(models.dialog.detail.more, Qt.Key.Key_Space)
    menu = next(menu for menu in models.dialog.findChildren(QMenu, "modelMoreMenu") if menu.isVisible())
    while (active := menu.activeAction()) is None or active.text() != "Check for a Newer Version":
        QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    models.wait(lambda: told in toasts(models))
    assert models.window.models.state.state == "ready"
    action = toasts(models)[told].findChild(type(models.part("toastAction")), "toastAction")
    action.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(action, Qt.Key.Key_Space)
    models.wait(lambda: (download := models.window.place.hub.downloads.of(FOX_ID)) and download.state == "done")


@pytest.mark.parametrize(
    ("what", "text", "hint"),
    [
        ("gone", f"The hub has no model “{FOX_ID}”.", "It was taken away or made private there."),
        ("network", "The hub can't be reached.", "Check the connection."),
        ("trouble", "The hub has a fault (status 503).", "The fault is the hub's."),
    ],
)
def test_what_stands_in_the_way_is_told_and_the_model_stays(models, server, monkeypatch, what, text, hint):
    if what == "gone":
        del server.repositories[FOX_ID]
    elif what == "network":
        monkeypatch.setenv("HF_ENDPOINT", NOWHERE)
    else:
        server.fault("/api/", status=503)
    check(models)
    models.wait(lambda: text in toasts(models))
    assert toasts(models)[text].hint.startswith(hint)
    models.dialog.close()
    assert models.ask("Hello").text == FOX


def test_a_hub_that_is_silent_holds_up_nothing_and_it_is_said_that_it_was_asked(models, server, monkeypatch):
    monkeypatch.setattr(keep_controller, "_SILENT_MS", 50)
    monkeypatch.setattr(flint_hub, "TIMEOUT_S", 600)
    server.fault("/api/", hang=True)
    check(models)
    models.wait(lambda: "Asking Hugging Face…" in toasts(models))
    listed = []
    models.window.models.listed.connect(listed.append)
    models.window.models.refresh()
    models.wait(lambda: listed)
    models.window.close()  # It ends though the hub has not answered.
    assert server.requests("/api/")[-1].status == 0
