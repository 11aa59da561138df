"""System prompts in the real window: picked, written, changed, renamed and deleted, by mouse and by keyboard."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget

from app.chat.composer.prompt_popover import PromptPopover
from engine.chats.prompts import SystemPrompts
from tests.app.window_driver import open_window, row_center, set_settings


@pytest.fixture
def flint(qtbot, flint_home):
    with open_window(qtbot) as driver:
        yield driver


def prompt(flint):
    return flint.window.chat.settings().get("system_prompt")


def words(flint):
    return flint.part("promptButton").words


def card(flint):
    found = [popover for popover in flint.window.findChildren(PromptPopover) if popover.isVisible()]
    return found[0].card if found else None


def listed(flint):
    return [one.name for one in card(flint).prompts.shown]


def own(flint):
    return {one.name: one.text for one in SystemPrompts(flint.window._store).all() if one.own}


def dialog():
    return next(w for w in QApplication.topLevelWidgets() if w.objectName() == "promptDialog" and w.isVisible())


def write(name, text):
    shown = dialog()
    field, area = shown.findChild(QLineEdit, "promptName"), shown.findChild(QPlainTextEdit, "promptText")
    for part, value in ((field, name), (area, text)):
        part.setFocus()
        part.selectAll()
        QTest.keyClicks(part, value)
    return shown


def press(owner, name):
    QTest.mouseClick(owner.findChild(QWidget, name), Qt.MouseButton.LeftButton)


@pytest.mark.drives("promptButton", "promptList")
def test_a_prompt_is_picked_by_mouse_for_this_chat(flint):
    assert words(flint) == "Prompt"
    flint.click("promptButton")
    assert listed(flint) == ["No system prompt", "Code reviewer", "Concise", "Editor", "Translator", "Tutor"]
    chosen = card(flint)
    assert chosen.geometry().bottom() < flint.part("promptButton").mapTo(flint.window, QPoint(0, 0)).y()
    QTest.mouseClick(chosen.list.viewport(), Qt.MouseButton.LeftButton, pos=row_center(chosen.list, 2))
    assert words(flint) == "Concise"
    assert prompt(flint).startswith("Answer in as few words")
    assert flint.part("composer").hasFocus()
    assert card(flint) is None
    flint.click("promptButton")
    assert card(flint).list.currentIndex().row() == 2
    QTest.mouseClick(card(flint).list.viewport(), Qt.MouseButton.LeftButton, pos=row_center(card(flint).list, 0))
    assert (words(flint), prompt(flint)) == ("Prompt", None)


@pytest.mark.drives("promptButton", "promptSearch")
def test_a_prompt_is_picked_by_keyboard(flint):
    flint.part("promptButton").setFocus(Qt.FocusReason.TabFocusReason)
    flint.key(Qt.Key.Key_Space, name="promptButton")
    assert flint.part("promptSearch").hasFocus()
    flint.type("revi", name="promptSearch")
    assert listed(flint) == ["Code reviewer"]
    flint.key(Qt.Key.Key_Return, name="promptSearch")
    assert words(flint) == "Code reviewer"
    flint.key(Qt.Key.Key_Space, name="promptButton")
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Down):
        flint.key(key, name="promptSearch")
    flint.key(Qt.Key.Key_Return, name="promptSearch")
    assert words(flint) == "Concise"


@pytest.mark.drives("composer")
def test_the_list_opens_by_its_shortcut(flint):
    held = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    flint.key(Qt.Key.Key_P, held)
    assert flint.part("promptSearch").hasFocus()


@pytest.mark.drives("promptPopover")
@pytest.mark.parametrize("way", ["escape", "press"])
def test_the_list_is_left_without_a_choice(flint, way):
    flint.click("promptButton")
    if way == "escape":
        flint.key(Qt.Key.Key_Escape, name="promptSearch")
    else:
        QTest.mouseClick(flint.part("promptPopover"), Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert card(flint) is None
    assert words(flint) == "Prompt"


@pytest.mark.drives("promptDialog", "newPrompt", "promptName", "promptText", "promptSave")
def test_a_new_prompt_is_written_and_picked(flint):
    flint.click("promptButton")
    press(card(flint), "newPrompt")
    press(write("Pirate", "Talk like a pirate."), "promptSave")
    assert own(flint) == {"Pirate": "Talk like a pirate."}
    assert (words(flint), prompt(flint)) == ("Pirate", "Talk like a pirate.")


@pytest.mark.drives("editPrompt", "promptCancel", "promptDelete")
def test_a_prompt_is_changed_renamed_and_deleted(flint):
    prompts = SystemPrompts(flint.window._store)
    prompts.save("Pirate", "Arr.")
    flint.window.prompts.choose("Arr.")
    assert words(flint) == "Pirate"
    flint.click("promptButton")
    press(card(flint), "editPrompt")
    press(write("Captain", "Aye."), "promptSave")
    assert own(flint) == {"Captain": "Aye."}
    assert (words(flint), prompt(flint)) == ("Captain", "Aye.")
    flint.click("promptButton")
    flint.key(Qt.Key.Key_F2, name="promptSearch")
    press(write("Nobody", "Nothing"), "promptCancel")
    assert own(flint) == {"Captain": "Aye."}
    flint.click("promptButton")
    press(card(flint), "editPrompt")
    press(dialog(), "promptDelete")
    assert own(flint) == {}
    assert (words(flint), prompt(flint)) == ("Own prompt", "Aye.")


def test_one_that_ships_is_changed_as_a_copy_and_cannot_be_deleted(flint):
    flint.click("promptButton")
    flint.type("tutor", name="promptSearch")
    press(card(flint), "editPrompt")
    assert dialog().findChild(QWidget, "promptDelete") is None
    press(write("Tutor", "My way."), "promptSave")
    assert own(flint) == {"Tutor": "My way."}
    assert prompt(flint) is None


def test_a_name_that_is_taken_is_told_in_the_dialog(flint):
    SystemPrompts(flint.window._store).save("Pirate", "Arr.")
    flint.click("promptButton")
    press(card(flint), "newPrompt")
    shown = write("pirate", "x")
    press(shown, "promptSave")
    assert shown.isVisible()
    assert any(
        "already" in label.text() for label in shown.findChildren(QWidget) if hasattr(label, "text") and callable(label.text)
    )
    press(shown, "promptCancel")


def test_each_chat_has_its_own_and_the_panel_shows_it(flint):
    first = flint.window._store.create_chat("One").id
    flint.window.chats.refresh()
    flint.open_chat(first)
    flint.window.prompts.choose("Only here.")
    assert words(flint) == "Own prompt"
    flint.click("settingsButton")
    panel = flint.part("settingsPanel")
    flint.press(flint.part("settingsScope"), "segment.chat")
    assert any(area.toPlainText() == "Only here." for area in panel.findChildren(QPlainTextEdit))
    flint.window.chat.open(None)
    assert words(flint) == "Prompt"
    flint.open_chat(first)
    assert words(flint) == "Own prompt"


def test_the_prompt_of_all_chats_counts_and_can_be_left_out_here(qtbot, flint_home):
    set_settings(system_prompt="For everybody.")
    with open_window(qtbot) as flint:
        assert words(flint) == "Own prompt"
        flint.window.prompts.choose("")
        assert (words(flint), prompt(flint)) == ("Prompt", "")
        flint.window.prompts.choose("For everybody.")
        assert (words(flint), prompt(flint)) == ("Own prompt", None)
