"""Replies in the real window: what a reader can do with code, wide tables, formulas and links."""

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QScrollBar, QWidget

from app.chat.text.formulas import formulas
from engine.core.paths import locate
from tests.app.chat.stored import message
from tests.app.window_driver import open_window

LONG = "value = " + " + ".join(f"number_{n}" for n in range(60))
REPLY = (
    f"Let $x^2$ be, see [here](https://example.org/a).\n\n```python\n{LONG}\n```\n\n"
    "| " + " | ".join(f"a longer heading {n}" for n in range(14)) + " |\n" + "|---" * 14 + "|\n" + "| cell " * 14 + "|\n"
)


@pytest.fixture
def reading(qtbot):
    with open_window(qtbot) as driver:
        transcript = driver.window.page.transcript
        transcript.set_messages([message("q", "user", "Show me"), message("r", "assistant", REPLY)])
        transcript.show()
        QTest.qWait(0)
        yield driver, transcript


def body(transcript):
    return transcript.view("r").body


@pytest.mark.drives("wrapCode")
def test_how_long_lines_are_shown_is_kept_from_the_header_of_a_block(reading):
    _, transcript = reading
    view = body(transcript)
    height = view.height()
    QTest.mouseClick(view.findChild(QWidget, "wrapCode"), Qt.MouseButton.LeftButton)
    assert json.loads(locate().settings.read_text())["values"] == {"code_lines": "wrap"}
    assert body(transcript).height() > height
    transcript.set_messages([message("o", "assistant", REPLY, chat_id="other")])
    assert transcript.view("o").body.shown.sideways.wraps(1)


@pytest.mark.drives("sideScroll")
def test_a_wide_table_is_scrolled_in_the_window(reading):
    _, transcript = reading
    view = body(transcript)
    code, table = [bar for bar in view.findChildren(QScrollBar, "sideScroll") if not bar.isHidden()]
    QTest.mouseClick(table, Qt.MouseButton.LeftButton, pos=QPoint(table.width() - 4, 4))
    QTest.qWait(0)
    assert table.value() > 0
    assert code.value() == 0


def test_a_formula_is_drawn_and_copied_as_it_was_written(reading):
    _, transcript = reading
    view = body(transcript)
    formulas().wait()
    QTest.qWait(0)
    cursor = QTextCursor(view.document())
    cursor.setPosition(0)
    cursor.setPosition(9, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    QGuiApplication.clipboard().setMimeData(view.createMimeDataFromSelection())
    assert QGuiApplication.clipboard().text() == "Let $x^2$ be,"


@pytest.mark.drives("messageText")
def test_a_link_is_asked_about_before_it_is_opened(reading):
    driver, transcript = reading
    view = body(transcript)
    cursor = QTextCursor(view.document())
    cursor.setPosition(view.document().toRawText().index("here") + 2)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.cursorRect(cursor).center())
    box = driver.window.findChild(QMessageBox, "linkQuestion")
    assert box.informativeText() == "https://example.org/a"
    box.close()
