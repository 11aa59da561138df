"""The whole engine of a process, driven by whatever people and programs may send, and ended in the middle of it."""

import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engine.core.messages import (
    Cancel,
    Failed,
    Finished,
    ImportModel,
    ListModels,
    LoadModel,
    ModelsListed,
    PrefillProgress,
    SetUnloadAfter,
    TextDelta,
    UnloadModel,
)
from tests.engine.engines import PATIENCE_S, Reacting, break_model, ends, finish, generate, install, make_host

ROOT = Path(__file__).parents[2]


@pytest.fixture
def host(flint_home, tiny_folders):
    install(tiny_folders, flint_home, one="growing", two="recurrent", broken="growing")
    break_model(flint_home, "broken")
    made = make_host()
    made.start()
    yield made
    made.close()


def any_command(dice, number):
    """One command as anybody might send it, at any time."""
    request_id = f"r{number}"
    return dice.choice(
        [
            lambda: generate(request_id, dice.choice(["one", "two", "broken", "nowhere"]), tokens=dice.choice([1, 5, 60])),
            lambda: generate(request_id, "one", tokens=dice.choice([1, 5, 60]), seed=dice.randrange(9)),
            lambda: LoadModel(request_id, dice.choice(["one", "two", "broken", "nowhere"])),
            lambda: UnloadModel(request_id),
            lambda: Cancel(request_id, f"r{dice.randrange(number + 2)}"),
            lambda: Cancel(request_id, f"r{max(0, number - 1)}"),
            lambda: ListModels(request_id),
            lambda: ImportModel(request_id, dice.choice(["/nowhere.gguf", "/etc/passwd"])),
            lambda: SetUnloadAfter(request_id, dice.choice([0.0, 0.02, 60.0])),
        ]
    )()


@pytest.mark.parametrize("seed", range(7))
def test_each_request_ends_in_exactly_one_way_whatever_is_sent_and_whenever_it_is_closed(host, seed):
    dice = random.Random(seed)
    heard = []
    connections = [recording(host, heard), recording(host, heard)]
    commands = [any_command(dice, number) for number in range(30)]
    closes_at = dice.randrange(4, 40)
    assert isinstance(finish(connections[0], generate("first"))[-1], Finished)
    for number, command in enumerate(commands):
        connection = dice.choice(connections)
        if number == closes_at:
            host.close()
        connection.send(command)
        if dice.random() < 0.3:
            list(zip(range(dice.randrange(1, 12)), connection.wait(command.request_id, PATIENCE_S), strict=False))
    host.close()
    for command in commands:
        mine = [event for event in heard if event.request_id == command.request_id]
        told = ends(mine, command.request_id)
        assert len(told) == 1
        assert mine[-1] is told[0]
        assert not isinstance(told[0], Failed) or (told[0].error.text and told[0].error.hint)


def recording(host, heard):
    """A connection of the host that writes down every event the moment it comes."""
    connection = Reacting(host._worker, lambda _, event: heard.append(event))
    connection._route = host._route
    return connection


def test_the_replies_of_two_consumers_come_one_after_the_other_in_the_order_sent(host):
    heard = []
    first, second = (Reacting(host._worker, lambda _, event: heard.append(event)) for _ in range(2))
    for number, connection in enumerate((first, second, first, second)):
        connection.send(generate(f"r{number}", tokens=5))
    list(second.wait("r3", PATIENCE_S))
    replies = [
        event.request_id for event in heard if isinstance(event, PrefillProgress | TextDelta | Finished) and event.request_id
    ]
    assert replies == sorted(replies)
    assert set(replies) == {"r0", "r1", "r2", "r3"}


def test_listing_models_does_not_wait_for_a_reply(host):
    """The list is asked for, and must have come, while the engine thread stands still within a reply."""
    lister = host.connect()
    listed = []

    def react(_, event):
        if isinstance(event, TextDelta) and event.output_tokens == 3:
            lister.send(ListModels("list"))
            listed.extend(lister.wait("list", PATIENCE_S))

    connection = Reacting(host._worker, react)
    assert isinstance(finish(connection, generate("a"))[-1], Finished)
    assert [type(event) for event in listed] == [ModelsListed, Finished]
    assert {"one", "two"} <= {entry.id for entry in listed[0].models}


def test_a_list_that_cannot_be_made_fails_with_a_hint(host, monkeypatch):
    monkeypatch.setattr(host.library, "entries", lambda: 1 / 0)
    (failed,) = finish(host.connect(), ListModels("a"))
    assert failed.error.hint


def test_lists_that_still_wait_when_it_is_closed_end_too(host, monkeypatch):
    entered, go_on = threading.Event(), threading.Event()

    def slow():
        entered.set()
        go_on.wait(PATIENCE_S)
        return ()

    monkeypatch.setattr(host.library, "entries", slow)
    connection = host.connect()
    for number in range(3):
        connection.send(ListModels(f"l{number}"))
    entered.wait(PATIENCE_S)
    closing = threading.Thread(target=host.close)
    closing.start()
    host._worker._thread.join(PATIENCE_S)
    while not host._io._pool._closed:
        pass
    go_on.set()
    closing.join(PATIENCE_S)
    events = list(connection.drain())
    assert [len(ends(events, f"l{number}")) for number in range(3)] == [1, 1, 1]
    assert isinstance(ends(events, "l0")[0], Finished)
    assert ends(events, "l2")[0].error.code == "engine-stopped"
    assert finish(connection, ListModels("late"))[0].error.code == "engine-stopped"


def test_the_models_folder_and_the_idle_time_are_those_of_the_settings(flint_home, tmp_path, tiny_folders):
    from engine.core.paths import locate
    from engine.core.preferences import Preferences
    from engine.host import Host

    preferences = Preferences(locate().settings)
    preferences.set("models_folder", str(tmp_path / "elsewhere"))
    preferences.set("unload_after", 7)
    install(tiny_folders, tmp_path / "x", one="growing")
    (tmp_path / "x" / "models").rename(tmp_path / "elsewhere")
    made = Host(locate(), preferences)
    made.start()
    try:
        assert made._worker.unload_after_s == 7 * 60
        assert isinstance(finish(made.connect(), LoadModel("a", "one"))[-1], Finished)
    finally:
        made.close()


FORGETFUL = """
import sys
from engine.core.facts import Message
from engine.core.messages import Generate, TextDelta
from engine.core.settings import Sampling
from tests.engine.engines import make_host

host = make_host()
host.start()
connection = host.connect()
connection.send(Generate("a", "one", (Message("user", "hello"),), Sampling(temperature=0.0, max_tokens=400)))
for event in connection.wait("a", 120):
    if isinstance(event, TextDelta):
        break
else:
    sys.exit("it ended before the program could")
print("writing", flush=True)
"""


def forget(flint_home, tiny_folders, times):
    install(tiny_folders, flint_home, one="growing")
    for _ in range(times):
        done = subprocess.run(
            [sys.executable, "-c", FORGETFUL], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert (done.returncode, done.stdout) == (0, "writing\n"), done.stderr


def test_a_program_that_forgets_to_close_ends_in_the_middle_of_a_reply_with_status_0(flint_home, tiny_folders):
    forget(flint_home, tiny_folders, 1)


@pytest.mark.heavy
def test_a_program_that_forgets_to_close_always_ends_with_status_0(flint_home, tiny_folders):
    forget(flint_home, tiny_folders, 10)
