"""Engines over a few tiny models, and ways to watch them."""

import shutil

from engine.core.connection import Connection
from engine.core.facts import Message
from engine.core.messages import TERMINALS, Generate
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.core.settings import Sampling
from engine.host import Host

HELLO = (Message("user", "hello, what is the capital of France?"),)
PATIENCE_S = 120
"""No test waits for this long, but for an engine that hangs."""


def install(tiny_folders, home, **names):
    """Put tiny models into Flint's own folder: `one="growing"` puts that kind there as “one”."""
    for name, kind in names.items():
        shutil.copytree(tiny_folders(kind), home / "models" / name)


def break_model(home, name):
    """Cut a model's weights in half."""
    path = home / "models" / name / "model.safetensors"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def make_host():
    """A host over `FLINT_HOME` as a program makes it, not started."""
    paths = locate()
    return Host(paths, Preferences(paths.settings))


def generate(request_id, model="one", tokens=8, text=HELLO, **sampling):
    return Generate(request_id, model, text, Sampling(temperature=0.0, max_tokens=tokens, **sampling))


def finish(connection, command):
    """Send a command and return its events, the end last."""
    connection.send(command)
    return list(connection.wait(command.request_id, PATIENCE_S))


def ends(events, request_id):
    """The terminal events of a request."""
    return [event for event in events if event.request_id == request_id and isinstance(event, TERMINALS)]


class Reacting(Connection):
    """A connection that acts on the engine's own thread the moment an event comes, before the engine goes on."""

    def __init__(self, worker, react):
        super().__init__(worker.post)
        self.react = react
        worker.join(self)

    def put(self, event):
        super().put(event)
        self.react(self, event)
