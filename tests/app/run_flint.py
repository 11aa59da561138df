"""`flint` in a process of its own, with somebody at it: `python -m tests.app.run_flint WHAT`; says on stdout what happens.

Everything is done through the window, found among the application's own as a person finds it on screen. Each line is JSON.
"""

import json
import sys
import time

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QTextBrowser, QWidget

STEP_MS = 10


def say(**facts):
    print(json.dumps(facts), flush=True)


class Person:
    """Looks at the screen again and again, and does the next step of what they want once they can."""

    def __init__(self, steps):
        self.steps = steps(self)
        self.timer = QTimer(interval=STEP_MS)
        self.timer.timeout.connect(self.look)
        self.timer.start()
        self.look()

    def look(self):
        try:
            next(self.steps)
        except StopIteration:
            self.timer.stop()

    def window(self, name):
        return next((w for w in QApplication.topLevelWidgets() if w.objectName() == name and w.isVisible()), None)

    def until(self, name):
        while (window := self.window(name)) is None:
            yield
        return window


def open_and_ready(person):
    window = yield from person.until("mainWindow")
    while window.models.state.state != "ready":
        yield
    return window


def shown(window):
    return [browser.toPlainText() for browser in window.page.transcript.findChildren(QTextBrowser) if browser.isVisible()]


def writing(person):
    window = yield from open_and_ready(person)
    window.page.composer.set_text("Tell me about the fox")
    window.page.composer.submit()
    while window.page.composer.phase != "writing":
        yield
    return window


def close(person):
    """Close the window once it is shown."""
    window = yield from person.until("mainWindow")
    say(shown=True)
    window.close()


class FirstPaint(QObject):
    """Says which modules are loaded when the window is painted for the first time."""

    said = False

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and watched.objectName() == "mainWindow" and not self.said:
            self.said = True
            say(modules=sorted(sys.modules))
        return False


def name_modules(person):
    """Say what is loaded at the first paint, then close the window."""
    paint = FirstPaint()
    QApplication.instance().installEventFilter(paint)
    window = yield from person.until("mainWindow")
    while not paint.said:
        yield
    window.close()


def name_modules_at_rest(person):
    """Say what is loaded once the downloads are known, and what the window says of them; then close it."""
    window = yield from person.until("mainWindow")
    while not window.place.hub.downloads.free_bytes:
        yield
    say(modules=sorted(sys.modules), toasts=[toast.text for toast in window.toaster.toasts])
    window.close()


def download(person):
    """Ask for a model and say how that ended."""
    window = yield from person.until("mainWindow")
    downloads = window.place.hub.downloads
    while not downloads.free_bytes:
        yield
    downloads.start("org/model")
    while not (found := [each for each in downloads.downloads if not each.going]):
        yield
    say(state=found[0].state, error=found[0].error.text, toasts=[toast.text for toast in window.toaster.toasts])
    window.close()


def close_while_writing(person):
    """Close the window in the middle of a reply."""
    window = yield from writing(person)
    say(chat=window.chat.chat_id, phase=window.page.composer.phase)
    window.close()


def write_on(person):
    """Ask, and say after every piece of the reply what is on screen, for as long as the process lives."""
    window = yield from writing(person)
    say(chat=window.chat.chat_id)
    texts = window.page.transcript
    window.bridge.received.connect(lambda _: say(at=time.monotonic(), text=texts.messages[-1].text))


def wait_for_raise(person):
    """Minimize the window and wait until somebody brings it back."""
    window = yield from person.until("mainWindow")
    window.showMinimized()
    say(minimized=window.isMinimized())
    while window.isMinimized():
        yield
    say(raised=True)
    window.close()


def write_until_told(person):
    """Write until a line comes in on stdin, then stop the reply and close."""
    import threading

    told = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), told.set()), daemon=True).start()
    window = yield from writing(person)
    say(chat=window.chat.chat_id)
    while not told.is_set():
        yield
    say(still=window.page.composer.phase)
    window.page.composer.stop()
    while window.page.composer.phase != "idle":
        yield
    window.close()


def search_until_told(person):
    """Search in Discover, and quit when a line comes in on stdin, whatever the hub does: it is never given up on."""
    import threading

    from engine.models import hub

    hub.TIMEOUT_S = 100_000
    told = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), told.set()), daemon=True).start()
    window = yield from person.until("mainWindow")
    window.place.show()
    window.place.dialog.search.setText("fox")
    while not told.is_set():
        yield
    QApplication.closeAllWindows()


def read_failure(person):
    """Say what keeps Flint from starting, and quit."""
    window = yield from person.until("startupFailure")
    say(**{name: window.findChild(QLabel, name).text() for name in ("failureText", "failureHint")})
    window.findChild(QWidget, "quitButton").click()


def mend_and_try_again(person):
    """Move the bad chat database away and try again; close the window that opens then."""
    from engine.core.paths import locate

    window = yield from person.until("startupFailure")
    locate().chats.rename(locate().chats.with_suffix(".aside"))
    window.findChild(QWidget, "retryButton").click()
    yield from close(person)


def wait_at_failure(person):
    """Minimize the failure's window and wait until somebody brings it back."""
    window = yield from person.until("startupFailure")
    window.showMinimized()
    say(minimized=window.isMinimized())
    while window.isMinimized():
        yield
    say(raised=True)
    window.close()


def main():
    application = QApplication(["flint"])
    person = Person(globals()[sys.argv[1].replace("-", "_")])
    application.person = person
    sys.argv = ["flint"]
    from app.__main__ import main as flint

    return flint()


if __name__ == "__main__":
    sys.exit(main())
