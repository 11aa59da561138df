"""Nothing in a message loads a resource, runs a script, opens anything by itself or breaks out of its message."""

import builtins
import io
import os
import socket

import pytest
from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QTextBrowser, QWidget

from app.chat.conversation.transcript import Transcript
from app.chat.text.formulas import formulas
from app.chat.text.markdown import StreamReader, read
from app.chat.text.math_object import source_of
from app.chat.text.message_text import MessageText
from app.widgets.web_link import OPENED, open_link
from tests.app.chat.corpus import NAMES, document
from tests.app.chat.stored import message

WIDTH = 700
SECRET = "a local secret"
SCHEMES = ("http", "https", "mailto", "file", "javascript", "data", "vbscript", "ftp", "smb", "tel", "x-app", "qrc")

# Each is a message; FILE and FOLDER stand for a real file and its folder on this machine.
HOSTILE = {
    "image remote": "![x](http://127.0.0.1:1/x.png) ![x](https://evil.example/x.png)",
    "image local": "![x](file://FILE) ![x](FILE) ![x](qrc:/x.png) ![x](FOLDER/../x)",
    "image data": "![x](data:image/png;base64,iVBORw0KGgo=) ![x](data:image/svg+xml,<svg onload=alert(1)>)",
    "image reference": "![x][a] ![b]\n\n[a]: file://FILE\n[b]: https://evil.example/b.png",
    "image in link": "[![x](file://FILE)](javascript:alert(1))",
    "html image": '<img src="file://FILE"><img src="https://evil.example/x.png"><IMG SRC=x onerror=alert(1)>',
    "html background": '<body background="file://FILE"><table background="FILE"><div style="background:url(file://FILE)">',
    "html style": '<style>@import "file://FILE"; body { background: url(https://evil.example/) }</style>',
    "html link": '<link rel="stylesheet" href="file://FILE"><base href="https://evil.example/"><meta http-equiv="refresh">',
    "html frames": '<iframe src="file://FILE"></iframe><object data="FILE"></object><embed src="FILE"><video src="FILE">',
    "html script": "<script>alert(1)</script><svg/onload=alert(1)><a href='javascript:alert(1)'>x</a>",
    "html in cells": "| <img src='file://FILE'> | <script> |\n|---|---|\n| <b onmouseover=x> | </table></td> |",
    "html closing": "</p></div></body></html></td></table>--><h1>out</h1>",
    "html in code": "```html\n<img src='file://FILE'>\n```\n\n`<img src='file://FILE'>`",
    "html in a fence's name": "```<img/src='file://FILE'>\nx\n```\n\n```\u202e\x1b[31m\nx\n```",
    "entities": "&lt;img src=file://FILE&gt; &#60;script&#62; &#0; &#x202e; &#xfffc;",
    "links": " ".join(f"[{scheme}]({scheme}:x)" for scheme in SCHEMES) + " <javascript:alert(1)> <file://FILE>",
    "links in disguise": "[https://good.example](https://evil.example) [a](https://good.example@evil.example) [b](\\\\host\\share)",
    "link with markup": '[x](<https://a.example/"><img src=file://FILE>>) [y](https://a.example "<img src=file://FILE>")',
    "anchors": '[x](#top) [y](#) [z](FILE#x) <a name="top" id="x">',
    "math": "$\\href{file://FILE}{x}$ $\\includegraphics{FILE}$ $\\text{<img src='file://FILE'/>}$ $\\input{FILE}$ $$\\url{file://FILE}$$",
    "math markup": "$\\text{</mtext><mglyph src='file://FILE'/><mtext>}$ $x<image href='file://FILE'/>$",
    "overrides": "a\u202eb\u202dc\u202ad\u202be \u2066f\u2067g\u2068h\n\nnext\n\n`\u202e\u2066`\n\n```\n\u202e\u2067x\n```\n\n| \u202e |\n|---|\n| \u2067 |",
    "controls": "\x00\x01\x07\x08\x0b\x0c\x1b[2J\x1b]0;title\x07\x7f\x85\x9b31m\ufeff\ufffc\ufdd0\ufdd1\u2028\u2029",
    "objects": "\ufffc\ufffc `\ufffc` **\ufffc**\n\n```\n\ufffc\n```\n\n| \ufffc |\n|---|\n| x |",
    "huge heading": "# " + "H" * 20_000,
    "many signs": "#" * 5_000 + "\n\n" + ">" * 300 + " x\n\n" + "[" * 2_000 + "\n\n" + "*" * 3_000 + "\n\n" + "`" * 3_000,
    "many columns": "|" + " a |" * 200 + "\n|" + "---|" * 200 + "\n|" + " b |" * 200,
    "tall letters": "Z" + "\u0351\u036b\u0343" * 300 + "\n\n" + "\u0e49" * 500,
    "footnotes": "[^\u202e<img>]: x\n\nsee[^\u202e<img>] [^1]\n\n[^1]: ![x](file://FILE)",
}


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "secret.svg"
    file.write_text(f"<svg xmlns='http://www.w3.org/2000/svg' width='50' height='50'><text>{SECRET}</text></svg>")
    return file


@pytest.fixture
def hostile(secret):
    def text(name):
        return HOSTILE[name].replace("FILE", str(secret)).replace("FOLDER", str(secret.parent))

    return text


@pytest.fixture
def make(qtbot, theme):
    def show(text):
        view = MessageText(theme)
        qtbot.addWidget(view)
        view.resize(WIDTH, 400)
        view.show_blocks(read(text))
        view.resize(WIDTH, min(view.height_at(WIDTH), 3_000))
        view.show()
        formulas().wait()
        view._take_formulas()
        view.viewport().grab()
        return view

    return show


class Opened(QObject):
    """Takes what the system would have opened."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    @Slot("QUrl")
    def take(self, url):
        self.addresses.append(url.toString())


@pytest.fixture(autouse=True)
def opened():
    opened = Opened()
    for scheme in SCHEMES:
        QDesktopServices.setUrlHandler(scheme, opened, "take")
    yield opened
    for scheme in SCHEMES:
        QDesktopServices.unsetUrlHandler(scheme)


def formats(document):
    block = document.begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            yield iterator.fragment().text(), iterator.fragment().charFormat()
            iterator += 1
        block = block.next()


STEERING = {*range(0x202A, 0x202F), *range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)}


def check_confined(view):
    for text, form in formats(view.document()):
        assert not form.isImageFormat()
        assert not STEERING & set(map(ord, text)), repr(text)
        assert ("\ufffc" in text) == bool(source_of(form))
        assert "<" not in form.toolTip()
        assert form.toolTip().isascii()
    assert view.source() == QUrl()
    assert view.horizontalScrollBar().value() == 0


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_message_stays_text_and_touches_nothing(make, hostile, secret, monkeypatch, opened, name):
    make("$x$")  # What is loaded once is loaded now.
    touched = []
    real_open = io.open

    def watched(file, *args, **kwargs):
        if str(secret) in str(file):
            touched.append(file)
        return real_open(file, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", watched)
    monkeypatch.setattr(socket.socket, "connect", lambda *args: touched.append(args))
    read_before = secret.stat().st_atime_ns
    os.utime(secret, ns=(0, secret.stat().st_mtime_ns))
    view = make(hostile(name))
    check_confined(view)
    assert touched == []
    assert secret.stat().st_atime_ns in (0, read_before)
    assert SECRET not in view.document().toPlainText()
    assert opened.addresses == []


@pytest.mark.parametrize("name", NAMES)
def test_every_document_of_the_corpus_is_confined(make, opened, name):
    check_confined(make(document(name)))
    assert opened.addresses == []


def test_html_is_shown_as_it_was_written(make):
    text = make("<b>bold</b> <img src='x'>\n\n<script>alert(1)</script>").toPlainText()
    assert "<b>bold</b> <img src='x'>" in text
    assert "<script>alert(1)</script>" in text


@pytest.mark.parametrize("kind", list(QTextDocument.ResourceType))
def test_whatever_is_asked_for_is_nothing(make, secret, kind):
    view = make("text")
    for address in (str(secret), f"file://{secret}", "https://evil.example/x", "qrc:/x", "data:text/plain,x"):
        assert bytes(view.loadResource(kind, QUrl(address))) == b""
        assert not view.document().resource(kind, QUrl(address)) or not bytes(view.document().resource(kind, QUrl(address)))


def test_a_click_on_a_link_opens_nothing_and_moves_nothing(make, opened):
    view = make("[here](https://evil.example/a) and [there](#top)")
    activated = []
    view.link_activated.connect(activated.append)
    before = view.toPlainText()
    for word in (2, len("here and t")):
        cursor = view.textCursor()
        cursor.setPosition(word)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.cursorRect(cursor).center())
    assert activated == ["https://evil.example/a", "#top"]
    assert opened.addresses == []
    assert view.toPlainText() == before
    assert view.source() == QUrl()


def test_where_a_link_leads_is_told_before(make):
    view = make("[https://good.example](https://evil.example/\u202egpj) x")
    (tip,) = {form.toolTip() for _, form in formats(view.document()) if form.isAnchor()}
    assert tip == "https://evil.example/%E2%80%AEgpj"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_only_web_and_mail_can_be_opened_and_only_when_asked(qtbot, opened, scheme):
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    open_link(f"{scheme}:x", parent)
    box = parent.findChild(QMessageBox, "linkQuestion")
    button = box.button(QMessageBox.StandardButton.Open)
    assert opened.addresses == []
    assert (button is not None) == (scheme in OPENED)
    box.close()
    assert opened.addresses == []


def test_copying_carries_text_only(make):
    view = make("<img src='file:///x'> **bold** [a](https://evil.example)")
    view.selectAll()
    assert view.createMimeDataFromSelection().formats() == ["text/plain"]


@pytest.mark.parametrize("name", HOSTILE)
def test_the_messages_around_stay_as_they_are(qtbot, theme, hostile, name):
    transcript = Transcript(theme)
    qtbot.addWidget(transcript)
    transcript.resize(760, 600)
    transcript.show()
    shots = []
    for text in ("plain", hostile(name)):
        transcript.set_messages(
            [message("a", "user", "before"), message("b", "assistant", text), message("c", "user", "after")]
        )
        transcript.scroll_to("a")
        first = transcript.view("a").grab().toImage()
        body = transcript.view("b")
        assert body.geometry().right() <= transcript.viewport().width()
        transcript.jump_to_bottom()
        last = transcript.view("c")
        assert last is not None
        shots.append((first, last.grab().toImage(), last.body.toPlainText()))
    assert shots[0] == shots[1]


def test_a_stream_is_confined_at_every_moment(make):
    view, reader = make(""), StreamReader()
    text = "".join(HOSTILE[name][:300] + "\n\n" for name in sorted(HOSTILE))
    for start in range(0, len(text), 41):
        view.show_blocks(reader.blocks, reader.feed(text[start : start + 41]))
        if start % 5 == 0:
            check_confined(view)
    reader.finish()
    view.show_blocks(reader.blocks)
    check_confined(view)


def test_nothing_can_be_dropped_on_or_typed_into_a_message(make):
    view = make("text")
    assert view.isReadOnly()
    QTest.keyClicks(view, "typed")
    assert view.toPlainText() == "text"
    assert isinstance(view, QTextBrowser)
    assert not view.openLinks()
    assert not view.openExternalLinks()
