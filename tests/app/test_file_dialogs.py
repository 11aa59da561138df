"""Whatever asks for a file leaves the event loop going: replies are written, and the window can be closed, while it is open."""

import ast
import re
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog

from tests.app.file_picking import file_dialog

APP = Path(__file__).parents[2] / "app"

# Qt's calls that return only when somebody has answered, and loops of one's own.
STATIC = re.compile(
    r"(QFileDialog\.(get|save)\w+|QInputDialog\.get\w+|QColorDialog\.getColor|QFontDialog\.getFont"
    r"|QMessageBox\.(question|information|warning|critical|about\w*)|QEventLoop|\w[\w.]*\.exec_?|\w[\w.]*\.processEvents)"
)
# The program's own loop, and a drag: Qt has no other call for one, and its loop is the system's.
NESTS = {("__main__.py", "application.exec"), ("drag_view.py", "drag.exec")}


def test_nothing_waits_in_a_loop_of_its_own():
    found = {
        (path.name, ast.unparse(node.func))
        for path in APP.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and STATIC.fullmatch(ast.unparse(node.func))
    }
    assert found == NESTS


def preset(what):
    def ask(flint):
        flint.window.settings_panel.preset_asked.emit(what, "")

    return ask


def models_folder(flint):
    flint.press(flint.window.settings_panel, "segment.app")
    flint.part("choose.models_folder").click()


CHOOSERS = {
    "export of a preset": (preset("export"), "presetDialog"),
    "import of a preset": (preset("import"), "presetDialog"),
    "folder of models": (models_folder, "folderDialog"),
    "attaching": (lambda flint: flint.window.commands.find("attachFiles").trigger(), "attachDialog"),
    "import of chats": (lambda flint: flint.window.commands.find("importChats").trigger(), "importDialog"),
    "export of a chat": (lambda flint: flint.window.commands.find("exportAllChats").trigger(), "exportDialog"),
}


def test_a_reply_is_written_on_while_a_dialog_is_open(writing):
    flint, pending = writing
    flint.click("settingsButton")
    for ask, name in CHOOSERS.values():
        ask(flint)
        dialog = file_dialog(flint.qtbot, flint.window, name)
        before = len(flint.deltas(pending.request_id))
        flint.wait(lambda before=before: len(flint.deltas(pending.request_id)) > before)
        assert dialog.isVisible()
        dialog.reject()
        flint.wait(lambda name=name: flint.window.findChild(QFileDialog, name) is None)


@pytest.mark.parametrize("chooser", CHOOSERS)
def test_the_window_closes_while_a_dialog_is_open(flint, chooser):
    flint.ask("Hello")
    flint.click("settingsButton")
    ask, name = CHOOSERS[chooser]
    ask(flint)
    file_dialog(flint.qtbot, flint.window, name)
    QApplication.closeAllWindows()  # As the system, Ctrl-C in a terminal or Quit in a menu do.
    flint.wait(lambda: not flint.window.isVisible())
    assert flint.window.bridge._closed
