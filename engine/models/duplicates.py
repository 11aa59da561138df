"""The same model in several places, recognised without reading gigabytes, and listed once.

Content is known by the SHA-256 that names a blob or that an import noted; else by size and samples of the weights.
"""

import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path

from engine.core.facts import ModelCopy, ModelEntry
from engine.models.content_sample import content_sample
from engine.models.record import read_record

_SHA256 = re.compile(r"(?:sha256-)?([0-9a-f]{64})")

type _Key = tuple[object, ...]


class Duplicates:
    """Merges entries of one model; samples are kept until the files change."""

    def __init__(self) -> None:
        self._samples: dict[tuple[str, int, int], str] = {}

    def merged(self, entries: Iterable[ModelEntry]) -> list[ModelEntry]:
        """Return the entries with each model once, the first of its entries, which then tells where else it is.

        Two of Flint's own folders stay two: whoever copied one wants both. What can't be used stands for itself.
        """
        first: dict[_Key, int] = {}
        found: list[ModelEntry] = []
        for entry in entries:
            known_by, found_by = ([], []) if entry.problem else self._keys(entry)
            place = next((first[key] for key in (*known_by, *found_by) if key in first), None)
            if place is not None and not (entry.origin == found[place].origin == "flint" and entry.kind == "mlx"):
                copy = ModelCopy(entry.id, entry.path, entry.origin, entry.disk_bytes)
                found[place] = dataclasses.replace(found[place], copies=(*found[place].copies, copy))
            else:
                place = len(found)
                found.append(entry)
            for key in known_by:
                first.setdefault(key, place)
        return found

    def _keys(self, entry: ModelEntry) -> tuple[list[_Key], list[_Key]]:
        """Return what an entry's content is known by, and what else finds the model that was made of it."""
        path = Path(entry.path)
        try:
            return self._of_gguf(path, entry.size_bytes) if entry.kind == "gguf" else (self._of_folder(path), [])
        except (OSError, RuntimeError):
            return [], []

    def _of_gguf(self, path: Path, size: int) -> tuple[list[_Key], list[_Key]]:
        keys: list[_Key] = [("gguf", size, self._sample(path))]
        match = _SHA256.fullmatch(path.resolve().name)
        # The name and the size find what an earlier Flint imported; two files are not the same for them.
        return [*keys, ("sha256", match[1])] if match else keys, [("imported", path.name, size)]

    def _of_folder(self, folder: Path) -> list[_Key]:
        weights = sorted(folder.glob("model*.safetensors"))
        keys: list[_Key] = [("folder", *((path.name, path.stat().st_size, self._sample(path)) for path in weights))]
        record = read_record(folder)
        if record is not None and record.source_sha256:
            keys.append(("sha256", record.source_sha256))
            if record.source_sample:
                keys.append(("gguf", record.source_size, record.source_sample))
            else:
                keys.append(("imported", record.source_name, record.source_size))
        return keys

    def _sample(self, path: Path) -> str:
        status = path.stat()
        key = (str(path), status.st_size, status.st_mtime_ns)
        if key not in self._samples:
            self._samples[key] = content_sample(path)
        return self._samples[key]
