"""The header of one GGUF file, read by hand: nothing in it is trusted before it was checked against the file's size.

Layout (GGUF 2 and 3, little-endian): magic, version, number of tensors, number of metadata entries; the entries; a
description of each tensor; padding to the alignment; the tensors' bytes.
"""

import array
import itertools
import math
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from engine.core.errors import ModelBroken, ModelNotFound, ModelUnsupported
from engine.core.presence import file_there, folder_there
from engine.models.gguf_kinds import KINDS

MAGIC = b"GGUF"
VERSIONS = (2, 3)
DEFAULT_ALIGNMENT = 32

# The largest vocabularies have some 260,000 tokens and twice as many merges: all of it in 20 MB. What goes past these bounds
# was made to take memory.
MAX_HEADER_BYTES = 64 * 2**20
MAX_TEXT_BYTES = 16 * 2**20
MAX_NAME_BYTES = 2**16
MAX_ITEMS = 2 * 2**20
MAX_ENTRIES = 2**16
MAX_TENSORS = 2**18
MAX_DIMENSIONS = 4

_STRING, _ARRAY = 8, 9
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_NOT_A_GGUF = "Choose a file whose name ends in .gguf. If this one does, download it again."
_DOWNLOAD_AGAIN = "Download the file again."


@dataclass(frozen=True)
class TensorInfo:
    """One tensor of the file: `shape` outermost dimension first, `offset` and `size` in bytes of the file."""

    name: str
    kind: str
    shape: tuple[int, ...]
    offset: int
    size: int


@dataclass(frozen=True)
class Part:
    """One of the files that hold a model, and its bytes."""

    path: Path
    size: int


@dataclass(frozen=True)
class Header:
    """A checked header: `metadata` as Python values (numeric lists as `array.array`), the `tensors` in the file's order.

    A model in several files has one header: `parts` are the files, `path` is the first, and offsets and `file_size` are those
    of all of them laid end to end.
    """

    path: Path
    version: int
    metadata: Mapping[str, Any]
    tensors: tuple[TensorInfo, ...]
    file_size: int
    parts: tuple[Part, ...]

    @property
    def architecture(self) -> str:
        """The model's architecture as the file names it, as “llama”; empty when it does not say."""
        value = self.metadata.get("general.architecture")
        return value if isinstance(value, str) else ""

    def read(self, info: TensorInfo) -> bytes:
        """Return the bytes of a small tensor; raises `ModelBroken`."""
        start = 0
        for part in self.parts:
            if info.offset < start + part.size:
                break
            start += part.size
        try:
            with part.path.open("rb") as file:
                file.seek(info.offset - start)
                data = file.read(info.size)
        except OSError as error:
            raise ModelBroken(f"{part.path.name} could not be read: {error.strerror}.") from error
        if len(data) != info.size:
            raise ModelBroken(f"{part.path.name} became shorter while it was read.", _DOWNLOAD_AGAIN)
        return data


class _Reader:
    """Reads forward and refuses whatever would reach past the end of the file before taking memory for it."""

    def __init__(self, file: BinaryIO, path: Path, size: int) -> None:
        self.file, self.path, self.left = file, path, size
        self.size = size
        self.items_left = MAX_ITEMS

    def cut_short(self) -> ModelBroken:
        return ModelBroken(f"{self.path.name} is cut short: it ends before its contents do.", _DOWNLOAD_AGAIN)

    def damaged(self, what: str) -> ModelBroken:
        return ModelBroken(f"{self.path.name} is damaged: {what}.", _DOWNLOAD_AGAIN)

    def take(self, count: int) -> bytes:
        if count > self.left:
            raise self.cut_short()
        if self.size - self.left + count > MAX_HEADER_BYTES:
            raise self.damaged("its header is longer than any model's")
        data = self.file.read(count)
        if len(data) != count:
            raise self.cut_short()
        self.left -= count
        return data

    def number(self, code: str) -> Any:
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def count(self, smallest: int, most: int, what: str) -> int:
        """Read a count of things that take at least `smallest` bytes each and of which there may be `most`."""
        value = int(self.number("Q"))
        if value * smallest > self.left:
            raise self.cut_short()
        if value > most:
            raise self.damaged(f"its header has more {what} than any model")
        return value

    def text(self, most: int = MAX_TEXT_BYTES) -> str:
        length = self.number("Q")
        if length > self.left:
            raise self.cut_short()
        if length > most:
            raise self.damaged("a text in its header is longer than any text could be")
        try:
            return self.take(length).decode("utf-8")
        except UnicodeDecodeError:
            raise self.damaged("a text in its header is not UTF-8") from None

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            return self.items()
        if kind not in _SCALARS:
            raise self.damaged(f"its header uses value kind {kind}, which does not exist")
        return self.number(_SCALARS[kind])

    def items(self) -> Any:
        kind = self.number("I")
        if kind == _ARRAY:
            raise self.damaged("its header has a list of lists")
        if kind != _STRING and kind not in _SCALARS:
            raise self.damaged(f"its header uses value kind {kind}, which does not exist")
        width = 8 if kind == _STRING else struct.calcsize("<" + _SCALARS[kind])
        length = self.count(width, 2**64, "items")
        # Counted over all lists: many of them could take as much as a long one.
        if length > self.items_left:
            raise self.damaged("a list in its header is longer than any vocabulary")
        self.items_left -= length
        if kind == _STRING:
            return [self.text() for _ in range(length)]
        values: array.array[Any] = array.array("B" if kind == 7 else _SCALARS[kind])
        values.frombytes(self.take(length * width))
        if sys.byteorder == "big":
            values.byteswap()
        return values


def read_file(path: Path) -> Header:
    """Read and check the header of one GGUF file: every count, length and tensor lies inside the file.

    Raises `ModelNotFound` when there is no such file, `ModelBroken` when it is not a GGUF, cut short or damaged, and
    `ModelUnsupported` for another version of the format or a tensor kind that has no known size.
    """
    try:
        size = path.stat().st_size
        if not (file_there(path) or folder_there(path)):  # To read a pipe would wait for ever.
            raise ModelBroken(f"{path.name} is not a file on a disk.", _NOT_A_GGUF)
        with path.open("rb") as file:
            return read_open(file, path, size)
    except FileNotFoundError:
        raise ModelNotFound(f"There is no file {path}.", "Check the path.") from None
    except IsADirectoryError:
        raise ModelBroken(f"{path.name} is a folder, not a GGUF file.", _NOT_A_GGUF) from None
    except OSError as error:
        raise ModelBroken(f"{path.name} could not be read: {error.strerror}.", "Check the file's permissions.") from error


def read_open(file: BinaryIO, path: Path, size: int) -> Header:
    """Read and check the header of the open `file` of `size` bytes: no byte after the header is read. Raises as `read_file`."""
    return _read(_Reader(file, path, size))


def _read(reader: _Reader) -> Header:
    if reader.left < 4 or reader.take(4) != MAGIC:
        raise ModelBroken(f"{reader.path.name} is not a GGUF file.", _NOT_A_GGUF)
    version = reader.number("I")
    if version not in VERSIONS:
        raise ModelUnsupported(
            f"{reader.path.name} is GGUF version {version}; Flint reads versions 2 and 3.",
            "Choose a file made with a current converter (version 3, little-endian).",
        )
    tensor_count = reader.count(8 + 4 + 8 + 4 + 8, MAX_TENSORS, "tensors")
    entry_count = reader.count(8 + 4 + 1, MAX_ENTRIES, "entries")
    metadata: dict[str, Any] = {}
    for _ in range(entry_count):
        key = reader.text(MAX_NAME_BYTES)
        if key in metadata:
            raise reader.damaged(f"its header says “{key}” twice")
        metadata[key] = reader.value(reader.number("I"))
    described = [_describe(reader) for _ in range(tensor_count)]
    alignment = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
    if isinstance(alignment, bool) or not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
        raise reader.damaged("its alignment is not a power of two")
    start = -(-(reader.size - reader.left) // alignment) * alignment
    tensors = _placed(reader, described, start, alignment)
    return Header(reader.path, version, metadata, tensors, reader.size, (Part(reader.path, reader.size),))


def _describe(reader: _Reader) -> TensorInfo:
    name = reader.text(MAX_NAME_BYTES)
    count = reader.number("I")
    if not 1 <= count <= MAX_DIMENSIONS:
        raise reader.damaged(f"its tensor {name} has {count} dimensions")
    # The file names the innermost dimension first.
    shape = tuple(reader.number("Q") for _ in range(count))[::-1]
    kind = reader.number("I")
    offset = reader.number("Q")
    if kind not in KINDS:
        raise ModelUnsupported(
            f"{reader.path.name} holds tensors of kind number {kind}, which Flint does not know.",
            "Choose a Q8_0, Q4_0, Q4_1 or F16 file of the same model.",
        )
    label, block, width = KINDS[kind]
    if min(shape) < 1 or shape[-1] % block:
        raise reader.damaged(f"its tensor {name} has an impossible shape")
    return TensorInfo(name, label, shape, offset, math.prod(shape) // block * width)


def _placed(reader: _Reader, described: list[TensorInfo], start: int, alignment: int) -> tuple[TensorInfo, ...]:
    names: set[str] = set()
    placed = []
    for info in described:
        if info.name in names:
            raise reader.damaged(f"its tensor {info.name} is described twice")
        names.add(info.name)
        if info.offset % alignment:
            raise reader.damaged(f"its tensor {info.name} is not aligned")
        if start + info.offset + info.size > reader.size:
            raise reader.cut_short()
        placed.append(TensorInfo(info.name, info.kind, info.shape, start + info.offset, info.size))
    in_order = sorted(placed, key=lambda info: info.offset)
    for before, after in itertools.pairwise(in_order):
        if before.offset + before.size > after.offset:
            raise reader.damaged(f"its tensors {before.name} and {after.name} share bytes")
    return tuple(placed)
