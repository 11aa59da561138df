"""The clock of the sidebar."""

import pytest

from tests.app.chat.sidebar.noon import NOON


@pytest.fixture
def at_noon(monkeypatch):
    """Have the sidebar's own clock stand at noon."""

    class Clock:
        time = staticmethod(lambda: NOON)

    monkeypatch.setattr("app.chat.sidebar.sidebar.time", Clock)
