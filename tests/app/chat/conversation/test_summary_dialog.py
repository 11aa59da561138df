"""The summary of what left the context, read and changed by mouse and keyboard."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from app.chat.conversation.summary_dialog import SummaryDialog


@pytest.fixture
def dialog(qtbot, theme):
    dialog = SummaryDialog(theme, "They spoke of Rome.", 6)
    qtbot.addWidget(dialog)
    dialog.open()
    return dialog


@pytest.mark.drives("summaryText", "summarySave", "summaryDialog")
def test_a_changed_summary_is_kept(dialog, qtbot):
    text = dialog.findChild(QPlainTextEdit, "summaryText")
    assert text.toPlainText() == "They spoke of Rome."
    text.setFocus()
    QTest.keyClick(text, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(text, " And Oslo.")
    with qtbot.waitSignal(dialog.accepted):
        QTest.mouseClick(dialog.findChild(QWidget, "summarySave"), Qt.MouseButton.LeftButton)
    assert dialog.text == "They spoke of Rome. And Oslo."


@pytest.mark.drives("summaryCancel")
def test_a_summary_is_left_as_it_was(dialog):
    QTest.mouseClick(dialog.findChild(QWidget, "summaryCancel"), Qt.MouseButton.LeftButton)
    assert dialog.result() == QDialog.DialogCode.Rejected
    dialog.open()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
