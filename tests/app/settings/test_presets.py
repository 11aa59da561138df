"""Presets in the real window: chosen, saved, renamed, deleted and shared by mouse and by keyboard."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMenu, QWidget

from engine.core.paths import locate
from engine.core.presets import CREATIVE, NAMES, PRECISE
from engine.core.settings import BY_NAME
from tests.app.file_picking import file_dialog, pick_file


def kept():
    return json.loads(locate().settings.read_text())


@pytest.fixture
def panel(flint):
    """The open panel of a window with a chat."""
    flint.click("settingsButton")
    return flint.window.settings_panel


def active(flint):
    return flint.part("presets").value


def in_force(flint):
    return flint.part("presetInForce", QLabel).text()


def pick(flint, text):
    """Pick an entry of the presets' menu with the keyboard."""
    flint.click("presetMenuButton")
    menu = flint.part("presetMenu", QMenu)
    flint.wait(menu.isVisible)
    titles = [action.text() for action in menu.actions()]
    (index,) = [index for index, title in enumerate(titles) if title.startswith(text)]
    menu.setActiveAction(menu.actions()[index])
    QTest.keyClick(menu, Qt.Key.Key_Return)
    flint.wait(lambda: not menu.isVisible())


def choose(flint, name):
    flint.press(flint.part("presets"), f"segment.{name}")


def save_as(flint, name):
    pick(flint, "Save as")
    field = flint.part("presetName")
    assert field.hasFocus()
    QTest.keyClicks(field, name)  # What stood there is selected.
    QTest.keyClick(field, Qt.Key.Key_Return)


def import_from(flint, path):
    pick(flint, "Import")
    pick_file(flint.qtbot, flint.window, "presetDialog", path)


@pytest.mark.drives("presets", "segment.Creative", "segment.Balanced")
def test_a_preset_sets_the_chats_values_and_reaches_the_sampler(flint, panel):
    assert active(flint) == "Balanced"
    choose(flint, "Creative")
    changed = {name: value for name, value in CREATIVE.values.items() if value != BY_NAME[name].default}
    assert flint.window.chat.settings() == changed
    assert panel.field("temperature").note == "app default 0.70"
    sampling = flint.ask("Hello").facts.sampling
    assert {name: getattr(sampling, name) for name in CREATIVE.values} == CREATIVE.values
    choose(flint, "Balanced")
    assert flint.window.chat.settings() == {}
    assert active(flint) == "Balanced"


@pytest.mark.drives("segment.Precise", "segment.Custom", "setting.temperature")
def test_a_changed_value_makes_it_custom_and_custom_comes_back(flint, panel):
    assert not panel.findChild(QWidget, "segment.Custom").isEnabled()
    flint.choose_setting("temperature", "1.35", scope="chat")
    panel.flush()
    assert active(flint) == "Custom"
    choose(flint, "Precise")
    assert float(flint.part("setting.temperature").text()) == PRECISE.values["temperature"]
    choose(flint, "Custom")
    assert flint.window.chat.settings() == {"temperature": 1.35}
    flint.click("newChatButton")
    assert active(flint) == "Balanced"
    assert not panel.findChild(QWidget, "segment.Custom").isEnabled()


@pytest.mark.drives("presets", "segment.Precise")
def test_the_keyboard_chooses_a_preset(flint, panel):
    segment = panel.findChild(QWidget, "segment.Precise")
    segment.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(segment, Qt.Key.Key_Space)
    assert active(flint) == "Precise"


def test_the_values_of_all_chats_are_kept_in_the_file(flint, panel):
    flint.press(flint.part("settingsScope"), "segment.app")
    choose(flint, "Precise")
    assert kept()["values"] == {name: value for name, value in PRECISE.values.items() if value != BY_NAME[name].default}
    assert flint.window.chat.settings() == {}
    choose(flint, "Balanced")
    assert kept()["values"] == {}


@pytest.mark.drives("presetMenuButton", "presetMenu", "presetName")
def test_values_are_saved_under_a_name_and_chosen_again(flint, panel):
    flint.choose_setting("temperature", "1.35", scope="chat")
    flint.choose_setting("stop", "END", scope="chat")
    panel.flush()
    save_as(flint, "Letters & more")
    assert (active(flint), in_force(flint)) == ("Custom", "Letters & more")
    stored = kept()["presets"]["Letters & more"]
    assert set(stored) == set(NAMES)
    assert (stored["temperature"], stored["stop"]) == (1.35, "END")
    flint.click("newChatButton")
    assert in_force(flint) == ""
    pick(flint, "Letters && more")
    assert in_force(flint) == "Letters & more"
    assert flint.window.chat.settings() == {"temperature": 1.35, "stop": "END"}
    assert flint.ask("Hello").facts.sampling.temperature == 1.35


@pytest.mark.drives("presetSave", "presetCancel")
def test_a_name_that_is_taken_is_refused_beside_the_field(flint, panel):
    pick(flint, "Save as")
    field = flint.part("presetName")
    QTest.keyClicks(field, "creative")
    flint.click("presetSave")
    problem = flint.part("presetProblem", QLabel)
    assert "already" in problem.text()
    assert field.isVisible()
    assert field.refused
    flint.click("presetCancel")
    assert not field.isVisible()
    assert "presets" not in (kept() if locate().settings.exists() else {})
    pick(flint, "Save as")
    assert problem.text() == ""
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not field.isVisible()


def test_an_own_preset_is_updated_and_renamed(flint, panel):
    save_as(flint, "One")
    flint.choose_setting("top_k", "11", scope="chat")
    panel.flush()
    assert in_force(flint) == "One, changed"
    pick(flint, "Update “One”")
    assert in_force(flint) == "One"
    assert kept()["presets"]["One"]["top_k"] == 11
    flint.click("toastAction")
    assert (in_force(flint), kept()["presets"]["One"]["top_k"]) == ("One, changed", 40)
    pick(flint, "Update “One”")
    pick(flint, "Rename “One”")
    field = flint.part("presetName")
    assert field.text() == "One"
    QTest.keyClicks(field, "Two")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert in_force(flint) == "Two"
    assert list(kept()["presets"]) == ["Two"]


def test_a_deleted_preset_comes_back_by_undo(flint, panel):
    flint.choose_setting("top_k", "11", scope="chat")
    panel.flush()
    save_as(flint, "One")
    before = kept()["presets"]
    pick(flint, "Delete “One”")
    assert "presets" not in kept()
    assert flint.toasts() == [("“One” deleted", "")]
    flint.click("toastAction")
    assert kept()["presets"] == before


@pytest.mark.drives("presetDialog")
def test_a_preset_goes_to_a_file_and_comes_back(flint, panel, tmp_path):
    flint.choose_setting("top_k", "11", scope="chat")
    panel.flush()
    save_as(flint, "One")
    pick(flint, "Export")
    pick_file(flint.qtbot, flint.window, "presetDialog", tmp_path / "one")  # The ending is added.
    pick(flint, "Delete “One”")
    flint.click("newChatButton")
    import_from(flint, tmp_path / "one.json")
    assert in_force(flint) == "One"
    assert flint.window.chat.settings() == {"top_k": 11}
    import_from(flint, tmp_path / "one.json")
    assert sorted(kept()["presets"]) == ["One", "One 2"]


def test_a_preset_goes_by_the_clipboard(flint, panel):
    choose(flint, "Creative")
    pick(flint, "Copy")
    assert json.loads(QGuiApplication.clipboard().text())["name"] == "Creative"
    choose(flint, "Precise")
    pick(flint, "Paste")
    assert in_force(flint) == "Creative 2"
    assert flint.window.chat.settings()["temperature"] == CREATIVE.values["temperature"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no preset to paste"),
        ("hello", "not JSON"),
        ("{}", "not a preset"),
        ('{"kind": "flint-sampling-preset", "name": "x", "values": {"top_k": -1}}', "Top-k goes from 0 to 500"),
    ],
)
def test_what_is_no_preset_is_refused_and_changes_nothing(flint, panel, text, says):
    QGuiApplication.clipboard().setText(text)
    pick(flint, "Paste")
    ((title, hint),) = flint.toasts()
    assert says in f"{title} {hint}"
    assert flint.window.chat.settings() == {}
    (toast,) = flint.window.toaster.toasts
    assert toast.kind != "info"
    assert toast.findChild(QWidget, "toastAction") is None  # The settings are open.
    assert not locate().settings.exists()


def test_a_file_that_is_no_text_or_is_gone_is_refused(flint, panel, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_bytes(b"\xff\xfe\x00")
    for path, says in ((broken, "no text"), (tmp_path / "none.json", "could not be read")):
        pick(flint, "Import")
        dialog = file_dialog(flint.qtbot, flint.window, "presetDialog")
        dialog.fileSelected.emit(str(path))
        dialog.reject()
        assert any(says in title for title, _ in flint.toasts())
