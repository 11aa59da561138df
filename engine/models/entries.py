"""A model's entry in the list, made from its folder or its GGUF. A GGUF's header holds its vocabulary: what it said is kept."""

import contextlib
import json
from dataclasses import replace
from pathlib import Path

from engine.core.disk import write_whole
from engine.core.errors import FlintError, ModelUnsupported
from engine.core.facts import ModelEntry
from engine.core.json_file import read_object
from engine.core.presence import file_there, there
from engine.models.download_note import Arriving, arriving
from engine.models.facts import Facts, read_config, read_facts
from engine.models.generation_config import read_recommended
from engine.models.huggingface_cache import CachedRepository
from engine.models.integrity import trouble_with
from engine.models.names import human_name

_VERSION = 2

type _GgufFacts = tuple[str, int, str, str, str, bool]


def entry_of(model_id: str, name: str, path: Path, origin: str, kind: str, **facts: object) -> ModelEntry:
    """Return an entry with what is known of it."""
    values: dict[str, object] = {"size_bytes": 0, **facts}
    return ModelEntry(id=model_id, name=name, path=str(path), origin=origin, kind=kind, **values)  # type: ignore[arg-type]


def folder_entry(folder: Path, origin: str, model_id: str, name: str, problem: str = "") -> ModelEntry:
    """Return the entry of a model folder; it says why it can't be used where `problem` does not already."""
    trouble = None if problem else trouble_with(folder)
    try:
        # The config alone: the weights' headers were just read to check them.
        facts: Facts | None = read_facts(read_config(folder))
    except FlintError:
        facts = None
    return entry_of(
        model_id,
        name,
        folder,
        origin,
        "mlx",
        size_bytes=size_of_folder(folder),
        architecture=facts.model_type if facts else "",
        context=facts.context if facts else 0,
        quantization=facts.quantization if facts else "",
        problem=trouble.text if trouble else problem,
        unsupported=isinstance(trouble, ModelUnsupported),
        recommended=read_recommended(folder),
    )


def cached_entry(repository: CachedRepository) -> ModelEntry:
    """Return the entry of a repository in the Hugging Face cache."""
    name = human_name(repository.id.rpartition("/")[2])
    folder = repository.snapshot or repository.folder
    entry = folder_entry(folder, "huggingface", repository.id, name)
    if not entry.problem:
        return entry
    if repository.unfinished:
        return _arriving_entry(entry, arriving(repository.folder))
    # A snapshot's folder is named by its commit, which tells people nothing.
    return replace(entry, problem=entry.problem.replace(folder.name, repository.id))


def _arriving_entry(entry: ModelEntry, found: Arriving) -> ModelEntry:
    if found.running:
        problem = f"Downloading, {found.text}".removesuffix(", ")
    elif found.text:
        problem = f"Unfinished: {found.text} are here."
    else:
        problem = f"The download of {entry.id} is not finished."
    return replace(
        entry,
        problem=problem,
        unsupported=False,
        size_bytes=found.done,
        download="running" if found.running else "stopped",
    )


class GgufEntries:
    """Makes the entries of GGUFs, and reads a file's header again only when the file changed.

    What a header said is kept in the file `known` between runs: reading vocabularies takes a quarter of a second each. Only of
    models that can be imported: what is wrong with another may be nothing to the next Flint.
    """

    def __init__(self, known: Path) -> None:
        self._file = known
        self._headers: dict[str, _GgufFacts] | None = None
        self._new = False

    def keep(self) -> None:
        """Write what is new to the file; where that can't be written, headers are read again the next time."""
        if not self._new or self._headers is None:
            return
        self._new = False
        kept = {key: facts for key, facts in self._headers.items() if not facts[3] and there(key.rpartition("|")[0])}
        with contextlib.suppress(OSError, FlintError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file, [json.dumps({"version": _VERSION, "files": kept})], private=True)

    def _facts(self, path: Path, size: int, changed_ns: int) -> _GgufFacts:
        if self._headers is None:
            self._headers = _read_known(self._file)
        key = f"{path}|{size}:{changed_ns}"
        if key not in self._headers:
            self._headers[key] = _gguf_facts(path)
            self._new = True
        return self._headers[key]

    def entry(self, path: Path, origin: str, model_id: str, name: str) -> ModelEntry:
        """Return the entry of the GGUF at `path`; with an empty name it gets the one that the file gives, or its own."""
        from engine.models.gguf_header import size_of_parts

        try:
            status, size = path.stat(), size_of_parts(path)
        except OSError as error:
            problem = f"{path.name} could not be read: {error.strerror}."
            return entry_of(model_id, name or human_name(path.stem), path, origin, "gguf", problem=problem)
        architecture, context, quantization, problem, named, unsupported = self._facts(path, size, status.st_mtime_ns)
        return entry_of(
            model_id,
            name or named or human_name(path.stem),
            path,
            origin,
            "gguf",
            size_bytes=size,
            architecture=architecture,
            context=context,
            quantization=quantization,
            problem=problem,
            unsupported=unsupported,
        )


def _read_known(file: Path) -> dict[str, _GgufFacts]:
    """Return what an earlier run kept; nothing where that can't be read or is of another make."""
    try:
        document = read_object(file)
        files = document["files"] if document.get("version") == _VERSION else {}
        return {
            str(key): (str(architecture), int(context), str(quantization), str(problem), str(named), bool(unsupported))
            for key, (architecture, context, quantization, problem, named, unsupported) in files.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _gguf_facts(path: Path) -> _GgufFacts:
    """Return architecture, context, the kind that most bytes are stored in, the problem, the given name and whether the problem
    is that it is of a kind that Flint does not run."""
    from engine.models.gguf_header import read_header  # Here, as the next: a window is shown before any list is made.
    from engine.models.gguf_model import read_model
    from engine.models.gguf_names import given_name

    try:
        header = read_header(path)
    except FlintError as error:
        return "", 0, "", error.text, "", isinstance(error, ModelUnsupported)
    sizes: dict[str, int] = {}
    for info in header.tensors:
        sizes[info.kind] = sizes.get(info.kind, 0) + info.size
    context = header.metadata.get(f"{header.architecture}.context_length", 0)
    facts = header.architecture, context if isinstance(context, int) else 0, max(sizes, key=lambda k: sizes[k], default="")
    problem, unsupported = "", False
    try:
        read_model(header)
    except FlintError as error:
        problem, unsupported = error.text, isinstance(error, ModelUnsupported)
    return (*facts, problem, given_name(header.metadata), unsupported)


def size_of_folder(folder: Path) -> int:
    """Return the bytes of the files in `folder`, those behind links included."""
    total = 0
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                total += path.stat().st_size if file_there(path) else 0
    return total
