"""Waiting for long messages, which come in slices of time, and for what is built of them."""


def all_there(transcript, qtbot):
    """Wait until every message that has a widget is shown as a whole."""
    qtbot.waitUntil(lambda: not any(view.busy for _, view in transcript.views()))


def built(work):
    """Return what work that is done piece by piece returns in the end."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value
