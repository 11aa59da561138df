"""Stores in a folder of their own, with a clock that only moves when told."""

import pytest

from engine.chats.store import ChatStore


class Clock:
    """Seconds that a test turns forward."""

    def __init__(self, now=1_700_000_000.0):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "chats.sqlite3"


@pytest.fixture
def store(path, clock):
    with ChatStore(path, clock) as opened:
        yield opened
