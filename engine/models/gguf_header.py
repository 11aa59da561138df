"""The header of a GGUF model, in one file or in several that lie beside each other.

llama.cpp splits a model into `NAME-00001-of-00003.gguf` and so on. Each is a GGUF of its own; the first says everything about
the model, the others describe their tensors. Any part stands for the whole model.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from engine.core.errors import ModelBroken, ModelUnsupported
from engine.core.presence import file_there
from engine.models.gguf_file import Header, Part, TensorInfo, read_file

# Each is a file held open. The largest models come in some 60.
MAX_PARTS = 128

_PART = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf", re.IGNORECASE)


def read_header(path: Path) -> Header:
    """Read and check the header of a GGUF and of all its parts: every count, length and tensor lies inside its file.

    Raises `ModelNotFound` when there is no such file; `ModelBroken` when it is not a GGUF, cut short, damaged or lacks parts,
    which are named; `ModelUnsupported` for another version of the format or a tensor kind that has no known size.
    """
    header = read_file(path)
    count = header.metadata.get("split.count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MAX_PARTS:
        raise ModelBroken(f"{path.name} is damaged: it is one of {count} parts.", "Download the file again.")
    return header if count < 2 else _joined(header, _parts(path, count))


def first_parts(paths: Iterable[Path]) -> list[Path]:
    """Return files in order of their names, of those that are parts of one model by their names only the first."""
    found: dict[Path, Path] = {}
    for path in sorted(paths):
        match = _PART.fullmatch(path.name)
        found.setdefault(path.with_name(f"{match[1]}-of-{match[3]}") if match else path, path)
    return list(found.values())


def size_of_parts(path: Path) -> int:
    """Return the bytes of a file, or of all the parts of a model that are there; raises `OSError` when `path` is not."""
    return path.stat().st_size + sum(part.stat().st_size for part in parts_there(path) if part != path)


def parts_there(path: Path) -> list[Path]:
    """Return a file, or all the parts of the model it is of that are there."""
    match = _PART.fullmatch(path.name)
    if match is None or int(match[3]) > MAX_PARTS:
        return [path]
    return [part for name in _names(path, match[1], int(match[3])) if file_there(part := path.with_name(name))]


def _names(path: Path, stem: str, count: int) -> list[str]:
    return [f"{stem}-{number:05}-of-{count:05}{path.suffix}" for number in range(1, count + 1)]


def _parts(path: Path, count: int) -> list[Path]:
    """Return the paths of all parts, in order; raises `ModelBroken`, naming those that are not there."""
    match = _PART.fullmatch(path.name)
    if match is None:
        raise ModelUnsupported(
            f"{path.name} is one part of a model in {count} files, and its name does not say which.",
            f"Name the parts NAME-00001-of-{count:05}.gguf and so on, in one folder.",
        )
    if int(match[3]) != count:
        raise ModelBroken(f"{path.name} is one of {count} parts, which its name contradicts.", "Give it its first name again.")
    paths = [path.with_name(name) for name in _names(path, match[1], count)]
    missing = [part.name for part in paths if not file_there(part)]
    if missing:
        others = f" and {missing[1]}" if len(missing) == 2 else f" and {len(missing) - 1} more parts" if missing[1:] else ""
        raise ModelBroken(
            f"{match[1]} is in {count} files, of which {missing[0]}{others} {'are' if others else 'is'} missing.",
            f"Download all of them into {path.parent}.",
        )
    return paths


def _joined(asked: Header, paths: list[Path]) -> Header:
    """Return the one header of all the parts: their tensors, with offsets as if the files were laid end to end.

    Only the metadata of the first and of the one asked for stays in memory while the others are read.
    """
    first = asked if asked.path == paths[0] else read_file(paths[0])
    read = {first.path: first, asked.path: asked}
    size, names = 0, set()
    tensors: list[TensorInfo] = []
    parts: list[Part] = []
    for number, path in enumerate(paths):
        header = read.get(path) or read_file(path)
        stated = (header.metadata.get("split.no"), header.metadata.get("split.count"))
        if stated != (number, len(paths)):
            raise ModelBroken(
                f"{path.name} is not part {number + 1} of {len(paths)}.", "Download all parts of the model again."
            )
        for info in header.tensors:
            if info.name in names:
                raise ModelBroken(f"{path.name} holds {info.name}, as another part does.", "Download all parts again.")
            names.add(info.name)
            tensors.append(replace(info, offset=size + info.offset))
        size += header.file_size
        parts += header.parts
    if first.metadata.get("split.tensors.count", len(tensors)) != len(tensors):
        raise ModelBroken(f"The parts of {first.path.name} do not hold all its tensors.", "Download all parts again.")
    return replace(first, tensors=tuple(tensors), file_size=size, parts=tuple(parts))
