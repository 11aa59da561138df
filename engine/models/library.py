"""What models are on this machine: Flint's own folder, the Hugging Face cache and other apps' folders in place, the starter."""

import dataclasses
import difflib
import itertools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.core.errors import ModelBroken, ModelNotFound
from engine.core.facts import ModelEntry
from engine.core.machine import THIS_MACHINE
from engine.core.paths import Paths
from engine.core.presence import closed_at, file_there, folder_there, there
from engine.models import lmstudio, ollama, starter
from engine.models.content_sample import content_sample
from engine.models.duplicates import Duplicates
from engine.models.entries import GgufEntries, cached_entry, entry_of, folder_entry
from engine.models.folders import visible_folders
from engine.models.gguf_header import first_parts, parts_there
from engine.models.huggingface_cache import CachedRepository, cache_folder, cached_repositories
from engine.models.names import full_name, human_name
from engine.models.notebook import Notebook
from engine.models.record import read_record

_MODEL_FILES = ("config.json", "*.safetensors", "tokenizer.json", "flint.json")


class Library:
    """Looks anew at each call: models come and go while Flint runs.

    `models_folder` overrides where Flint's own models are; `starter_package` names the package that carries the starter.
    """

    def __init__(
        self,
        paths: Paths,
        models_folder: Path | None = None,
        environ: Mapping[str, str] = os.environ,
        starter_package: str = starter.PACKAGE,
    ) -> None:
        self._own = models_folder or paths.models
        self._cache = cache_folder(environ)
        self._package = starter_package
        self._environ = environ
        self._ggufs = GgufEntries(paths.cache / "gguf-headers.json")
        self._duplicates = Duplicates()
        self.notebook = Notebook(paths.data / "model-notes.json")

    @property
    def models_folder(self) -> Path:
        """The folder of Flint's own models."""
        return self._own

    @property
    def folders(self) -> tuple[Path, Path]:
        """The folders that Flint removes models from: its own and the Hugging Face cache."""
        return self._own, self._cache

    def entries(self) -> tuple[ModelEntry, ...]:
        """Return every model found: ready ones first, then those to be imported, then those with a problem; by name.

        One that is in several places comes once and tells of the others.
        """
        found = [self._noted(entry) for entry in self._duplicates.merged(self.places())]
        self._ggufs.keep()
        return tuple(
            sorted(found, key=lambda entry: (entry.problem != "", entry.kind != "mlx", entry.name.casefold(), entry.id))
        )

    def closed_folders(self) -> list[Path]:
        """Return the folders that keep Flint from looking for models, theirs or one above: what is in them is not found."""
        closed = (closed_at(folder) for folder in self.folders)
        return list(dict.fromkeys(folder for folder in closed if folder is not None))

    def places(self) -> Iterator[ModelEntry]:
        """Yield every place that holds a model, Flint's own first; no two have the same id."""
        first = self.starter()
        found = () if first is None else (first,)
        ids: set[str] = set()
        others = (self._own_entries(), self._cached_entries(), self._lmstudio_entries(), self._ollama_entries())
        for entry in itertools.chain(found, *others):
            if entry.id in ids:
                entry = dataclasses.replace(entry, id=entry.path)
            ids.add(entry.id)
            yield entry

    def _noted(self, entry: ModelEntry) -> ModelEntry:
        note = self.notebook.of(*_ids(entry))
        return dataclasses.replace(
            entry,
            name=note.name or entry.name,
            renamed=note.name != "",
            notes=note.notes,
            own_template=note.template != "",
            used_at=note.used_at,
        )

    def place(self, name: str) -> ModelEntry:
        """Return the one place that is named by its id or path, else the place that `find` takes. Raises as `find`."""
        places = tuple(self.places())
        exact = [entry for entry in places if name in (entry.id, entry.path)]
        if exact:
            return self._noted(exact[0])
        return self.find(name)

    def starter(self) -> ModelEntry | None:
        """Return the starter, imported or not; None where its package is not installed."""
        source = starter.starter_file(self._package)
        if source is None:
            return None
        for folder in visible_folders(self._own):
            if _comes_from(folder, source):
                entry = folder_entry(folder, "starter", starter.ID, starter.NAME)
                if not entry.problem:
                    return entry
        # Not imported, or its folder was damaged since: importing it again mends that.
        return self._ggufs.entry(source, "starter", starter.ID, starter.NAME)

    def find(self, name: str) -> ModelEntry:
        """Return the model of that id or name, or at that path (a model folder or a .gguf anywhere).

        Raises `ModelNotFound`, with the names that come nearest.
        """
        entries = self.entries()
        wanted = name.strip().casefold()
        for matches in (
            [entry for entry in entries if entry.id == name],
            [entry for entry in entries if wanted in (entry.id.casefold(), entry.name.casefold())],
            [entry for entry in entries if wanted in (each.casefold() for each in _ids(entry))],
            [entry for entry in entries if wanted in (each.rpartition("/")[2].casefold() for each in _ids(entry))],
        ):
            if matches:
                return matches[0]
        path = Path(name).expanduser()
        if there(path):
            return self._at(path.absolute(), entries)
        if path.is_absolute() or name.startswith((".", "~")) or path.suffix == ".gguf":
            raise ModelNotFound(f"There is no file or folder {path}.", "Check the path. " + ModelNotFound.default_hint)
        closed = "".join(f" Flint may not read {folder}; give yourself the right to." for folder in self.closed_folders())
        raise ModelNotFound(f"There is no model “{name}” on {THIS_MACHINE}.", _hint(name, entries) + closed)

    def name_of(self, path: Path) -> str:
        """Return what the model at a path of another app's is called; "" where the file's own name says it."""
        places = itertools.chain(self._lmstudio_entries(), self._ollama_entries())
        return next((entry.name for entry in places if Path(entry.path) == path), "")

    def besides(self, source: Path) -> list[ModelEntry]:
        """Return every model that is not the GGUF `source`, or one of its parts, and was not imported from it."""
        from engine.models.gguf_header import parts_there

        first = parts_there(source)[0]
        sample = content_sample(first)
        return [entry for entry in self.entries() if not _is_at(entry, first) and _sample_of(Path(entry.path)) != sample]

    def _at(self, path: Path, entries: tuple[ModelEntry, ...]) -> ModelEntry:
        for entry in entries:
            if _is_at(entry, path):
                return entry
        if folder_there(path):
            return folder_entry(path, "folder", str(path), human_name(path.name))
        if path.suffix.lower() == ".gguf" or _starts_as_gguf(path):
            return self._ggufs.entry(path, "folder", str(path), human_name(path.stem))
        raise ModelBroken(f"{path.name} is neither a model folder nor a GGUF file.", "Name a model folder or a .gguf file.")

    def _own_entries(self) -> Iterator[ModelEntry]:
        source = starter.starter_file(self._package)
        for folder in visible_folders(self._own):
            if source is not None and _comes_from(folder, source):
                continue  # The starter's entry stands for it.
            if closed_at(folder) or any(next(folder.glob(pattern), None) for pattern in _MODEL_FILES):
                record = read_record(folder)
                name = record.name if record is not None else human_name(folder.name)
                yield folder_entry(folder, "flint", folder.name, name)
        for path in _ggufs(self._own):
            yield self._ggufs.entry(path, "flint", path.name, human_name(path.stem))

    def _cached_entries(self) -> Iterator[ModelEntry]:
        for repository in cached_repositories(self._cache):
            files = _cached_ggufs(repository)
            entries = [
                self._ggufs.entry(path, "huggingface", f"{repository.id}/{path.name}", human_name(path.stem)) for path in files
            ] or [cached_entry(repository)]
            used = [part for path in files for part in parts_there(path)]
            # Counted once, with the first of its models.
            yield dataclasses.replace(entries[0], older_bytes=repository.older_bytes(used))
            yield from entries[1:]

    def _lmstudio_entries(self) -> Iterator[ModelEntry]:
        for root in lmstudio.model_folders(self._environ):
            for repository in lmstudio.repositories(root):
                yield from self._of_lmstudio(repository)

    def _of_lmstudio(self, repository: lmstudio.LmStudioRepository) -> Iterator[ModelEntry]:
        for path in repository.ggufs:
            yield self._ggufs.entry(path, "lmstudio", f"{repository.id}/{path.name}", full_name(path.stem))
        if not repository.ggufs or there(repository.folder / "config.json"):
            problem = f"LM Studio has not finished downloading {repository.id}." if repository.unfinished else ""
            name = human_name(repository.folder.name)
            yield folder_entry(repository.folder, "lmstudio", repository.id, name, problem)

    def _ollama_entries(self) -> Iterator[ModelEntry]:
        for model in ollama.ollama_models(ollama.models_folder(self._environ)):
            if model.problem:
                yield entry_of(model.name, model.name, model.path, "ollama", "gguf", problem=model.problem)
                continue
            entry = self._ggufs.entry(model.path, "ollama", model.name, "")
            name = model.name if entry.name == human_name(model.path.stem) else entry.name
            yield dataclasses.replace(entry, name=name, problem=entry.problem.replace(model.path.name, model.name))


def _ggufs(root: Path) -> list[Path]:
    """Return the visible GGUF files in `root`; of one in several parts the first there is, which stands for all."""
    try:
        found = [path for path in root.iterdir() if path.suffix.lower() == ".gguf" and not path.name.startswith(".")]
    except OSError:
        return []
    return first_parts(found)


def _cached_ggufs(repository: CachedRepository) -> list[Path]:
    """Return the GGUF files of a repository that holds them alone, each in its newest version here.

    They are models of their own: an update of one leaves the others where they were, in an older snapshot.
    """
    snapshot = repository.snapshot
    if snapshot is None or there(snapshot / "config.json") or not _ggufs(snapshot):
        return []
    newest: dict[str, Path] = {}
    for each in repository.snapshots:
        for path in _ggufs(each):
            newest.setdefault(path.name, path)
    return [newest[name] for name in sorted(newest)]


def _ids(entry: ModelEntry) -> list[str]:
    """Return an entry's id and those of its copies."""
    return [entry.id, *(copy.id for copy in entry.copies)]


def _is_at(entry: ModelEntry, path: Path) -> bool:
    known = (Path(entry.path), *(Path(copy.path) for copy in entry.copies))
    return path in known or path.resolve() in (each.resolve() for each in known)


def _sample_of(folder: Path) -> str:
    record = read_record(folder)
    return record.source_sample if record is not None else ""


def _comes_from(folder: Path, source: Path) -> bool:
    """Say whether Flint made `folder` from the file `source`, by its name and size: hashing it would take too long here."""
    record = read_record(folder)
    return record is not None and (record.source_name, record.source_size) == (source.name, source.stat().st_size)


def _starts_as_gguf(path: Path) -> bool:
    try:
        if not file_there(path):  # To read a pipe would wait for ever.
            return False
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False


def _hint(name: str, entries: tuple[ModelEntry, ...]) -> str:
    if not entries:
        return "No model was found at all. `flint models import FILE.gguf` imports one."
    names = {text.casefold(): entry.id for entry in entries for text in (entry.id, entry.name, entry.id.rpartition("/")[2])}
    near = difflib.get_close_matches(name.casefold(), names, n=3, cutoff=0.4)
    near += [text for text in names if name.casefold() in text and text not in near]
    ids = list(dict.fromkeys(names[text] for text in near))[:3]
    if not ids:
        return ModelNotFound.default_hint
    return f"Did you mean {' or '.join(ids)}? {ModelNotFound.default_hint}"
