"""The clipboard after something of a conversation was copied, which takes as many slices of time as it needs."""

from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest


def clipboard(transcript):
    """Return the clipboard once what was asked for is on it."""
    while transcript.selection._copy._timer.isActive():
        QTest.qWait(0)
    return QGuiApplication.clipboard()
