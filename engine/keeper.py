"""Serves what is asked of the models that are here: list, remove, rename, notes, templates, whether the hub has a newer one."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from engine.core.errors import UsageError
from engine.core.hub_errors import RepositoryMissing
from engine.core.keep_messages import (
    AskModelTemplate,
    CheckForUpdate,
    ModelRemoved,
    NoteModel,
    RemoveModel,
    RenameModel,
    UpdateChecked,
)
from engine.core.messages import Command, Event, ListModels, ModelsListed
from engine.models.fact_words import remedy
from engine.models.hub import Hub
from engine.models.huggingface_cache import repository_of
from engine.models.library import Library
from engine.models.naming import free_name

type Work = Callable[[Command], Iterator[Event]]


class Keeper:
    """Carries out the commands of `handles`, on the thread that calls it.

    `let_go` is told the path of a model that is about to be removed: this Flint may have it loaded itself.
    """

    def __init__(self, library: Library, hub: Hub, let_go: Callable[[str], object]) -> None:
        self._library = library
        self._hub = hub
        self._let_go = let_go
        self._work: dict[type, Work] = {
            ListModels: self._list,
            RemoveModel: self._remove,
            RenameModel: self._rename,
            NoteModel: self._note,
            AskModelTemplate: self._template,
            CheckForUpdate: self._check,
        }

    def handles(self, command: Command) -> bool:
        """Whether a command is one of these."""
        return type(command) in self._work

    def carry_out(self, command: Command) -> Iterator[Event]:
        """Yield what comes of a command, but its end. Raises the `FlintError`s of what it calls."""
        yield from self._work[type(command)](command)

    def _list(self, command: Command) -> Iterator[Event]:
        from engine.models.removal import sweep

        yield ModelsListed(command.request_id, self._library.entries())
        sweep(self._library.folders)

    def _remove(self, command: Command) -> Iterator[Event]:
        assert isinstance(command, RemoveModel)
        self._let_go(self._library.place(command.model_id).path)
        yield replace(removed(self._library, command.model_id, for_good=command.for_good), request_id=command.request_id)

    def _rename(self, command: Command) -> Iterator[Event]:
        assert isinstance(command, RenameModel)
        rename(self._library, command.model_id, command.name)
        yield ModelsListed(command.request_id, self._library.entries())

    def _note(self, command: Command) -> Iterator[Event]:
        assert isinstance(command, NoteModel)
        self._library.notebook.write(self._library.find(command.model_id).id, command.notes)
        yield ModelsListed(command.request_id, self._library.entries())

    def _template(self, command: Command) -> Iterator[Event]:
        assert isinstance(command, AskModelTemplate)
        from engine.inference.own_template import tried

        outcome = tried(self._library.find(command.model_id), self._library.notebook, command.draft)
        yield replace(outcome, request_id=command.request_id)

    def _check(self, command: Command) -> Iterator[Event]:
        assert isinstance(command, CheckForUpdate)
        yield replace(update_of(self._library, self._hub, command.model_id), request_id=command.request_id)


def removed(library: Library, name: str, *, for_good: bool = False) -> ModelRemoved:
    """Remove a model and say what came of it. Raises as `removal.remove`, and `ModelNotFound`."""
    from engine.models.removal import remove

    entry = library.place(name)
    freed, trash = remove(entry, for_good=for_good)
    return ModelRemoved("", entry.id, entry.name, freed, trash)


def rename(library: Library, name: str, new: str) -> None:
    """Call a model by another name. Raises `UsageError` where another one has it, or it is none."""
    entry = library.find(name)
    library.notebook.rename(entry.id, free_name(new, library.entries(), but=entry.id))


def update_of(library: Library, hub: Hub, name: str) -> UpdateChecked:
    """Ask the hub for the newest version of a model. Raises a `HubError`, or `UsageError` for one that is not from there."""
    entry = library.find(name)
    if entry.download:
        raise UsageError(f"{entry.name} is not here whole yet.", remedy(entry))
    paths = [entry.path, *(copy.path for copy in entry.copies)]
    known = next(((path, *found) for path in paths if (found := repository_of(path)) is not None), None)
    if known is None:
        raise UsageError(f"{entry.name} is not from the hub, so it has no newer version there.", "Nothing was asked.")
    path, model_id, here = known
    if path.endswith(".gguf"):  # One of the models of its repository.
        model_id = f"{model_id}/{Path(path).name}"
    try:
        there = hub.newest(model_id)
    except RepositoryMissing as error:
        hint = "It was taken away or made private there. The model here stays and works."
        raise RepositoryMissing(error.text, hint) from error
    return UpdateChecked("", model_id, here != there, here, there)
