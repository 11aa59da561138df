"""The safetensors format, written as a stream and checked without reading a tensor.

Layout: eight bytes with the length of a JSON header, the header (name → dtype, shape, begin and end of its bytes after the
header), the tensors' bytes without gaps.
"""

import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from engine.core.errors import ModelBroken

MAX_HEADER_BYTES = 100 * 2**20  # The format's own limit.
BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
    "I32": 32, "U32": 32, "F32": 32, "F64": 64, "I64": 64, "U64": 64, "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip


@dataclass(frozen=True)
class TensorSpec:
    """Name, dtype (as the format spells it) and shape of one tensor."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes of the tensor."""
        return math.prod(self.shape) * BITS[self.dtype] // 8


def header_bytes(specs: Sequence[TensorSpec]) -> bytes:
    """Return everything that stands before the tensors' bytes, which follow in the order of `specs`."""
    header: dict[str, Any] = {"__metadata__": {"format": "mlx"}}
    begin = 0
    for spec in specs:
        end = begin + spec.size
        header[spec.name] = {"dtype": spec.dtype, "shape": list(spec.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def write_safetensors(file: BinaryIO, specs: Sequence[TensorSpec], parts: Iterable[bytes | memoryview]) -> None:
    """Write a whole file: `parts`, in order, are the tensors' bytes. The data is on the disk when this returns.

    Raises `OSError` when a write fails and `ValueError` when `parts` are not as long as `specs` say.
    """
    file.write(header_bytes(specs))
    written = 0
    for part in parts:
        file.write(part)
        written += len(part)
    if written != sum(spec.size for spec in specs):
        raise ValueError(f"{written} bytes of tensors do not fill the header's {sum(spec.size for spec in specs)}")
    file.flush()
    os.fsync(file.fileno())


def check_safetensors(path: Path) -> dict[str, TensorSpec]:
    """Return what a safetensors file holds, after checking its header against the file's size; no tensor is read.

    Raises `ModelBroken` when it is not a safetensors file, cut short or damaged.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or length > size - 8:
                raise ModelBroken(f"{path.name} is cut short or is not a safetensors file.")
            if length > MAX_HEADER_BYTES:
                raise ModelBroken(f"{path.name} is damaged: its header is longer than the format allows.")
            header = json.loads(file.read(length))
    except OSError as error:
        raise ModelBroken(f"{path.name} could not be read: {error.strerror}.") from error
    except (ValueError, RecursionError):
        raise ModelBroken(f"{path.name} is damaged: its header cannot be read.") from None
    try:
        specs, end = _parse(header)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ModelBroken(f"{path.name} is damaged: its header makes no sense.") from None
    if 8 + length + end > size:
        raise ModelBroken(f"{path.name} is cut short: {8 + length + end:,} bytes were expected, {size:,} are there.")
    return specs


def _parse(header: Any) -> tuple[dict[str, TensorSpec], int]:
    specs, last = {}, 0
    for name, facts in header.items():
        if name == "__metadata__":
            continue
        spec = TensorSpec(name, facts["dtype"], tuple(facts["shape"]))
        begin, end = facts["data_offsets"]
        if not all(isinstance(item, int) and item >= 0 for item in (*spec.shape, begin, end)):
            raise ValueError(name)
        if spec.dtype in BITS and end - begin != spec.size:
            raise ValueError(name)
        specs[name] = spec
        last = max(last, end)
    return specs, last
