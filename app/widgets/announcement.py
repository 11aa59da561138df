"""Telling people who do not see the screen what has happened on it."""

from PySide6.QtWidgets import QWidget


def announce(widget: QWidget, text: str) -> None:
    """Have assistive tools say `text` when they have said what they are saying."""
    if text:
        from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent  # Its many names take a while to load.

        event = QAccessibleAnnouncementEvent(widget, text)
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Polite)
        QAccessible.updateAccessibility(event)
