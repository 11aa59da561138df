"""Models on this machine, kept by mouse and keyboard in the models window."""

import sys

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QMenu, QMessageBox, QPlainTextEdit, QWidget

from app.widgets.toast import Toast
from engine.core.paths import locate
from engine.core.system_trash import TrashRefused
from engine.models.notebook import Notebook
from tests.app.window_driver import give_model, open_window, remember
from tests.models.tiny import tiny_llama

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(autouse=True)
def trash(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    if sys.platform == "darwin":
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        return tmp_path / "home" / ".Trash"
    return tmp_path / "share" / "Trash" / "files"


@pytest.fixture(scope="session")
def wide(tmp_path_factory):
    """The folder of a model whose rows can be quantized in groups of 64."""
    return tiny_llama(tmp_path_factory.mktemp("models") / "wide", hidden=64, heads=2, kv_heads=2, inner=128)


@pytest.fixture
def models(qtbot, fox, wide):
    """An open window with its models window, in which the one that is not in use is selected."""
    remember(model=give_model(fox))
    give_model(wide)
    with open_window(qtbot) as driver:
        driver.wait_ready()
        driver.window.place.show()
        dialog = driver.part("modelsDialog")
        dialog.show_place("machine")
        dialog.select("wide")
        driver.dialog = dialog
        driver.wait(lambda: dialog.detail.entry is not None and dialog.detail.entry.id == "wide")
        yield driver


def child(owner, name, kind=QWidget):
    found = owner.findChild(kind, name)
    assert found is not None, f"there is no {name}"
    return found


def menu_of(driver):
    QTest.mouseClick(driver.dialog.detail.more, LEFT)
    return next(menu for menu in driver.dialog.findChildren(QMenu, "modelMoreMenu") if menu.isVisible())


def titles(menu):
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def pick(menu, title):
    action = next(action for action in menu.actions() if action.text().startswith(title))
    assert action.isEnabled()
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(action).center())


def told(driver):
    return [toast.text for toast in driver.dialog.findChildren(Toast)]


def write_notes(driver, name, text):
    pick(menu_of(driver), "Name and Notes")
    notes = child(driver.dialog, "modelNotes")
    QTest.keyClicks(child(notes, "modelNotesName"), name)
    field = child(notes, "modelNotesText", QPlainTextEdit)
    QTest.mouseClick(field.viewport(), LEFT)
    QTest.keyClicks(field, text)
    return notes


@pytest.mark.drives("modelMore", "modelMoreMenu", "modelNotesName", "modelNotesText", "modelNotesSave")
def test_a_model_gets_a_name_and_notes(models):
    notes = write_notes(models, "Zebra", "good at German")
    QTest.mouseClick(child(notes, "modelNotesSave"), LEFT)
    models.wait(lambda: models.dialog.detail.entry.name == "Zebra" and models.dialog.detail.entry.notes == "good at German")
    assert child(models.dialog, "modelName", QLabel).text() == "Zebra"
    assert child(models.dialog, "modelOwnNotes", QLabel).text() == "good at German"
    assert Notebook(locate().data / "model-notes.json").of("wide").name == "Zebra"


@pytest.mark.drives("modelNotesCancel")
def test_what_is_not_saved_is_not_kept(models):
    notes = write_notes(models, "Zebra", "x")
    QTest.mouseClick(child(notes, "modelNotesCancel"), LEFT)
    assert not notes.isVisible()
    assert Notebook(locate().data / "model-notes.json").of("wide").name == ""


@pytest.mark.drives("modelMore", "modelMoreMenu")
def test_the_menu_opens_and_acts_by_keyboard(models):
    models.dialog.detail.more.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(models.dialog.detail.more, Qt.Key.Key_Space)
    menu = next(menu for menu in models.dialog.findChildren(QMenu, "modelMoreMenu") if menu.isVisible())
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        QTest.keyClick(menu, key)
    notes = child(models.dialog, "modelNotes")
    models.wait(notes.isVisible)
    QTest.keyClick(notes, Qt.Key.Key_Escape)
    assert not notes.isVisible()


def open_template(driver):
    pick(menu_of(driver), "Chat Template")
    dialog = child(driver.dialog, "modelTemplate")
    driver.wait(lambda: "And of Italy?" in preview(dialog))
    return dialog


def preview(dialog):
    return child(dialog, "modelTemplatePreview", QPlainTextEdit).toPlainText()


def write_template(dialog, text):
    field = child(dialog, "modelTemplateText", QPlainTextEdit)
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, text)


def kept():
    return Notebook(locate().data / "model-notes.json").of("wide").template


@pytest.mark.drives("modelTemplateText", "modelTemplateSave", "modelTemplateReset", "modelTemplatePreview")
def test_a_template_is_written_seen_and_used_and_the_models_own_comes_back(models):
    dialog = open_template(models)
    save = child(dialog, "modelTemplateSave", QAbstractButton)
    write_template(dialog, "ASK {{ messages[-1].content }}")
    assert not save.isEnabled()
    models.wait(lambda: preview(dialog) == "ASK And of Italy?")
    QTest.mouseClick(child(dialog, "modelTemplatePreview", QPlainTextEdit).viewport(), LEFT)
    QTest.mouseClick(save, LEFT)
    models.wait(lambda: kept() == "ASK {{ messages[-1].content }}")
    models.wait(lambda: models.dialog.findChild(QWidget, "modelTemplate") is None)
    dialog = open_template(models)
    assert preview(dialog) == "ASK And of Italy?"
    QTest.mouseClick(child(dialog, "modelTemplateReset"), LEFT)
    models.wait(lambda: preview(dialog) != "ASK And of Italy?")
    QTest.mouseClick(child(dialog, "modelTemplateSave"), LEFT)
    models.wait(lambda: kept() == "")


@pytest.mark.drives("modelTemplateCancel")
def test_a_template_that_does_not_render_says_why_and_is_not_kept(models):
    dialog = open_template(models)
    write_template(dialog, "{% if %}")
    models.wait(lambda: any("does not parse" in label.text() for label in dialog.findChildren(QLabel)))
    assert not child(dialog, "modelTemplateSave", QAbstractButton).isEnabled()
    QTest.mouseClick(child(dialog, "modelTemplateCancel"), LEFT)
    assert kept() == ""


def test_a_template_that_would_not_end_is_given_up_and_the_next_one_takes_its_place(models):
    dialog = open_template(models)
    write_template(dialog, "{% for i in range(99999) %}{% for j in range(99999) %}a{% endfor %}{% endfor %}")
    models.wait(lambda: any("does not come to an end" in label.text() for label in dialog.findChildren(QLabel)))
    write_template(dialog, "ASK {{ messages[-1].content }}")
    models.wait(lambda: preview(dialog) == "ASK And of Italy?")


def removal(models):
    return [box for box in models.dialog.findChildren(QMessageBox, "removeModelQuestion") if box.isVisible()][-1]


@pytest.mark.drives("removeModelConfirm", "removeModelCancel")
def test_a_model_goes_to_the_trash_after_a_question(models, trash):
    pick(menu_of(models), "Move to Trash")
    box = child(models.dialog, "removeModelQuestion", QMessageBox)
    QTest.keyClick(box, Qt.Key.Key_Escape)
    pick(menu_of(models), "Move to Trash")
    QTest.mouseClick(child(removal(models), "removeModelCancel"), LEFT)
    assert (locate().models / "wide").exists()
    pick(menu_of(models), "Move to Trash")
    QTest.mouseClick(child(removal(models), "removeModelConfirm"), LEFT)
    models.wait(lambda: "wide is in the trash." in told(models))
    models.wait(lambda: [entry.id for entry in models.window.models.entries] == ["fox"])
    assert (trash / "wide" / "config.json").exists()


@pytest.mark.drives("toastAction")
def test_where_the_trash_is_on_another_disk_it_can_be_deleted_for_good(models, monkeypatch):
    def refused(path):
        raise TrashRefused(f"{path.name} is on another disk than the trash.")

    monkeypatch.setattr("engine.models.removal.move_to_trash", refused)
    pick(menu_of(models), "Move to Trash")
    QTest.mouseClick(child(models.dialog, "removeModelConfirm"), LEFT)
    models.wait(lambda: "wide is on another disk than the trash." in told(models))
    assert (locate().models / "wide").exists()
    QTest.mouseClick(child(models.dialog, "toastAction"), LEFT)
    models.wait(lambda: "wide is deleted." in told(models))
    assert not (locate().models / "wide").exists()


def test_the_model_in_use_gives_way_to_another(models):
    models.dialog.select("fox")
    pick(menu_of(models), "Move to Trash")
    QTest.mouseClick(child(models.dialog, "removeModelConfirm"), LEFT)
    models.wait(lambda: models.window.models.model_id == "wide" and models.window.models.state.state == "ready")
    assert not (locate().models / "fox").exists()


def remove_the_only_model(driver):
    driver.window.place.show()
    driver.dialog = driver.part("modelsDialog")
    driver.dialog.show_place("machine")
    driver.wait(lambda: driver.dialog.detail.entry is not None)
    pick(menu_of(driver), "Move to Trash")
    QTest.mouseClick(child(driver.dialog, "removeModelConfirm"), LEFT)
    driver.wait(lambda: driver.window.models.state.state == "none" and driver.window.models.model is None)


@pytest.mark.drives("removeModelConfirm")
def test_without_its_last_model_the_window_is_as_at_a_first_start(qtbot, fox):
    remember(model=give_model(fox))
    with open_window(qtbot) as driver:
        driver.wait_ready()
        remove_the_only_model(driver)
        driver.dialog.close()
        assert (driver.window.models.model_id, driver.window.models.remembered()) == ("", False)
        assert driver.window.page.welcome.state == "no-model"
        assert driver.window.toolbar.picker.accessibleName() == "Model: none chosen"
        give_model(fox, "later")
        driver.window.models.refresh()
        driver.wait_ready()
        assert driver.window.models.model_id == "later"
    with open_window(qtbot) as driver:
        driver.wait_ready()
        assert driver.toasts() == []


def test_a_smaller_copy_is_made_and_its_quality_told(models):
    menu = menu_of(models)
    copies = next(action.menu() for action in menu.actions() if action.text() == "Make a Smaller Copy")
    assert [title.partition(",")[0] for title in titles(copies)] == [
        "8 bits",
        "6 bits",
        "4 and 6 bits mixed",
        "4 bits",
        "3 bits",
    ]
    copies.popup(QPoint(20, 20))
    pick(copies, "4 bits")
    menu.close()
    models.wait(lambda: "wide 4-bit is ready." in told(models))
    models.wait(lambda: models.window.models.entry("wide-4-bit") is not None)
    assert models.window.models.entry("wide-4-bit").problem == ""
    toast = next(toast for toast in models.dialog.findChildren(Toast) if toast.text == "wide 4-bit is ready.")
    assert "Perplexity" in toast.hint
    assert "before" in toast.hint
    models.wait(lambda: not child(models.dialog, "importRow").isVisible())


@pytest.mark.drives("importCancel")
def test_a_copy_that_is_stopped_is_not_there(models, monkeypatch):
    from tests.engine.cli.test_quantize import wait_for_stop

    monkeypatch.setattr("engine.inference.quantize.perplexity", wait_for_stop)
    models.dialog.detail.wished.emit("quantize", "4", models.dialog.detail.entry)
    row = child(models.dialog, "importRow")
    models.wait(row.isVisible)
    models.dialog.detail.wished.emit("quantize", "8", models.dialog.detail.entry)
    refused = next(toast for toast in models.dialog.findChildren(Toast) if toast.text == "A copy is being made already.")
    assert refused.kind == "error"
    models.dialog.import_requested.emit("/no/such.gguf")
    assert not models.window.models.importing
    models.dialog.detail.wished.emit("trash", "", models.dialog.detail.entry)
    assert "A copy of it is being made." in told(models)
    assert not models.dialog.findChildren(QMessageBox)
    QTest.mouseClick(child(models.dialog, "importCancel"), LEFT)
    models.wait(lambda: not row.isVisible())
    assert {path.name for path in locate().models.iterdir() if path.is_dir()} == {"fox", "wide"}


def test_no_copy_is_made_while_a_model_is_imported(models):
    models.dialog.import_requested.emit("/no/such.gguf")
    models.dialog.detail.wished.emit("quantize", "4", models.dialog.detail.entry)
    assert told(models) == ["A model is being imported."]
    models.wait(lambda: not models.window.models.importing)
    assert {path.name for path in locate().models.iterdir() if path.is_dir()} == {"fox", "wide"}


def test_what_comes_of_a_copy_is_told_where_somebody_is(models):
    models.dialog.detail.wished.emit("quantize", "4", models.dialog.detail.entry)
    models.dialog.close()
    models.wait(lambda: "wide 4-bit is ready." in [toast.text for toast in models.window.toaster.toasts])
    models.window.place.show()
    assert told(models) == []


def test_notes_fill_their_window(models):
    pick(menu_of(models), "Name and Notes")
    notes = child(models.dialog, "modelNotes")
    area, save = child(notes, "modelNotesText", QPlainTextEdit), child(notes, "modelNotesSave")
    models.wait(lambda: area.height() > 60)
    gap = save.mapTo(notes, QPoint(0, 0)).y() - area.mapTo(notes, QPoint(0, area.height())).y()
    assert gap < 40
