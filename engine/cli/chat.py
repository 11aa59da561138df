"""`flint chat`: one question, or a conversation, in a terminal."""

import io
import sys
from collections.abc import Mapping
from typing import Annotated

import typer

from engine.chats.store import ChatStore
from engine.cli.output import complain, note, print_json, say
from engine.cli.reply import LAST_MODEL, Asker
from engine.cli.reply import as_json as reply_json
from engine.cli.setting_flags import with_setting_flags
from engine.core.errors import FlintError, ModelNotFound, UsageError
from engine.core.facts import ModelEntry
from engine.core.machine import THIS_MACHINE
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.core.setting import Value
from engine.host import Host
from engine.models.choice import preferred
from engine.models.library import Library

HELP = "Ask anything. /new starts a new chat, /quit or Ctrl-D ends."


@with_setting_flags
def chat(
    prompt: Annotated[
        str | None, typer.Argument(metavar="PROMPT", help="The question. “-” reads it from standard input.")
    ] = None,
    *,
    model: Annotated[str | None, typer.Option(help="Model: its name, id or path. Default: the one used last.")] = None,
    chat_id: Annotated[str | None, typer.Option("--chat", metavar="ID", help="Continue a stored chat.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON when the reply is done.")] = False,
    settings: Mapping[str, Value],
) -> None:
    """Ask a model; raise a `FlintError` or `typer.Exit` for anything but a whole reply."""
    question = _question(prompt)
    if question is None and as_json:
        raise UsageError(
            "--json needs a question.", 'Give it as an argument: flint chat "…" --json, or on standard input: “-”.'
        )
    paths = locate()
    preferences = Preferences(paths.settings)
    if preferences.notice:
        note(preferences.notice)
    host = Host(paths, preferences)
    store = ChatStore(paths.chats)
    host.start()
    try:
        store.recover()
        model_id = _model_id(host, store, model, chat_id)
        asker = Asker(host.connect(), store, preferences.for_model(model_id), settings)
        asker.begin(model_id, chat_id)
        if question is None:
            _converse(asker)
            return
        status = _ask(asker, question, as_json=as_json)
    finally:
        host.close()
        store.close()
    if status:
        raise typer.Exit(status)


def _question(prompt: str | None) -> str | None:
    if prompt == "-" or (prompt is None and not sys.stdin.isatty()):
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace")
        prompt = sys.stdin.read()
    if prompt is not None and not prompt.strip():
        raise UsageError("The question is empty.", 'Ask something: flint chat "What is a token?"')
    return prompt


def _model_id(host: Host, store: ChatStore, asked: str | None, chat_id: str | None) -> str:
    """The model asked for; else the chat's, the one used last, the starter, or whatever is ready."""
    if asked:
        return host.library.find(asked).id
    of_chat = store.chat(chat_id).model_id if chat_id else ""
    found = (
        _usable(host.library, of_chat) or _usable(host.library, store.recall(LAST_MODEL)) or preferred(host.library.entries())
    )
    if found is None:
        raise ModelNotFound(f"There is no model on {THIS_MACHINE}.", "Import one: flint models import FILE.gguf")
    if of_chat and found.id != of_chat:
        note(f"The chat's model {of_chat} can't be used here; {found.name} answers.")
    return found.id


def _usable(library: Library, model_id: str) -> ModelEntry | None:
    """Return the model of that id, which may be a path, if it is there and whole."""
    try:
        entry = library.find(model_id) if model_id else None
    except FlintError:
        return None
    return None if entry is None or entry.problem else entry


def _ask(asker: Asker, question: str, *, as_json: bool) -> int:
    """Ask, print what was answered, and return the exit status: the error's code, 130 when it was stopped."""
    reply = asker.ask(question, echo=None if as_json else sys.stdout)
    if reply.error:
        return complain(reply.error)
    if as_json and reply.facts:
        print_json(reply_json(reply, reply.facts))
    if asker.unsaved:
        return complain(asker.unsaved.info())
    return 130 if reply.state == "cancelled" else 0


def _converse(asker: Asker) -> None:
    import readline  # noqa: F401 - line editing and history for input()

    note(HELP)
    while True:
        try:
            line = input("> ").strip()
        except (EOFError, KeyboardInterrupt):
            say("")
            return
        if line in ("/quit", "/exit", "/q"):
            return
        if line == "/new":
            asker.begin(asker.model_id, None)
        elif line.startswith("/"):
            note(HELP)
        elif line:
            reply = asker.ask(line, echo=sys.stdout)
            if reply.error:
                complain(reply.error)
            elif asker.unsaved:
                complain(asker.unsaved.info())
