"""What stands in a branch for rows and states that are on disk: their place, without their bytes; the way there and back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np

from engine.cache.pieces import Piece
from engine.cache.snapshot import Snapshot
from engine.cache.stored_file import Buffer, Header, Place, StoredBroken, Tensor, read_header, read_tensors
from engine.models.safetensors_file import TensorSpec

DTYPES: dict[str, mx.Dtype] = {
    "F32": mx.float32, "F16": mx.float16, "BF16": mx.bfloat16, "U32": mx.uint32, "I32": mx.int32, "U8": mx.uint8,
    "I64": mx.int64, "U16": mx.uint16, "I16": mx.int16, "I8": mx.int8, "BOOL": mx.bool_,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}

type State = dict[int, Snapshot]
"""The state of every recurrent layer, by layer."""


@dataclass(eq=False)
class StoredFile:
    """A file of the cache: where it is, its bytes, and the tokens of its path."""

    path: Path
    size: int
    length: int


@dataclass(slots=True, eq=False)
class StoredPiece:
    """The rows at positions `start` to `stop` of a layer, in a file that holds those from `first` to `last` in one run."""

    file: StoredFile
    layer: int
    first: int
    last: int
    start: int
    stop: int

    nbytes = 0
    """Bytes in memory."""

    @property
    def run(self) -> tuple[int, int, int]:
        """Layer, first and last position of what the file holds in one run."""
        return self.layer, self.first, self.last

    def part(self, start: int, stop: int) -> "StoredPiece":
        """Return what stands for the rows at the positions from `start` to `stop`."""
        first, last = max(start, self.start), min(stop, self.stop)
        if (first, last) == (self.start, self.stop):
            return self
        return StoredPiece(self.file, self.layer, self.first, self.last, first, last)


@dataclass(frozen=True)
class StoredState:
    """The state of every recurrent layer after `position` tokens, in a file."""

    file: StoredFile
    position: int

    nbytes = 0
    """Bytes in memory."""


@dataclass(frozen=True)
class Contents:
    """What goes into a file: pieces by layer, and states by position."""

    pieces: Sequence[tuple[int, Piece]]
    states: Mapping[int, State]

    def facts(self) -> dict[str, Any]:
        """What the header says of them."""
        rows = [
            [layer, piece.start, piece.stop, piece.bits, NAMES[piece.dtype], [len(side) for side in piece.sides]]
            for layer, piece in self.pieces
        ]
        states = {at: {index: saved.numbers for index, saved in state.items()} for at, state in self.states.items()}
        return {"rows": rows, "states": states}

    def tensors(self) -> list[Tensor]:
        """Their arrays, to be evaluated one by one as they are written."""
        found = []
        for layer, piece in self.pieces:
            for side, parts in enumerate(piece.sides):
                names = _row_names((layer, piece.start, piece.stop), side, len(parts))
                found += [_tensor(name, array) for name, array in zip(names, parts, strict=True)]
        for at, state in self.states.items():
            for index, saved in state.items():
                found += [_tensor(f"state.{at}.{index}.{name}", array) for name, array in saved.arrays.items()]
        return found


def stand_ins(file: StoredFile, header: Header) -> tuple[list[StoredPiece], list[StoredState]]:
    """Return what stands for everything that a file holds. Raises `StoredBroken` where its facts make no sense."""
    try:
        runs = [(int(layer), int(start), int(stop)) for layer, start, stop, *_ in header.facts["rows"]]
        positions = [int(at) for at in header.facts["states"]]
    except (KeyError, TypeError, ValueError) as error:
        raise StoredBroken(f"{file.path.name} makes no sense ({error}).") from error
    if any(not 0 <= start < stop <= file.length for _, start, stop in runs) or any(
        not 0 < at <= file.length for at in positions
    ):
        raise StoredBroken(f"{file.path.name} holds rows of positions that it has no tokens for.")
    pieces = [StoredPiece(file, layer, start, stop, start, stop) for layer, start, stop in runs]
    return pieces, [StoredState(file, at) for at in positions]


class OpenFile:
    """A file whose header was read; gives its rows and states as arrays. Raises `StoredBroken` from everything."""

    def __init__(self, file: StoredFile, identity: Mapping[str, Any]) -> None:
        self._path = file.path
        self._header = read_header(file.path, identity)

    def piece(self, run: tuple[int, int, int]) -> Piece:
        """Return the rows of one run, not yet evaluated."""
        layer, start, stop = run
        for row in self._header.facts["rows"]:
            if tuple(row[:3]) == run:
                bits, dtype, counts = row[3:]
                sides = tuple(
                    tuple(self._arrays(_row_names((layer, start, stop), side, count))) for side, count in enumerate(counts)
                )
                return Piece(start, stop, sides, tuple(bits), DTYPES[dtype])
        raise StoredBroken(f"{self._path.name} has no such rows.")

    def state(self, position: int) -> State:
        """Return a state, not yet evaluated."""
        found = {}
        for index, numbers in self._header.facts["states"].get(str(position), {}).items():
            start = f"state.{position}.{index}."
            names = [name for name in self._header.names if name.startswith(start)]
            arrays = self._arrays(names)
            named = {name.removeprefix(start): array for name, array in zip(names, arrays, strict=True)}
            found[int(index)] = Snapshot(named, numbers)
        return found

    def _arrays(self, names: Iterable[str]) -> list[mx.array]:
        places = [self._header.place(name) for name in names]
        return [_array(place, data) for place, data in zip(places, read_tensors(self._path, places), strict=True)]


def _row_names(run: tuple[int, int, int], side: int, count: int) -> list[str]:
    layer, start, stop = run
    return [f"rows.{layer}.{start}.{stop}.{side}.{part}" for part in range(count)]


def _tensor(name: str, array: mx.array) -> Tensor:
    return Tensor(TensorSpec(name, NAMES[array.dtype], tuple(array.shape)), lambda: _bytes(array))


def _bytes(array: mx.array) -> Buffer:
    flat = mx.contiguous(array).reshape(-1).view(mx.uint8)
    mx.eval(flat)
    return memoryview(flat)


def _array(place: Place, data: bytes) -> mx.array:
    flat = mx.array(np.frombuffer(data, np.uint8))
    return flat.view(DTYPES[place.spec.dtype]).reshape(place.spec.shape)
