"""Waiting for long messages, which come in slices of time."""


def all_there(transcript, qtbot):
    """Wait until every message that has a widget is shown as a whole."""
    qtbot.waitUntil(lambda: not any(view.busy for _, view in transcript.views()))
