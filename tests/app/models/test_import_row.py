import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QProgressBar, QWidget

from app.models.import_row import ImportRow


@pytest.fixture
def row(qtbot, theme):
    parent = QWidget()
    parent.resize(900, 60)
    row = ImportRow(theme, parent)
    row.resize(900, 52)
    qtbot.addWidget(parent)
    parent.show()
    row.keep = parent
    return row


def words(row):
    return [label.text() for label in row.findChildren(QLabel)]


def test_it_is_there_once_something_is_imported(row):
    assert not row.isVisible()
    row.show_progress("a.gguf", 0, 0)
    assert row.isVisible()
    assert words(row) == ["a.gguf", "Starting"]


def test_it_says_how_far_the_import_is(row):
    row.show_progress("a.gguf", 36_000_000, 144_000_000)
    assert words(row) == ["a.gguf", "Converting, 36 of 144 MB"]
    assert row.findChild(QProgressBar, "importProgress").value() == 250


def test_cancelling_is_said_once_and_seen(qtbot, row):
    row.show_progress("a.gguf", 1, 10)
    cancel = row.findChild(QAbstractButton, "importCancel")
    with qtbot.waitSignal(row.cancelled):
        qtbot.mouseClick(cancel, Qt.MouseButton.LeftButton)
    assert not cancel.isEnabled()
    row.show_progress("a.gguf", 2, 10)
    assert words(row)[1] == "Stopping"


def test_the_next_import_can_be_cancelled_again(qtbot, row):
    row.show_progress("a.gguf", 1, 10)
    cancel = row.findChild(QAbstractButton, "importCancel")
    qtbot.mouseClick(cancel, Qt.MouseButton.LeftButton)
    row.hide()
    row.show_progress("b.gguf", 0, 0)
    assert cancel.isEnabled()
    assert words(row) == ["b.gguf", "Starting"]


def test_a_long_name_is_elided_and_told_in_full(row):
    name = "a very long name " * 20 + ".gguf"
    row.show_progress(name, 1, 10)
    label = row.findChildren(QLabel)[0]
    assert label.fontMetrics().horizontalAdvance(label.text()) <= 196
    assert label.toolTip() == name
