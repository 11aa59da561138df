"""`flint models rm`, `rename`, `note`, `template` and `update`: keeping the models that are here, from a terminal."""

import dataclasses
import datetime
import sys
from collections.abc import Callable
from pathlib import Path

import typer

from engine.cli import hub
from engine.cli.output import note, plain, print_json, say
from engine.core.errors import UsageError
from engine.core.facts import ModelEntry
from engine.core.keep_messages import ModelRemoved, ModelTemplate, UpdateChecked
from engine.core.sizes import size_text
from engine.keeper import removed, rename, update_of
from engine.models.library import Library
from engine.models.removal import refusal

ORIGIN_WORDS = {
    "lmstudio": "LM Studio",
    "ollama": "Ollama",
    "huggingface": "the Hugging Face cache",
    "flint": "Flint's own folder",
}


def remove(library: Library, model: str, *, now: bool, yes: bool, as_json: bool) -> None:
    """Remove a model, after asking on a terminal. Raises as `removal.remove`."""
    entry = library.place(model)
    refused = refusal(entry)
    if refused is not None:
        raise refused
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("Nobody is there to say yes.", "Add --yes to remove it without being asked.")
        what = "Delete for good" if now else "Move to the trash:"
        typer.confirm(plain(f"{what} {entry.name} ({size_text(entry.disk_bytes)}, {entry.path})?"), abort=True, err=True)
    outcome = removed(library, entry.id, for_good=now)
    if as_json:
        _print_outcome(outcome)
    elif outcome.trash:
        say(f"{outcome.name} is in the trash. Emptying that frees {size_text(outcome.freed_bytes)}.")
    else:
        say(f"{outcome.name} is deleted: {size_text(outcome.freed_bytes)} are free again.")
    left = [ORIGIN_WORDS.get(copy.origin, "another folder") for copy in entry.copies]
    if left:
        note(f"It is also in {', '.join(dict.fromkeys(left))}, and stays there.")


def call(library: Library, model: str, name: str, *, as_json: bool) -> None:
    """Rename a model within Flint."""
    entry = library.find(model)
    rename(library, entry.id, name)
    _show(library.find(entry.id), as_json, lambda entry: f"It is called {entry.name} now.")


def write(library: Library, model: str, text: str | None, *, as_json: bool) -> None:
    """Keep notes on a model, or print those that are there."""
    entry = library.find(model)
    if text is not None:
        library.notebook.write(entry.id, text)
    entry = library.find(entry.id)
    if entry.notes or as_json:
        _show(entry, as_json, lambda entry: entry.notes)
    else:
        note(f"There are no notes on {entry.name}.")


def template(library: Library, model: str, *, file: Path | None, reset: bool, as_json: bool) -> None:
    """Show a model's chat template, take another from `file`, or go back to its own. Raises `TemplateError` for a bad one."""
    if file is not None and reset:
        raise UsageError("--set and --reset contradict each other.")
    from engine.inference.own_template import set_template, tried

    entry = library.find(model)
    if file is not None or reset:
        outcome = set_template(entry, library.notebook, _text_of(file) if file is not None else "")
    else:
        outcome = tried(entry, library.notebook)
    if as_json:
        _print_outcome(outcome)
        return
    note(f"{entry.name} uses {'a template of yours' if outcome.instead else 'its own template'}.")
    say(outcome.instead or outcome.own)
    note(f"It does not render: {outcome.problem}" if outcome.problem else "A short conversation becomes:\n" + outcome.preview)


def update(library: Library, model: str, *, check: bool, as_json: bool) -> None:
    """Ask the hub for a newer version of a model, and fetch it unless only a `check` is wanted. Raises a `HubError`."""
    outcome = update_of(library, hub.open_hub(), model)
    if outcome.newer and not check:
        hub.pull(outcome.model_id, as_json=as_json)
        return
    if as_json:
        _print_outcome(outcome)
    elif outcome.newer:
        say(f"There is a newer {outcome.model_id}: flint models update {outcome.model_id}")
    else:
        say(f"{outcome.model_id} is the newest.")


def _print_outcome(outcome: ModelRemoved | ModelTemplate | UpdateChecked) -> None:
    print_json({name: value for name, value in dataclasses.asdict(outcome).items() if name != "request_id"})


def used_text(used_at: float, now: float) -> str:
    """Return when a model was last used, as a day: “today”, “3 days ago”, “2026-03-01”; "" where it never was.

    Both are seconds since 1970; days begin at this machine's midnight.
    """
    if not used_at:
        return ""
    day = datetime.date.fromtimestamp(used_at)
    days = (datetime.date.fromtimestamp(now) - day).days
    if days <= 0:
        return "today"
    if days < 30:
        return "yesterday" if days == 1 else f"{days} days ago"
    return day.isoformat()


def _show(entry: ModelEntry, as_json: bool, text: Callable[[ModelEntry], str]) -> None:
    if as_json:
        print_json(dataclasses.asdict(entry))
    else:
        say(text(entry))


def _text_of(file: Path) -> str:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"{file} could not be read: {error.strerror}.", "Check the path.") from error
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not text in UTF-8.", "A chat template is a text file.") from None
    if not text.strip():
        raise UsageError(f"{file} is empty.", "--reset goes back to the model's own template.")
    return text
