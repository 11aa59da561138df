"""GGUF tensors as MLX keeps them: the same numbers, other places. Nothing is rounded.

ggml's blocks of 32 weights and MLX's affine groups of 32 say the same thing, `weight = scale · q + bias`:

    Q4_0  d, 16 bytes           w = d · (q − 8)     q of weight j in the low half of byte j, of weight j + 16 in the high half
    Q4_1  d, m, 16 bytes        w = d · q + m
    Q8_0  d, 32 signed bytes    w = d · q

MLX packs the q of a row, unsigned, into 32-bit words, the first weight in the lowest bits.
"""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from engine.core.errors import ModelBroken
from engine.models.gguf_header import KINDS, Header
from engine.models.gguf_llama import GROUP_SIZE, QUANTIZED, Planned
from engine.models.safetensors_file import TensorSpec

CHUNK_BYTES = 32 * 2**20

_FLOAT_DTYPES = {"F32": "F32", "F16": "F16", "BF16": "BF16"}
_BLOCKS = {label: (block, width) for label, block, width in KINDS.values()}

type Bytes = npt.NDArray[np.uint8]


def specs(planned: Planned) -> tuple[TensorSpec, ...]:
    """Return the tensors that one GGUF tensor becomes: itself, or a packed weight with its scales and biases."""
    shape, name = planned.info.shape, f"{planned.path}.{planned.part}"
    if planned.info.kind not in QUANTIZED:
        return (TensorSpec(name, _FLOAT_DTYPES[planned.info.kind], shape),)
    rows, columns = shape
    groups = (rows, columns // GROUP_SIZE)
    return (
        TensorSpec(name, "U32", (rows, columns * QUANTIZED[planned.info.kind] // 32)),
        TensorSpec(f"{planned.path}.scales", "F16", groups),
        TensorSpec(f"{planned.path}.biases", "F16", groups),
    )


def quantization(tensors: tuple[Planned, ...]) -> dict[str, object] | None:
    """Return mlx-lm's `quantization` for these tensors, or None when none is quantized.

    The bits that most tensors have are the rule; a module that differs is named with its own, or with false where it is not
    quantized.
    """
    bits = {planned.path: QUANTIZED.get(planned.info.kind, 0) for planned in tensors if len(planned.info.shape) == 2}
    quantized = [value for value in bits.values() if value]
    if not quantized:
        return None
    usual = max(sorted(set(quantized)), key=quantized.count)
    rule: dict[str, object] = {"group_size": GROUP_SIZE, "bits": usual, "mode": "affine"}
    for path, value in bits.items():
        if value != usual:
            rule[path] = {"group_size": GROUP_SIZE, "bits": value, "mode": "affine"} if value else False
    return rule


def convert(header: Header, planned: Planned, read: Callable[[int, int], bytes]) -> Iterator[memoryview]:
    """Yield the bytes of the tensors in `specs(planned)`, in order; `read(offset, size)` gives the file's, a chunk at a time.

    Raises `ModelBroken` when the file holds scales that are not numbers.
    """
    info = planned.info
    rows = info.shape[0]
    row_bytes = info.size // rows
    # Rows change places within a head: a chunk holds whole heads.
    head = rows // planned.heads if planned.heads else 1
    step = max(1, CHUNK_BYTES // (row_bytes * head)) * head
    scales: list[Bytes] = []
    biases: list[Bytes] = []
    for start in range(0, rows, step):
        count = min(step, rows - start)
        data = read(info.offset + start * row_bytes, count * row_bytes)
        block = np.frombuffer(data, np.uint8).reshape(count, row_bytes)
        if planned.heads:
            block = _separate_halves(block, head)
        if info.kind in QUANTIZED:
            block, scale, bias = _unpack(header, planned, block)
            scales.append(scale)
            biases.append(bias)
        yield memoryview(np.ascontiguousarray(block)).cast("B")
    for part in (*scales, *biases):
        yield memoryview(part).cast("B")


def _separate_halves(rows: Bytes, head: int) -> Bytes:
    """Undo the permutation of Q and K rows: GGUF interleaves the two halves of each head (0, h/2, 1, h/2 + 1, …)."""
    width = rows.shape[-1]
    return rows.reshape(-1, head // 2, 2, width).swapaxes(1, 2).reshape(-1, width)


def _unpack(header: Header, planned: Planned, rows: Bytes) -> tuple[Bytes, Bytes, Bytes]:
    """Return packed weights, scales and biases (float16, as bytes) of rows of blocks."""
    kind = planned.info.kind
    blocks = rows.reshape(len(rows), -1, _BLOCKS[kind][1])
    scale = np.ascontiguousarray(blocks[..., :2]).view("<f2")
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == "Q8_0":
            packed, bias = blocks[..., 2:] ^ np.uint8(0x80), scale * np.float16(-128)
        elif kind == "Q4_0":
            packed, bias = _pair_nibbles(blocks[..., 2:]), scale * np.float16(-8)
        else:
            packed, bias = _pair_nibbles(blocks[..., 4:]), np.ascontiguousarray(blocks[..., 2:4]).view("<f2")
    if not (np.isfinite(scale).all() and np.isfinite(bias).all()):
        raise ModelBroken(f"{header.path.name} is damaged: {planned.info.name} has scales that are not numbers.")
    return packed, scale.view(np.uint8), bias.astype("<f2").view(np.uint8)


def _pair_nibbles(halves: Bytes) -> Bytes:
    """Turn 16 bytes that hold weights j and j + 16 into 16 bytes that hold weights 2k and 2k + 1."""
    low, high = halves & np.uint8(0x0F), halves >> np.uint8(4)
    first = low[..., 0::2] | (low[..., 1::2] << np.uint8(4))
    second = high[..., 0::2] | (high[..., 1::2] << np.uint8(4))
    return np.concatenate([first, second], axis=-1)
