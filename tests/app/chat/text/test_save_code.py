"""Saving code: what the file would be called, that it holds the code, and that a failure is told."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMessageBox, QWidget

from app.chat.text.save_code import save_code, suggested_name


@pytest.mark.parametrize(
    ("language", "code", "name"),
    [
        ("python", "x = 1", "code.py"),
        ("py", "", "code.py"),
        ("js", "", "code.js"),
        ("bash", "", "code.sh"),
        ("json", "", "code.json"),
        ("c++", "", "code.cpp"),
        ("dockerfile", "", "Dockerfile"),
        ("makefile", "", "Makefile"),
        ("", "", "code.txt"),
        ("unknown-lang", "", "code.txt"),
        ("python app.py", "", "app.py"),
        ("python src/app.py", "", "code.py"),
        ('js title="main.js"', "", "main.js"),
        ("python:server.py", "", "server.py"),
        ("python", "# tools/run.py\nx = 1", "run.py"),
        ("js", "// index.js", "index.js"),
        ("html", "<!-- page.html -->\n<p>", "page.html"),
        ("python", "# ../../etc/.hidden.py", "code.py"),
        ("python", "# version 1.2", "code.py"),
        ("python", f"# {'a' * 300}.py", "code.py"),
        ("text", "# a\u202egpj.exe", "code.txt"),
    ],
)
def test_a_file_is_called_as_the_block_says_or_after_its_language(language, code, name):
    assert suggested_name(language, code) == name


@pytest.fixture
def parent(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    return parent


@pytest.mark.drives("saveCodeDialog")
def test_the_file_holds_the_code_and_a_last_line_break(parent, tmp_path):
    save_code("größe = '👍'\n\tx", "python", parent)
    dialog = parent.findChild(QFileDialog, "saveCodeDialog")
    assert dialog.selectedFiles()[0].endswith("code.py")
    dialog.setDirectory(str(tmp_path))
    field = dialog.findChild(QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, "mine.py")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert (tmp_path / "mine.py").read_bytes() == "größe = '👍'\n\tx\n".encode()


@pytest.mark.drives("saveCodeFailed")
def test_a_failure_is_told_and_says_what_to_do(parent, tmp_path):
    save_code("x", "", parent)
    parent.findChild(QFileDialog, "saveCodeDialog").fileSelected.emit(str(tmp_path / "no folder" / "x.txt"))
    box = parent.findChild(QMessageBox, "saveCodeFailed")
    assert box.isVisible()
    assert "x.txt" in box.text()
    assert "Choose another place" in box.informativeText()
    QTest.keyClick(box, Qt.Key.Key_Escape)
    assert not box.isVisible()


def test_nothing_is_written_when_it_is_cancelled(parent, tmp_path):
    save_code("x", "", parent)
    parent.findChild(QFileDialog, "saveCodeDialog").reject()
    assert list(tmp_path.iterdir()) == []
