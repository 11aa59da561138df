"""`flint`: with arguments a command line, without a window."""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
"""What says on Linux that a window can be shown."""
COLLECT_AFTER_MS = 500
"""Starting makes much and drops little: looking for garbage meanwhile would only hold the first paint up."""

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.instance import Instance
    from app.theme import Theme
    from app.window import MainWindow
    from engine.core.preferences import Preferences
    from engine.host import Host


def build(argv: Sequence[str]) -> "tuple[QApplication, MainWindow]":
    """Make the application and its window, without entering the event loop; closing the window stops and joins the engine.

    Raises a `FlintError` when the chats cannot be opened.
    """
    from app.bridge import Bridge
    from app.window import MainWindow
    from engine.chats.store import ChatStore
    from engine.core.paths import locate
    from engine.core.preferences import Preferences

    application = _application(argv)
    paths = locate()
    preferences = Preferences(paths.settings)
    store = ChatStore(paths.chats)
    store.recover()

    def make_host() -> "Host":
        from engine.host import Host

        return Host(paths, preferences)

    return application, MainWindow(store, preferences, Bridge(make_host), _theme(preferences))


def main() -> int:
    """Run Flint and return its exit status."""
    if len(sys.argv) > 1:
        from engine.cli.main import run

        return run(sys.argv[1:])
    if sys.platform == "linux" and not any(os.environ.get(name) for name in SCREENS):
        return _complain("There is no screen to open a window on.", "In a terminal, “flint chat” works without one.")
    try:
        import PySide6.QtWidgets  # noqa: F401 - Qt needs libraries of the system's, and Python says which one is missing.
    except ImportError as error:
        return _complain(f"The window can't be opened: {error}.", "Flint's README names the packages it needs.")
    return _open_window()


def _open_window() -> int:
    from app.instance import Instance
    from engine.core.logs import keep_log
    from engine.core.paths import locate

    gc.disable()
    paths = locate()
    keep_log(paths)
    application = _application(sys.argv)
    _collect_garbage_later(application)
    _close_on_signals(application)
    instance = Instance(paths.data)
    if not instance.acquire():
        if instance.ask_to_raise():
            return 0
        return _complain("Flint is already running, but its window does not answer.", "Quit it, then try again.")
    try:
        return _show(application, instance)
    finally:
        instance.release()


def _show(application: "QApplication", instance: "Instance") -> int:
    """Show the window, or what keeps it from opening until that is mended, and run until it is closed."""
    from engine.core.errors import FlintError

    while True:
        try:
            _, window = build(sys.argv)
        except FlintError as error:
            from app.startup_failure import StartupFailure

            failure = StartupFailure(_theme(), error.info())
            instance.raise_requested.connect(failure.raise_window)
            failure.show()
            application.exec()
            if not failure.wants_retry:
                return error.exit_code
            continue
        instance.raise_requested.connect(window.raise_window)
        window.show()
        return application.exec()


def _close_on_signals(application: "QApplication") -> None:
    """Close the windows when a terminal (Ctrl-C) or the system ends the process, as if somebody had closed them.

    Python runs a signal's handler only while it runs at all; its wake-up file is what Qt's event loop notices.
    """
    from PySide6.QtCore import QSocketNotifier

    noticed, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)

    def close() -> None:
        os.read(noticed, 64)
        application.closeAllWindows()

    notifier = QSocketNotifier(noticed, QSocketNotifier.Type.Read, application)
    notifier.activated.connect(close)


def _collect_garbage_later(application: "QApplication") -> None:
    """Collect garbage again once the window is there, but never look at what starting made: it stays to the end."""
    from PySide6.QtCore import QTimer

    def collect() -> None:
        gc.freeze()
        gc.enable()

    QTimer.singleShot(COLLECT_AFTER_MS, application, collect)


def _complain(text: str, hint: str) -> int:
    sys.stderr.write(f"Error: {text}\n{hint}\n")
    return 1


def _theme(preferences: "Preferences | None" = None) -> "Theme":
    from app.settings.appearance import dress
    from app.theme import Theme

    theme = Theme()
    if preferences is not None:
        dress(theme, preferences)
    return theme


def _application(argv: Sequence[str]) -> "QApplication":
    from PySide6.QtWidgets import QApplication

    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    application = QApplication(list(argv))
    application.setApplicationName("Flint")
    application.setApplicationDisplayName("Flint")
    application.setDesktopFileName("flint")
    return application


if __name__ == "__main__":
    sys.exit(main())
