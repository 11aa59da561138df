"""`flint models`: list, info, import, fit, search, pull, rm, rename, note, template, update, quantize."""

import dataclasses
import time
from pathlib import Path
from typing import Annotated

import typer

from engine.cli import hub, keep
from engine.cli.fit import Asked, ChunkOption, ContextOption, KvBitsOption, ModelArgument, fit_model
from engine.cli.interrupt import StopOnInterrupt
from engine.cli.output import Refused, WaitingBar, note, print_json, say
from engine.cli.quantize import quantize_model
from engine.cli.table import Column, print_facts, print_table
from engine.core.errors import ErrorInfo
from engine.core.facts import ModelEntry
from engine.core.machine import THIS_MACHINE
from engine.core.messages import Cancel, Cancelled, Event, Failed, ImportModel, ModelImported
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.core.settings import BY_NAME
from engine.core.sizes import size_text
from engine.host import Host
from engine.models.fact_words import ORIGINS, facts_of, remedy, total_bytes
from engine.models.facts import read_facts
from engine.models.fit import LARGEST_CHUNK
from engine.models.library import Library

LISTED = (
    Column("Model", long=True),
    Column("Id", whole=True),
    Column("Size", figure=True),
    Column("Quantization", long=True, drop=1),
    Column("Used", drop=3),
    Column("From", long=True, drop=2),
)
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]
NamedModel = Annotated[str, typer.Argument(metavar="MODEL", help="Its name, id or path.")]

commands = typer.Typer(no_args_is_help=True)


def open_library() -> Library:
    """Return the library as the settings place it."""
    paths = locate()
    folder = str(Preferences(paths.settings).get("models_folder") or "")
    return Library(paths, Path(folder).expanduser() if folder else None)


@commands.command("list", help=f"List the models on {THIS_MACHINE}.")
def list_models(as_json: JsonFlag = False) -> None:
    """List what the library has."""
    library = open_library()
    for folder in library.closed_folders():
        note(f"What is in {folder} is not listed: Flint may not read it. Give yourself the right to.")
    entries = library.entries()
    if as_json:
        print_json([dataclasses.asdict(entry) for entry in entries])
        return
    if not entries:
        note(f"There is no model on {THIS_MACHINE} yet. Import one: flint models import FILE.gguf")
        return
    print_table(LISTED, [_row(entry) for entry in entries])
    note(f"In all {size_text(total_bytes(entries))}.")


def _row(entry: ModelEntry) -> tuple[str, ...]:
    used = keep.used_text(entry.used_at, time.time())
    return entry.name, entry.id, size_text(entry.disk_bytes), entry.quantization, used, _where(entry)


def _where(entry: ModelEntry) -> str:
    origins = (entry.origin, *(copy.origin for copy in entry.copies))
    places = ", ".join(dict.fromkeys(ORIGINS[origin] for origin in origins))
    if entry.older_bytes:
        places += f" (older versions {size_text(entry.older_bytes)})"
    going_on = f" Go on: flint models pull {entry.id}" if entry.download == "stopped" else ""
    return f"{places}: {entry.problem}{going_on}" if entry.problem else places


@commands.command("info")
def info(model: NamedModel, as_json: JsonFlag = False) -> None:
    """Show what is known of one model."""
    entry = open_library().find(model)
    if as_json:
        print_json(dataclasses.asdict(entry) | _facts(entry))
    else:
        print_facts(_words(entry))


def _words(entry: ModelEntry) -> list[tuple[str, str]]:
    """What is known of a model, in the window's words."""
    recommended = entry.recommended.values()
    return [
        ("Name", entry.name),
        ("Id", entry.id),
        ("Problem", entry.problem and f"{entry.problem} {remedy(entry)}"),
        *facts_of(entry),
        ("Recommended", ", ".join(f"{BY_NAME[name].label} {value}" for name, value in recommended.items())),
        ("Template", "one of yours, in place of its own" if entry.own_template else ""),
        ("Notes", entry.notes),
        ("Where it is", entry.path),
    ]


@commands.command("fit")
def fit(
    model: ModelArgument,
    context: ContextOption = None,
    kv_bits: KvBitsOption = "off",
    chunk: ChunkOption = LARGEST_CHUNK,
    as_json: JsonFlag = False,
) -> None:
    """Say what a model would take here, with its arithmetic, and whether it fits. Nothing is loaded."""
    fit_model(model, open_library(), Preferences(locate().settings), Asked(context, kv_bits, chunk), as_json)


@commands.command("search")
def search(
    query: Annotated[str, typer.Argument(metavar="WORDS", help="Words of the model's name.")] = "",
    sort: Annotated[str, typer.Option(help="downloads, updated or likes.")] = "downloads",
    task: Annotated[str, typer.Option(help="chat, base (no chat template), code, or vision (its text alone runs).")] = "",
    max_size: Annotated[float | None, typer.Option(metavar="GB", help="Only what takes at most so much.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Also what is not made for MLX.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=99, help="How many to list.")] = 20,
    as_json: JsonFlag = False,
) -> None:
    """Search the hub, and say of each model whether it fits here."""
    hub.search(query, hub.Wanted(sort, task, max_size, every, limit), as_json=as_json)


@commands.command("pull")
def pull(
    model: Annotated[str, typer.Argument(metavar="AUTHOR/MODEL", help="Its name on the hub; /FILE.gguf for one of several.")],
    as_json: JsonFlag = False,
) -> None:
    """Download a model, or go on with a download, into the Hugging Face cache."""
    hub.pull(model, as_json=as_json)


@commands.command("rm")
def remove(
    model: NamedModel,
    now: Annotated[bool, typer.Option("--now", help="Delete it for good instead of moving it to the trash.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Remove a model: to the system's trash, or for good. What LM Studio or Ollama keeps is left to them."""
    keep.remove(open_library(), model, now=now, yes=yes, as_json=as_json)


@commands.command("rename")
def rename(
    model: NamedModel,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its new name; '' gives it its own again.")],
    as_json: JsonFlag = False,
) -> None:
    """Call a model by another name in Flint. No file is touched."""
    keep.call(open_library(), model, name, as_json=as_json)


@commands.command("note")
def note_model(
    model: NamedModel,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The notes; '' removes them. Without: shows them.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Keep notes on a model, or show them."""
    keep.write(open_library(), model, text, as_json=as_json)


@commands.command("template")
def template(
    model: NamedModel,
    file: Annotated[Path | None, typer.Option("--set", metavar="FILE", help="Use this chat template; - reads it.")] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Use the model's own again.")] = False,
    _show: Annotated[bool, typer.Option("--show", help="Show the one in use; so does neither of the others.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show a model's chat template, or use another in its place."""
    keep.template(open_library(), model, file=file, reset=reset, as_json=as_json)


@commands.command("update")
def update(
    model: NamedModel,
    check: Annotated[bool, typer.Option("--check", help="Only say whether there is a newer version.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Ask the hub whether it has a newer version of a model, and fetch it."""
    keep.update(open_library(), model, check=check, as_json=as_json)


@commands.command("quantize")
def quantize(
    model: NamedModel,
    bits: Annotated[str, typer.Option(help="8, 6, 4, 3 or mixed (4 and 6).")] = "4",
    group: Annotated[int, typer.Option(help="Weights that share a scale: 32, 64 or 128.")] = 64,
    name: Annotated[str, typer.Option(help="What to call it. Default: the model's name and the bits.")] = "",
    as_json: JsonFlag = False,
) -> None:
    """Make a smaller copy of a model in Flint's own folder, and say how much worse it foresees a text."""
    quantize_model(model, bits, group, name, as_json=as_json)


@commands.command("import")
def import_model(
    source: Annotated[Path, typer.Argument(metavar="FILE.gguf", help="The GGUF file to import.")],
    name: Annotated[str, typer.Option(help="What to call it. Default: the name the file gives.")] = "",
    as_json: JsonFlag = False,
) -> None:
    """Import a GGUF, in one file or several, into Flint's own folder."""
    paths = locate()
    host = Host(paths, Preferences(paths.settings))
    host.start()
    try:
        outcome = _run_import(host, ImportModel("import", str(source.expanduser().absolute()), name))
    finally:
        host.close()
    if isinstance(outcome, ErrorInfo):
        raise Refused(outcome)
    if outcome is None:
        raise typer.Exit(130)
    if as_json:
        print_json(dataclasses.asdict(outcome.model))
    elif outcome.already:
        say(f"It is already here as “{outcome.model.name}”.")
    else:
        say(f"{outcome.model.name} is ready: flint chat --model {outcome.model.id}")


def _run_import(host: Host, command: ImportModel) -> ModelImported | ErrorInfo | None:
    """Return what was imported, what went wrong, or None when it was cancelled."""
    connection = host.connect()
    outcome: ModelImported | ErrorInfo | None = None
    with StopOnInterrupt(lambda: connection.send(Cancel("import-stop", command.request_id))), WaitingBar() as bar:
        connection.send(command)
        for event in connection.wait(command.request_id):
            bar.show(event)
            outcome = _outcome(event, outcome)
    return outcome


def _outcome(event: Event, before: ModelImported | ErrorInfo | None) -> ModelImported | ErrorInfo | None:
    match event:
        case ModelImported():
            return event
        case Failed():
            return event.error
        case Cancelled():
            return None
        case _:
            return before


def _facts(entry: ModelEntry) -> dict[str, object]:
    if entry.kind != "mlx" or entry.problem:
        return {}
    facts = read_facts(Path(entry.path))
    return {
        "layers": facts.layers,
        "heads": facts.heads,
        "kv_heads": facts.kv_heads,
        "head_dim": facts.head_dim,
        "vocabulary": facts.vocab,
        "parameters": facts.parameters,
        "kv_bytes_per_token": facts.kv_bytes_per_token(),
    }
