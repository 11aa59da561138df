"""The command line as a program: a process of its own, with signals, terminals and no network."""

import json
import os
import pty
import re
import signal
import subprocess
import sys

import pytest
import typer

from engine.cli.main import _commands
from engine.core.paths import locate
from tests.engine.cli.conftest import ROOT, start
from tests.engine.engines import PATIENCE_S
from tests.models.tiny import tiny_llama

SLOW = ("--model", "slow", "--temperature", "0", "--max-tokens", "100000", "--context", "131072")


OFFLINE = """
import os, socket, sys

os.environ.pop("HF_HUB_OFFLINE", None)

def refuse(*arguments, **named):
    sys.stderr.write(f"NETWORK {arguments}\\n")
    raise OSError("there is no network here")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refuse
from app.__main__ import main
sys.exit(main())
"""


@pytest.fixture
def slow(flint_home):
    """A model that never ends its turn: its end token always scores 0, and some of the others score more."""
    import mlx.core as mx

    folder = tiny_llama(flint_home / "models" / "slow", context=131072)
    weights = mx.load(str(folder / "model.safetensors"))
    weights["model.embed_tokens.weight"][json.loads((folder / "config.json").read_text())["eos_token_id"]] = 0
    mx.eval(weights)
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    return folder


def test_without_a_network_it_writes_until_ctrl_c_ends_it_with_130_and_what_was_written_is_stored(slow, chats):
    process = start("chat", "hello", *SLOW, code=OFFLINE, text=False, bufsize=0)
    first = process.stdout.read(40)
    process.send_signal(signal.SIGINT)
    rest, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    store = chats()
    reply = store.messages(store.chats()[0].id)[-1]
    assert reply.state == "cancelled"
    assert reply.text + "\n" == (first + rest).decode()
    assert reply.facts.output_tokens < 100000
    assert b"Traceback" not in err
    assert b"NETWORK" not in err


def read_until(terminal, text):
    """Read a terminal until it shows `text`; return all that it showed."""
    shown = b""
    while text not in shown:
        shown += os.read(terminal, 4096)
    return shown


def test_a_conversation_on_a_terminal(models, chats):
    ours, theirs = pty.openpty()
    terminal = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "text": False}
    process = start("chat", "--model", "one", "--temperature", "0", "--max-tokens", "5", **terminal)
    os.close(theirs)
    shown = read_until(ours, b"> ")
    assert b"/new" in shown
    for line in (b"hello", b"and then?", b"/help", b"/new", b"other"):
        os.write(ours, line + b"\n")
        answer = read_until(ours, b"> ")
        if line == b"and then?":  # The model is loaded: nothing may move or wipe the line the reply is written on.
            assert b"\x1b[2K" not in answer.partition(b"then?")[2]
    os.write(ours, b"/quit\n")
    assert process.wait(PATIENCE_S) == 0
    os.close(ours)
    store = chats()
    assert [[message.role for message in store.messages(chat.id)] for chat in store.chats()] == [
        ["user", "assistant"],
        ["user", "assistant"] * 2,
    ]


@pytest.mark.heavy
def test_a_reader_that_goes_away_ends_it_quietly(slow, chats):
    process = start("chat", "hello", *SLOW)
    process.stdout.read(10)
    process.stdout.close()
    err = process.stderr.read()
    process.wait(PATIENCE_S)
    process.stderr.close()
    assert err == ""
    store = chats()
    assert store.messages(store.chats()[0].id)[-1].state == "cancelled"


@pytest.mark.parametrize("arguments", [(), ("--help",), ("models", "--help"), ("chat", "-h")])
def test_help_is_shown(flint, arguments):
    outcome = flint(*arguments)
    assert "Usage: flint" in outcome.out + outcome.err
    assert "Traceback" not in outcome.err


def test_the_version_is_told(flint):
    from importlib.metadata import version

    assert flint("--version").out == f"flint {version('flint')}\n"


@pytest.mark.parametrize("arguments", [("nonsense",), ("chat", "a", "b"), ("models", "nonsense"), ("chat", "hello", "--seed")])
def test_a_command_line_that_makes_no_sense_has_status_2(flint, arguments):
    outcome = flint(*arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert "Error" in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("models", "search", "--sort", "size"),
        ("models", "search", "--task", "pictures"),
        ("models", "fit", "one", "--kv-bits", "3"),
        ("models", "quantize", "one", "--bits", "5"),
        ("models", "quantize", "one", "--group", "77"),
        ("models", "template", "one", "--reset", "--set", "x"),
    ],
)
def test_a_bad_value_points_to_the_help_of_its_command(flint, models, arguments):
    assert f"See `flint {' '.join(arguments[:2])} --help`." in flint(*arguments).refused(2)


def commands_of(group, path=()):
    """Every command with its path, groups left out."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands_of(typer.main.get_command(_commands)))


@pytest.mark.parametrize("path", COMMANDS)
def test_every_argument_is_written_in_one_form(path):
    arguments = [one for one in COMMANDS[path].params if one.param_type_name == "argument"]
    for argument in arguments:
        assert re.fullmatch(r"[A-Z]+(/[A-Z]+|\.gguf|\|config\.json)?", argument.metavar or ""), (path, argument.name)


def test_a_fault_of_our_own_is_one_line_and_a_log_entry(flint, flint_home, monkeypatch):
    monkeypatch.setattr("engine.cli.models.open_library", lambda: 1 / 0)
    assert "ZeroDivisionError" in flint("models", "list", "--json").refused(1)
    assert "Traceback" in (flint_home / "cache" / "flint.log").read_text()


def test_letters_that_the_output_lacks_are_replaced(models):
    environ = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from app.__main__ import main; sys.exit(main())", "models", "info", str(locate().models / "one")],
        cwd=ROOT, env=environ, capture_output=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done.stdout.decode("ascii")
