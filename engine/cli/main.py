"""The command line's entry: every command, and how an error ends one."""

import io
import logging
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Annotated

import typer

from engine.cli import cache, models
from engine.cli.chat import chat
from engine.cli.doctor import doctor
from engine.cli.output import Refused, complain, say
from engine.core.errors import ErrorInfo, FlintError, UsageError, describe
from engine.core.logs import keep_log
from engine.core.machine import THIS_MACHINE
from engine.core.paths import locate

CANCELLED_EXIT_CODE = 130

_commands = typer.Typer(
    name="flint",
    help="Run language models on your own machine. Without a command, Flint opens its window.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_commands.command(help="Ask a model, and see the reply as it is written. Without PROMPT on a terminal: a conversation.")(chat)
_commands.command(help=f"Say what {THIS_MACHINE} is, what works and what does not.")(doctor)
_commands.add_typer(models.commands, name="models", help=f"The models on {THIS_MACHINE}.")
_commands.add_typer(
    cache.commands, name="cache", help="What is kept of chats that a model has read, so that they go on at once."
)


def _print_version(asked: bool) -> None:
    if asked:
        say(f"flint {version('flint')}")
        raise typer.Exit


@_commands.callback()
def _flint(
    _: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)] = False,
) -> None:
    """Take the options that stand before a command."""


def _pointed(error: ErrorInfo, arguments: Sequence[str]) -> ErrorInfo:
    """Let the hint that points to the help point to that of the command."""
    if error.hint != UsageError.default_hint:
        return error
    group: object = typer.main.get_command(_commands)
    path = ["flint"]
    for word in arguments:
        group = getattr(group, "commands", {}).get(word)
        if group is None:
            break
        path.append(word)
    return replace(error, hint=f"See `{' '.join(path)} --help`.")


def run(arguments: Sequence[str]) -> int:
    """Run one command line (without the program's name) and return its exit status: 0, or the error's code.

    Errors go to stderr as a sentence and a hint, never as a traceback.
    """
    keep_log(locate())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # A terminal of another alphabet shows “?” for a letter it lacks.
    try:
        _commands(args=list(arguments), prog_name="flint", standalone_mode=True)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    except KeyboardInterrupt:
        return CANCELLED_EXIT_CODE
    except BrokenPipeError:
        sys.stderr.close()  # Whoever read our output has gone; there is nobody to complain to.
        return 0
    except Refused as refused:
        return complain(_pointed(refused.error, arguments))
    except FlintError as error:
        return complain(_pointed(error.info(), arguments))
    except Exception as error:
        logging.getLogger("flint").exception("command failed")
        return complain(describe(error))
    return 0
