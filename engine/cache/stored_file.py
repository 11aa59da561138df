"""One file of the prefix cache on disk: rows and states along one path of tokens, checked before anything of it is used.

It is a safetensors file whose first tensor is the path's token ids. The header holds a checksum of every tensor, and the file
is named by the checksum of its header: one that is cut short, damaged, renamed or somebody else's is told from a whole one.
"""

import fcntl
import hashlib
import json
import math
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.errors import Stopped
from engine.models.safetensors_file import BITS, TensorSpec

if TYPE_CHECKING:
    import numpy as np

FORMAT = 1
SUFFIX = ".safetensors"
UNFINISHED = ".part"
TOKENS = "tokens"
LONGEST_HEADER = 32 << 20
FIRST_READ = 128 << 10
"""Bytes read at once of a file: nearly always the whole header and the tokens."""

Buffer = bytes | memoryview


class StoredBroken(Exception):
    """A file of the cache can't be used: it is gone, not whole, or not what was looked for."""


@dataclass(frozen=True)
class Tensor:
    """A tensor to be written; `data` gives its bytes when their turn comes, and they are let go of afterwards."""

    spec: TensorSpec
    data: Callable[[], Buffer]


@dataclass(frozen=True)
class Place:
    """Where a tensor lies in a file, and the SHA-256 of its bytes."""

    spec: TensorSpec
    begin: int
    checksum: str


@dataclass(frozen=True)
class Header:
    """What a file says of itself, its name and the tokens' checksum having been found right.

    `facts` are those given to `write_stored`; `size` is the whole file's, in bytes.
    """

    facts: dict[str, Any]
    tokens: "np.ndarray[Any, np.dtype[np.uint32]]"
    size: int
    tensors: dict[str, Any]
    checksums: dict[str, str]
    begin: int

    @property
    def names(self) -> list[str]:
        """The names of all tensors."""
        return list(self.tensors)

    def place(self, name: str) -> Place:
        """Return where a tensor lies. Raises `StoredBroken` where there is none, or its size is not what its shape says."""
        return _place(name, self.tensors, self.checksums, self.begin, self.size)


def stored_size(facts: Mapping[str, Any], tokens: Sequence[int], tensors: Sequence[Tensor]) -> int:
    """Return the bytes of the file that `write_stored` would write."""
    specs = _specs(tokens, tensors)
    return len(_header(facts, specs, [_NOT_YET] * len(specs))) + sum(spec.size for spec in specs)


def write_stored(
    folder: Path, facts: Mapping[str, Any], tokens: Sequence[int], tensors: Sequence[Tensor], stop: Callable[[], bool]
) -> Path:
    """Write a file into `folder` and return its path. It appears there whole or not at all.

    `stop` is asked between tensors. Raises `Stopped`, or `OSError` when a write fails; neither leaves anything behind.
    """
    unfinished = folder / f"{secrets.token_hex(8)}{UNFINISHED}"
    try:
        # Held open and locked: whoever finds it and can lock it knows that its writer is gone.
        with os.fdopen(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            specs = _specs(tokens, tensors)
            checksums = [_NOT_YET] * len(specs)
            _write_all(file.fileno(), _header(facts, specs, checksums))
            sources: Iterable[Callable[[], Buffer]] = (lambda: _packed(tokens), *(tensor.data for tensor in tensors))
            for index, source in enumerate(sources):
                if stop():
                    raise Stopped
                data = memoryview(source()).cast("B")
                if len(data) != specs[index].size:
                    raise ValueError(f"{len(data)} bytes of {specs[index]}")
                checksums[index] = hashlib.sha256(data).hexdigest()
                _write_all(file.fileno(), data)
            header = _header(facts, specs, checksums)
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            _write_all(file.fileno(), header)
            os.fsync(file.fileno())
            path = folder / _name(header)
            unfinished.rename(path)
            return path
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def read_header(path: Path, identity: Mapping[str, Any] | None = None) -> Header:
    """Return what a file says of itself. Only its beginning is read.

    Raises `StoredBroken` where it is not a whole file of this cache, or of something else than `identity` where that is given.
    """
    try:
        with path.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            start = file.read(FIRST_READ)
            length = 8 + int.from_bytes(start[:8], "little")
            if length > min(size, LONGEST_HEADER):
                raise StoredBroken(f"{path.name} is cut short, or no file of the cache.")
            start += _exactly(file.fileno(), len(start), length - len(start))
            if _name(start[:length]) != path.name:
                raise StoredBroken(f"{path.name} is damaged or was renamed.")
            tensors = json.loads(start[8:length])
            facts = json.loads(tensors.pop("__metadata__")["flint"])
            if facts.get("format") != FORMAT or (identity is not None and facts.get("identity") != dict(identity)):
                raise StoredBroken(f"{path.name} is of another model, template or precision.")
            if size != length + max(about["data_offsets"][1] for about in tensors.values()):
                raise StoredBroken(f"{path.name} is cut short.")
            checksums = dict(zip(tensors, facts.pop("checksums"), strict=True))
            tokens = _place(TOKENS, tensors, checksums, length, size)
            packed = start[tokens.begin : tokens.begin + tokens.spec.size]
            packed += _exactly(file.fileno(), tokens.begin + len(packed), tokens.spec.size - len(packed))
            _check(path, tokens, packed)
            return Header(facts, _unpacked(packed), size, tensors, checksums, length)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoredBroken(f"{path.name} can't be read ({error}).") from error


def read_tensors(path: Path, places: Iterable[Place]) -> Iterable[bytes]:
    """Yield the bytes of tensors, each found to be what was written. Raises `StoredBroken`."""
    try:
        with path.open("rb", buffering=0) as file:
            for place in places:
                data = _exactly(file.fileno(), place.begin, place.spec.size)
                _check(path, place, data)
                yield data
    except OSError as error:
        raise StoredBroken(f"{path.name} can't be read ({error}).") from error


def abandoned(path: Path) -> bool:
    """Return whether an unfinished file's writer is gone."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except OSError:
        return False


_NOT_YET = "0" * 64


def _specs(tokens: Sequence[int], tensors: Sequence[Tensor]) -> list[TensorSpec]:
    return [TensorSpec(TOKENS, "U32", (len(tokens),)), *(tensor.spec for tensor in tensors)]


def _packed(tokens: Sequence[int]) -> bytes:
    import numpy as np  # The window's process counts the files, and must not wait for this.

    return np.asarray(tokens, dtype=np.dtype("<u4")).tobytes()


def _unpacked(data: bytes) -> "np.ndarray[Any, np.dtype[np.uint32]]":
    import numpy as np

    return np.frombuffer(data, np.dtype("<u4")).astype(np.uint32)


def _header(facts: Mapping[str, Any], specs: Sequence[TensorSpec], checksums: Sequence[str]) -> bytes:
    """Everything before the tensors. It is as long whatever the checksums are."""
    about = json.dumps({**facts, "format": FORMAT, "checksums": checksums}, separators=(",", ":"))
    header: dict[str, Any] = {"__metadata__": {"flint": about}}
    begin = 0
    for spec in specs:
        header[spec.name] = {"dtype": spec.dtype, "shape": spec.shape, "data_offsets": [begin, begin + spec.size]}
        begin += spec.size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _name(header: bytes) -> str:
    return hashlib.sha256(header).hexdigest()[:32] + SUFFIX


def _place(name: str, tensors: Mapping[str, Any], checksums: Mapping[str, str], start: int, size: int) -> Place:
    try:
        about = tensors[name]
        spec = TensorSpec(name, about["dtype"], tuple(about["shape"]))
        begin, end = about["data_offsets"]
        counts = (*spec.shape, begin, end)
        whole = all(type(count) is int and count >= 0 for count in counts) and BITS[spec.dtype] >= 8
        if whole and end - begin == math.prod(spec.shape) * BITS[spec.dtype] // 8 and start + end <= size:
            return Place(spec, start + begin, checksums[name])
    except (KeyError, TypeError, ValueError) as error:
        raise StoredBroken(f"There is no tensor {name} ({error}).") from error
    raise StoredBroken(f"The tensor {name} is not as large as its shape says.")


def _check(path: Path, place: Place, data: Buffer) -> None:
    if len(data) != place.spec.size or hashlib.sha256(data).hexdigest() != place.checksum:
        raise StoredBroken(f"{path.name} is damaged: {place.spec.name} is not what was written.")


def _exactly(descriptor: int, begin: int, count: int) -> bytes:
    """Read `count` bytes, fewer only where the file ends."""
    if count <= 0:
        return b""
    data = os.pread(descriptor, count, begin)
    parts = [data]
    while data and (count := count - len(data)) > 0:  # A single read returns at most 2 GB.
        begin += len(data)
        data = os.pread(descriptor, count, begin)
        parts.append(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _write_all(descriptor: int, data: Buffer) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
