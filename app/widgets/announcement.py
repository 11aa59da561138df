"""Telling people who do not see the screen what has happened on it."""

from PySide6.QtWidgets import QWidget


def announce(widget: QWidget, text: str, *, urgent: bool = False) -> None:
    """Have assistive tools say `text` when they have said what they are saying; at once where it is `urgent`."""
    if text:
        from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent  # Its many names take a while to load.

        event = QAccessibleAnnouncementEvent(widget, text)
        politeness = QAccessible.AnnouncementPoliteness
        event.setPoliteness(politeness.Assertive if urgent else politeness.Polite)
        QAccessible.updateAccessibility(event)
