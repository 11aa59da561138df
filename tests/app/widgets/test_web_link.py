"""Links in messages: shown before they are opened, and only those that a browser should get."""

import pytest
from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QDesktopServices, QKeySequence, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPlainTextEdit, QWidget

from app.widgets.web_link import open_link


class Browser(QObject):
    """Takes the addresses that the system's browser would have got."""

    def __init__(self):
        super().__init__()
        self.opened = []

    @Slot("QUrl")
    def take(self, url):
        self.opened.append(url.toString())


@pytest.fixture
def browser():
    browser = Browser()
    for scheme in ("http", "https", "mailto", "file", "javascript"):
        QDesktopServices.setUrlHandler(scheme, browser, "take")
    yield browser
    for scheme in ("http", "https", "mailto", "file", "javascript"):
        QDesktopServices.unsetUrlHandler(scheme)


@pytest.fixture
def parent(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    return parent


def question(parent):
    return parent.findChild(QMessageBox, "linkQuestion")


@pytest.mark.parametrize("address", ["https://example.org/a?b=c#d", "http://example.org", "mailto:someone@example.org"])
def test_web_and_mail_address_is_shown_in_full_and_opened_only_when_confirmed(parent, browser, address):
    open_link(address, parent)
    box = question(parent)
    assert box.isVisible()
    assert box.informativeText() == address
    assert browser.opened == []
    box.button(QMessageBox.StandardButton.Open).click()
    assert browser.opened == [address]


@pytest.mark.drives("linkQuestion")
def test_a_key_opens_or_leaves_it(parent, browser):
    open_link("https://example.org/key", parent)
    QTest.keyClick(question(parent), Qt.Key.Key_Escape)
    assert browser.opened == []
    open_link("https://example.org/key", parent)
    box = parent.findChildren(QMessageBox, "linkQuestion")[-1]
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert browser.opened == ["https://example.org/key"]


def test_cancelled_link_is_not_opened(parent, browser):
    open_link("https://example.org", parent)
    question(parent).button(QMessageBox.StandardButton.Cancel).click()
    assert browser.opened == []


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "smb://host/x", "notes.txt", ""]
)
def test_anything_else_is_only_shown(parent, browser, address):
    open_link(address, parent)
    box = question(parent)
    assert "doesn't open links of this kind" in box.text()
    assert box.informativeText() == address
    assert box.button(QMessageBox.StandardButton.Open) is None
    box.close()
    assert browser.opened == []


@pytest.mark.drives("linkAddress")
@pytest.mark.parametrize("length", [10, 400, 1900])
def test_the_whole_address_can_be_read(qtbot, parent, browser, length):
    open_link("https://example.org/" + "a" * length + "/end", parent)
    field = question(parent).findChild(QPlainTextEdit, "linkAddress")
    qtbot.waitUntil(field.isVisible)
    assert field.toPlainText() == question(parent).informativeText()
    lines = field.document().firstBlock().layout()
    widths = [lines.lineAt(number).naturalTextWidth() for number in range(lines.lineCount())]
    assert max(widths) <= field.viewport().width()
    assert question(parent).rect().contains(field.geometry())
    QTest.mouseClick(field.viewport(), Qt.MouseButton.LeftButton)
    QTest.keyClick(field, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    QTest.keySequence(field, QKeySequence.StandardKey.SelectAll)
    cursor = field.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.End)
    field.setTextCursor(cursor)
    assert field.viewport().rect().contains(field.cursorRect())
    assert (field.verticalScrollBar().maximum() == 0) == (length <= 400)


def test_endless_address_is_cut_short_on_screen(parent, browser):
    open_link("https://example.org/" + "a" * 100_000, parent)
    assert len(question(parent).informativeText()) == 2000


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://example.org/<b>bold</b>", "https://example.org/%3Cb%3Ebold%3C/b%3E"),
        ("https://\u0430pple.com/", "https://xn--pple-43d.com/"),  # A Cyrillic letter.
        ("https://xn--pple-43d.com/", "https://xn--pple-43d.com/"),
        ("https://example.org/\u202egpj.exe", "https://example.org/%E2%80%AEgpj.exe"),  # Turns the rest around.
        ("https://bank.example@evil.example/", "https://bank.example@evil.example/"),
    ],
)
def test_address_can_not_pass_for_another(parent, browser, address, shown):
    open_link(address, parent)
    assert question(parent).informativeText() == shown
