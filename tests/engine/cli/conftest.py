"""The command line, called in this process or run in one of its own, with tiny models."""

import io
import json
import logging
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.chats.store import ChatStore
from engine.cli.main import run
from engine.core.paths import locate
from tests.engine.engines import break_model, install

ROOT = Path(__file__).parents[3]


@dataclass
class Outcome:
    """What one command line came to."""

    status: int
    out: str
    err: str

    @property
    def data(self):
        """The one line of JSON that it printed, and nothing else."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)

    def refused(self, status):
        """Check that it ended with this error's status: a sentence and a hint on stderr, nothing on stdout."""
        assert (self.status, self.out) == (status, ""), (self.status, self.err)
        lines = self.err.strip().splitlines()
        assert lines[0].startswith("Error: ")
        assert len(lines) >= 2
        assert "Traceback" not in self.err
        return self.err


@pytest.fixture
def flint(capsys, monkeypatch):
    """A function that calls the command line in this process and returns its `Outcome`; `stdin` is text or bytes."""
    logger = logging.getLogger("flint")
    before, propagate = list(logger.handlers), logger.propagate

    def call(*arguments, stdin=""):
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))
        capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        return Outcome(status, *capsys.readouterr())

    yield call
    for handler in logger.handlers:
        handler.close()
    logger.handlers[:], logger.propagate = before, propagate


@pytest.fixture
def models(flint_home, tiny_folders):
    """Tiny models in Flint's own folder: `one`, `two`, and `broken`, which is cut short."""
    install(tiny_folders, flint_home, one="growing", two="recurrent", broken="growing")
    break_model(flint_home, "broken")
    return flint_home / "models"


@pytest.fixture
def chats():
    """A function that opens the chats that the commands wrote."""
    opened = []

    def store():
        opened.append(ChatStore(locate().chats))
        return opened[-1]

    yield store
    for each in opened:
        each.close()


def start(*arguments, code="import sys; from app.__main__ import main; sys.exit(main())", **more):
    """Start the command line in a process of its own, from the sources."""
    environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        env=environ,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **more},
    )
