"""Files that somebody chooses to write: all of them say the same when they can't be written, and leave nothing half-made."""

import pytest
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.chat.text.save_code import save_code

SAVERS = {
    "preset": ("presetDialog", lambda window: window.settings.presets.do("export", "")),
    "chat as JSON": ("exportDialog", lambda window: window.transfers.export((window.chat.chat_id,), "json")),
    "chat as Markdown": ("exportDialog", lambda window: window.transfers.export((window.chat.chat_id,), "markdown")),
    "code": ("saveCodeDialog", lambda window: save_code("x", "python", window)),
}


def told(flint):
    """What the window says, in a message or in a box of its own: one text, one hint."""
    boxes = [(box.text(), box.informativeText()) for box in flint.window.findChildren(QMessageBox) if box.isVisible()]
    return [(toast.text, toast.hint) for toast in flint.window.toaster.toasts] + boxes


@pytest.mark.parametrize("what", SAVERS)
def test_a_place_that_cannot_be_written_is_told_the_same_way(flint, tmp_path, what):
    chosen = tmp_path / "chosen"
    (chosen / "a folder.txt").mkdir(parents=True)
    (chosen / "a file").write_text("")
    flint.ask("Hello there")
    window = flint.window
    name, save = SAVERS[what]
    for place, text in {
        "no folder/x.txt": "x.txt could not be written: No such file or directory.",
        "a folder.txt": "a folder.txt could not be written: Is a directory.",
        "a file/x.txt": f"Flint can't write to {chosen / 'a file'}: it, or a folder above it, is a file.",
    }.items():
        save(window)
        window.findChildren(QFileDialog, name)[-1].fileSelected.emit(str(chosen / place))
        flint.wait(lambda: told(flint))
        assert told(flint) == [(text, "Choose another place.")]
        for box in window.findChildren(QMessageBox):
            box.reject()
        while window.toaster.dismiss_newest():
            pass
    assert sorted(path.name for path in chosen.iterdir()) == ["a file", "a folder.txt"]
