"""Waiting in tests: for what is to happen, never for a time."""

import contextlib

from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from pytestqt.wait_signal import SignalEmittedSpy

LONG_MS = 60_000
"""Far more than anything waited for takes: only a hang meets it."""


class PatientBot(QtBot):
    """pytest-qt's, but a test gives no wait a time: on a busy machine any would be too short.

    A window is waited for at once, which pytest-qt's own waits for one are only by a `with`.
    """

    def waitUntil(self, condition):
        """Wait until `condition` holds."""
        super().waitUntil(lambda: bool(condition()), timeout=LONG_MS)

    def waitSignal(self, signal):
        """By a `with`: wait at its end until `signal` came; what it carried is in `args` of the object."""
        return super().waitSignal(signal, timeout=LONG_MS)

    @contextlib.contextmanager
    def assertNotEmitted(self, signal, *, wait=0):
        """By a `with`: check that `signal` does not come in it, nor in `wait` milliseconds after."""
        spy = SignalEmittedSpy(signal)
        with spy:
            yield
            self.wait(wait)
        spy.assert_not_emitted()

    def waitExposed(self, window):
        """Wait until a window is on the screen."""
        assert QTest.qWaitForWindowExposed(window, LONG_MS)

    def waitActive(self, window):
        """Wait until a window has the keyboard."""
        assert QTest.qWaitForWindowActive(window, LONG_MS)
