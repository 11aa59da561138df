"""What models are on this machine: Flint's own folder, the Hugging Face cache in place, and the starter."""

import contextlib
import dataclasses
import difflib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.core.errors import FlintError, ModelBroken, ModelNotFound
from engine.core.facts import ModelEntry
from engine.core.paths import Paths
from engine.models import starter
from engine.models.facts import Facts, read_config, read_facts
from engine.models.generation_config import read_recommended
from engine.models.huggingface_cache import CachedRepository, cache_folder, cached_repositories
from engine.models.integrity import problem_of
from engine.models.names import human_name
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
        # A GGUF's header holds its whole vocabulary: what was read is kept until the file changes.
        self._headers: dict[tuple[str, int, int], tuple[str, int, str, str]] = {}

    @property
    def models_folder(self) -> Path:
        """The folder of Flint's own models."""
        return self._own

    def entries(self) -> tuple[ModelEntry, ...]:
        """Return every model found: ready ones first, then those to be imported, then those with a problem; by name."""
        first = self.starter()
        found = [] if first is None else [first]
        ids = {entry.id for entry in found}
        for entry in (*self._own_entries(), *self._cached_entries()):
            if entry.id in ids:
                entry = dataclasses.replace(entry, id=entry.path)
            ids.add(entry.id)
            found.append(entry)
        return tuple(
            sorted(found, key=lambda entry: (entry.problem != "", entry.kind != "mlx", entry.name.casefold(), entry.id))
        )

    def starter(self) -> ModelEntry | None:
        """Return the starter, imported or not; None where its package is not installed."""
        source = starter.starter_file(self._package)
        if source is None:
            return None
        for folder in _folders(self._own):
            if _comes_from(folder, source):
                entry = _folder_entry(folder, "starter", starter.ID, starter.NAME)
                if not entry.problem:
                    return entry
        # Not imported, or its folder was damaged since: importing it again mends that.
        return self._gguf_entry(source, "starter", starter.ID, starter.NAME)

    def find(self, name: str) -> ModelEntry:
        """Return the model of that id or name, or at that path (a model folder or a .gguf anywhere).

        Raises `ModelNotFound`, with the names that come nearest.
        """
        entries = self.entries()
        wanted = name.strip().casefold()
        for matches in (
            [entry for entry in entries if entry.id == name],
            [entry for entry in entries if wanted in (entry.id.casefold(), entry.name.casefold())],
            [entry for entry in entries if wanted == entry.id.rpartition("/")[2].casefold()],
        ):
            if matches:
                return matches[0]
        path = Path(name).expanduser()
        if _exists(path):
            return self._at(path.absolute(), entries)
        if path.is_absolute() or name.startswith((".", "~")) or path.suffix == ".gguf":
            raise ModelNotFound(f"There is no file or folder {path}.", "Check the path. " + ModelNotFound.default_hint)
        raise ModelNotFound(f"There is no model “{name}” on this machine.", _hint(name, entries))

    def _at(self, path: Path, entries: tuple[ModelEntry, ...]) -> ModelEntry:
        for entry in entries:
            if Path(entry.path) == path or Path(entry.path).resolve() == path.resolve():
                return entry
        if path.is_dir():
            return _folder_entry(path, "folder", str(path), human_name(path.name))
        if path.suffix.lower() == ".gguf" or _starts_as_gguf(path):
            return self._gguf_entry(path, "folder", str(path), human_name(path.stem))
        raise ModelBroken(f"{path.name} is neither a model folder nor a GGUF file.", "Name a model folder or a .gguf file.")

    def _own_entries(self) -> Iterator[ModelEntry]:
        source = starter.starter_file(self._package)
        for folder in _folders(self._own):
            if source is not None and _comes_from(folder, source):
                continue  # The starter's entry stands for it.
            if any(next(folder.glob(pattern), None) for pattern in _MODEL_FILES):
                record = read_record(folder)
                name = record.name if record is not None else human_name(folder.name)
                yield _folder_entry(folder, "flint", folder.name, name)
        for path in _ggufs(self._own):
            yield self._gguf_entry(path, "flint", path.name, human_name(path.stem))

    def _cached_entries(self) -> Iterator[ModelEntry]:
        for repository in cached_repositories(self._cache):
            snapshot = repository.snapshot
            files = [] if snapshot is None else _ggufs(snapshot)
            if snapshot is not None and files and not (snapshot / "config.json").exists():
                for path in files:
                    yield self._gguf_entry(path, "huggingface", f"{repository.id}/{path.name}", human_name(path.stem))
            else:
                yield _cached_entry(repository)

    def _gguf_entry(self, path: Path, origin: str, model_id: str, name: str) -> ModelEntry:
        from engine.models.gguf_header import size_of_parts

        try:
            status, size = path.stat(), size_of_parts(path)
        except OSError as error:
            return _entry(model_id, name, path, origin, "gguf", problem=f"{path.name} could not be read: {error.strerror}.")
        key = (str(path), size, status.st_mtime_ns)
        if key not in self._headers:
            self._headers[key] = _gguf_facts(path)
        architecture, context, quantization, problem = self._headers[key]
        return _entry(
            model_id,
            name,
            path,
            origin,
            "gguf",
            size_bytes=size,
            architecture=architecture,
            context=context,
            quantization=quantization,
            problem=problem,
        )


def _entry(model_id: str, name: str, path: Path, origin: str, kind: str, **facts: object) -> ModelEntry:
    values: dict[str, object] = {"size_bytes": 0, **facts}
    return ModelEntry(id=model_id, name=name, path=str(path), origin=origin, kind=kind, **values)  # type: ignore[arg-type]


def _folder_entry(folder: Path, origin: str, model_id: str, name: str, problem: str = "") -> ModelEntry:
    problem = problem or problem_of(folder)
    try:
        # The config alone: the weights' headers were just read to check them.
        facts: Facts | None = read_facts(read_config(folder))
    except FlintError:
        facts = None
    return _entry(
        model_id,
        name,
        folder,
        origin,
        "mlx",
        size_bytes=_size(folder),
        architecture=facts.model_type if facts else "",
        context=facts.context if facts else 0,
        quantization=facts.quantization if facts else "",
        problem=problem,
        recommended=read_recommended(folder),
    )


def _cached_entry(repository: CachedRepository) -> ModelEntry:
    name = human_name(repository.id.rpartition("/")[2])
    folder = repository.snapshot or repository.folder
    problem = problem_of(folder) if repository.snapshot is not None else "unfinished"
    if problem:
        # A snapshot's folder is named by its commit, which tells people nothing.
        problem = problem.replace(folder.name, repository.id)
        if repository.unfinished:
            problem = f"The download of {repository.id} is not finished."
    return _folder_entry(folder, "huggingface", repository.id, name, problem)


def _gguf_facts(path: Path) -> tuple[str, int, str, str]:
    """Return architecture, context, the kind that most bytes are stored in, and the problem of a GGUF."""
    from engine.models.gguf_header import read_header  # Here, as the next: a window is shown before any list is made.
    from engine.models.gguf_model import read_model

    try:
        header = read_header(path)
    except FlintError as error:
        return "", 0, "", error.text
    sizes: dict[str, int] = {}
    for info in header.tensors:
        sizes[info.kind] = sizes.get(info.kind, 0) + info.size
    context = header.metadata.get(f"{header.architecture}.context_length", 0)
    facts = header.architecture, context if isinstance(context, int) else 0, max(sizes, key=lambda k: sizes[k], default="")
    try:
        read_model(header)
    except FlintError as error:
        return (*facts, error.text)
    return (*facts, "")


def _folders(root: Path) -> list[Path]:
    """Return the visible folders in `root`; none when it does not exist or may not be read."""
    try:
        return sorted(path for path in root.iterdir() if not path.name.startswith(".") and path.is_dir())
    except OSError:
        return []


def _ggufs(root: Path) -> list[Path]:
    """Return the visible GGUF files in `root`; of one in several parts the first there is, which stands for all."""
    from engine.models.gguf_header import first_parts

    try:
        found = [path for path in root.iterdir() if path.suffix.lower() == ".gguf" and not path.name.startswith(".")]
    except OSError:
        return []
    return first_parts(found)


def _comes_from(folder: Path, source: Path) -> bool:
    """Say whether Flint made `folder` from the file `source`, by its name and size: hashing it would take too long here."""
    record = read_record(folder)
    return record is not None and (record.source_name, record.source_size) == (source.name, source.stat().st_size)


def _starts_as_gguf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False


def _size(folder: Path) -> int:
    """Return the bytes of the files in `folder`, those behind links included."""
    total = 0
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                total += path.stat().st_size if path.is_file() else 0
    return total


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


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # A name too long for a file, or one with a NUL in it.
        return False
