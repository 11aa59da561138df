"""Drives the real window: built as `flint` builds it, with the real engine and store, and always closed at the end."""

import contextlib
import os
import shutil
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QTextBrowser, QWidget

from engine.chats.store import ChatStore
from engine.core.errors import FlintError
from engine.core.messages import Cancelled, Failed, Finished, TextDelta
from engine.core.paths import locate
from engine.core.preferences import Preferences


class Driver:
    """A shown window and everything a test does to it or asks of it. `events` are the engine's, as the window gets them."""

    def __init__(self, qtbot, window):
        self.qtbot = qtbot
        self.window = window
        self.events = []
        window.bridge.received.connect(self.events.append)

    # -- finding and waiting --------------------------------------------------------------------------------------------

    def part(self, name, kind=QWidget):
        """Return the part of the window with an object name."""
        found = self.window.findChild(kind, name)
        assert found is not None, f"the window has no {name}"
        return found

    def wait(self, condition):
        """Wait until `condition` holds."""
        self.qtbot.waitUntil(condition)

    def wait_ready(self):
        """Wait until the chosen model is loaded and nothing runs."""
        self.wait(lambda: self.window.models.state.state == "ready" and self.idle)

    @property
    def idle(self):
        """Whether no reply is on its way in any chat."""
        return self.window.replies.writing_chat() is None

    @property
    def phase(self):
        """What the composer says the shown reply is doing."""
        return self.window.page.composer.phase

    # -- doing ----------------------------------------------------------------------------------------------------------

    def click(self, name):
        """Click a part of the window by its object name."""
        QTest.mouseClick(self.part(name), Qt.MouseButton.LeftButton)

    def key(self, key, modifier=Qt.KeyboardModifier.NoModifier, name="composer"):
        """Press a key in a part of the window."""
        QTest.keyClick(self.part(name), key, modifier)

    def type(self, text, name="composer"):
        """Type a text into a part of the window."""
        part = self.part(name)
        part.setFocus()
        QTest.keyClicks(part, text)

    def send(self, text):
        """Type a message, send it with Return, and return the pending reply."""
        self.type(text)
        self.key(Qt.Key.Key_Return)
        return self.window.replies.of_chat(self.window.chat.chat_id)

    def ask(self, text):
        """Send a message, wait for its whole reply and return it as it was stored."""
        self.send(text)
        chat_id = self.window.chat.chat_id
        self.wait(lambda: self.window.replies.of_chat(chat_id) is None)
        return self.stored()[-1]

    def open_chat(self, chat_id):
        """Pick a chat in the list, as a click does."""
        chats = self.part("chatList")
        row = chats.model().row_of(chat_id)
        assert row >= 0, "the chat is not listed"
        QTest.mouseClick(chats.viewport(), Qt.MouseButton.LeftButton, pos=row_center(chats, row))
        assert self.window.chat.chat_id == chat_id

    def choose_model(self, model_id):
        """Choose a model in the list under the picker, with a click."""
        self.click("modelPicker")
        card = self.window.toolbar.picker.popover.card
        row = next(row for row in range(card.list.model().rowCount()) if card.entry(row).id == model_id)
        QTest.mouseClick(card.list.viewport(), Qt.MouseButton.LeftButton, pos=row_center(card.list, row))

    def choose_setting(self, name, value, scope="app"):
        """Choose a segment of a setting, or type a number, in the settings panel; `scope` as the panel's."""
        if not self.part("settingsPanel").isVisible():
            self.click("settingsButton")
        self.press(self.part("settingsScope"), f"segment.{scope}")
        field = self.part(f"setting.{name}")
        if not field.isVisible():
            self.click("more.Sampling")
        if isinstance(field, QLineEdit | QPlainTextEdit):
            field.setFocus()
            field.selectAll()
            QTest.keyClicks(field, str(value))
        else:
            self.press(field, f"segment.{value}")

    def press(self, owner, name):
        """Click a button inside a part of the window."""
        button = owner.findChild(QWidget, name)
        assert button is not None, f"{owner} has no {name}"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    # -- reading --------------------------------------------------------------------------------------------------------

    def stored(self, chat_id=None):
        """Return the messages of a chat's active path as another reader of the database sees them."""
        with ChatStore(locate().chats) as store:
            return store.messages(chat_id or self.window.chat.chat_id)

    def view(self, message):
        """Return the widget that shows a stored message."""
        return self.part(f"message.{message.id}")

    def stats(self, message):
        """Return the quiet line under a stored message."""
        return self.view(message).findChild(QWidget, "statsLine").text

    def shown(self):
        """Return what the transcript shows: the text of each message's browser, top to bottom."""
        browsers = [browser for browser in self.window.page.transcript.findChildren(QTextBrowser) if browser.isVisible()]
        browsers.sort(key=lambda browser: browser.mapTo(self.window, browser.rect().topLeft()).y())
        return [browser.toPlainText() for browser in browsers]

    def said(self):
        """Return every word on screen that is not a message: labels, buttons, names of painted parts, toasts."""
        words = []
        for widget in self.window.findChildren(QWidget):
            if widget.isVisible():
                for read in (getattr(widget, "text", None), widget.accessibleName, widget.accessibleDescription):
                    value = read() if callable(read) else read
                    if isinstance(value, str) and value.strip():
                        words.append(value)
        return "\n".join(words)

    def toasts(self):
        """Return the toasts on screen as (text, hint)."""
        toasts = self.window.findChildren(QWidget, "toast")
        return [(toast.text, toast.hint) for toast in toasts if toast.isVisible()]

    def ends(self, request_id):
        """Return the events that ended a request: one, whatever happened."""
        return [event for event in self.events if event.request_id == request_id and isinstance(event, ENDS)]

    def deltas(self, request_id):
        """Return a reply's pieces of text, as the window got them."""
        return [event for event in self.events if event.request_id == request_id and isinstance(event, TextDelta)]


def row_center(view, row):
    """Return where the middle of a list's row is in its viewport."""
    return view.visualRect(view.model().index(row, 0)).center()


ENDS = (Finished, Cancelled, Failed)


@contextlib.contextmanager
def open_window(qtbot):
    """Build the window as `flint` does, show it, and close it whatever happens; it may be closed inside, too."""
    from app.__main__ import build

    application, window = build(["flint"])
    driver = Driver(qtbot, window)
    try:
        window.show()
        window.activateWindow()
        qtbot.waitActive(window)
        yield driver
    finally:
        window.close()
        window.deleteLater()
        QTest.qWait(0)
        application.setStyleSheet("")


@contextlib.contextmanager
def refuse_writes(flint):
    """Have SQLite itself turn down every change of the window's own store, as on a disk that became read-only."""
    database = flint.window._store._database
    with database.reading() as connection:
        connection.execute("PRAGMA query_only = ON")
    try:
        yield
    finally:
        with contextlib.suppress(FlintError), database.reading() as connection:  # It may have been closed meanwhile.
            connection.execute("PRAGMA query_only = OFF")


def give_model(folder, name=""):
    """Put a model folder into Flint's own models, by hard links, and return its id (the folder's name)."""
    target = locate().models / (name or folder.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(folder, target, copy_function=_link)
    return target.name


def remember(**values):
    """Keep small values in the store as a window before this one would have."""
    with ChatStore(locate().chats) as store:
        for key, value in values.items():
            store.remember(key, value)


def set_settings(**values):
    """Keep settings as the panel would have."""
    preferences = Preferences(locate().settings)
    for name, value in values.items():
        preferences.set(name, value)


def _link(source, target):
    try:
        os.link(Path(source).resolve(), target)
    except OSError:
        shutil.copy2(source, target)
