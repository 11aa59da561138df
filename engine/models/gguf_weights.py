"""GGUF tensors as MLX keeps them: the same numbers in other places, or, where MLX has no form for them, rounded anew.

ggml's blocks of 32 weights and MLX's affine groups of 32 say the same thing, `weight = scale · q + bias`:

    Q4_0  d, 16 bytes             w = d · (q − 8)     q of weight j in the low half of byte j, of weight j + 16 in the high half
    Q4_1  d, m, 16 bytes          w = d · q + m
    Q5_0  d, 4 bytes, 16 bytes    w = d · (q − 16)    the fifth bit of weight j is bit j of the four bytes
    Q5_1  d, m, 4 + 16 bytes      w = d · q + m
    Q8_0  d, 32 signed bytes      w = d · q

MLX packs the q of a row, unsigned, into a stream of bits, the first weight in the lowest. K-quants have scales for 16
weights, or scales that are products of two: they are dequantized by the `gguf` package, then quantized by MLX or kept as
float16.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import gguf
import numpy as np
import numpy.typing as npt

from engine.core.errors import ModelBroken
from engine.models.gguf_header import KINDS, Header, TensorInfo
from engine.models.gguf_plan import EXACT, FLOATS, Planned
from engine.models.safetensors_file import TensorSpec

# What is held at once: as float32 a chunk takes four bytes a weight, and dequantizing it some four times that.
CHUNK_WEIGHTS = 4 * 2**20
EXACT_GROUP, ROUNDED_GROUP = 32, 64

_BLOCKS = {label: (block, width) for label, block, width in KINDS.values()}

type Bytes = npt.NDArray[np.uint8]
type Bits = Literal[8, 6, 4] | None
"""What the kinds that MLX has no form for become: so many bits a weight, or None for float16."""


@dataclass(frozen=True)
class Storage:
    """How a tensor is stored: `bits` a weight in groups of `group` with float16 scales, or (0, 0) as plain `dtype`."""

    bits: int
    group: int
    dtype: str


def storage(planned: Planned, bits: Bits) -> Storage:
    """Return how a tensor is stored: exactly, or where that cannot be, as `bits` say."""
    kind = planned.info.kind
    if planned.one_added:
        return Storage(0, 0, "F32")
    if kind in FLOATS:
        return Storage(0, 0, kind)
    if kind in EXACT:
        return Storage(EXACT[kind], EXACT_GROUP, "F16")
    return Storage(bits, ROUNDED_GROUP, "F16") if bits else Storage(0, 0, "F16")


def is_rounded(planned: Planned) -> bool:
    """Say whether MLX has no form for the tensor's numbers, so that they change."""
    return planned.info.kind not in FLOATS and planned.info.kind not in EXACT


def specs(planned: Planned, bits: Bits) -> tuple[TensorSpec, ...]:
    """Return the tensors that one GGUF tensor becomes: itself, or a packed weight with its scales and biases."""
    shape, name, kept = planned.info.shape, f"{planned.path}.{planned.part}", storage(planned, bits)
    if not kept.bits:
        return (TensorSpec(name, kept.dtype, shape),)
    rows, columns = shape
    groups = (rows, columns // kept.group)
    return (
        TensorSpec(name, "U32", (rows, columns * kept.bits // 32)),
        TensorSpec(f"{planned.path}.scales", kept.dtype, groups),
        TensorSpec(f"{planned.path}.biases", kept.dtype, groups),
    )


def quantization(tensors: tuple[Planned, ...], bits: Bits) -> dict[str, object] | None:
    """Return mlx-lm's `quantization` for these tensors, or None when none is quantized.

    What most weights are stored as is the rule; a module that differs is named with its own, or with false where it is not
    quantized.
    """
    kept = {planned.path: storage(planned, bits) for planned in tensors if len(planned.info.shape) == 2}
    weights: dict[Storage, int] = {}
    for planned in tensors:
        if len(planned.info.shape) == 2 and kept[planned.path].bits:
            weights[kept[planned.path]] = weights.get(kept[planned.path], 0) + planned.info.shape[0] * planned.info.shape[1]
    if not weights:
        return None
    usual = max(weights, key=lambda one: (weights[one], one.bits))
    rule = _rule(usual)
    rule.update({path: _rule(one) if one.bits else False for path, one in kept.items() if one != usual})
    return rule


def _rule(kept: Storage) -> dict[str, object]:
    return {"group_size": kept.group, "bits": kept.bits, "mode": "affine"}


def convert(header: Header, planned: Planned, read: Callable[[int, int], bytes], bits: Bits) -> Iterator[memoryview]:
    """Yield the bytes of the tensors in `specs(planned, bits)`, in order; `read(offset, size)` gives the file's, in chunks.

    Raises `ModelBroken` when the file holds weights or scales that are not numbers.
    """
    info, kept = planned.info, storage(planned, bits)
    rows = info.shape[0]
    row_bytes = info.size // rows
    # Rows change places within a head: a chunk holds whole heads.
    head = rows // planned.heads if planned.heads else 1
    columns = info.shape[-1] if len(info.shape) > 1 else 1
    step = max(1, CHUNK_WEIGHTS // (columns * head)) * head
    groups: list[tuple[Bytes, Bytes]] = []
    for start in range(0, rows, step):
        count = min(step, rows - start)
        data = read(info.offset + start * row_bytes, count * row_bytes)
        block = np.frombuffer(data, np.uint8).reshape(count, row_bytes)
        if planned.heads:
            block = _separate_halves(block, head)
        if info.kind in EXACT:
            block, *pair = _unpack(header, info, block)
            groups.append((pair[0], pair[1]))
        elif is_rounded(planned):
            block, *pair = _round(header, info, block, kept)
            groups += [(pair[0], pair[1])] if pair else []
        elif planned.one_added:
            block = (dequantized(info, block) - np.float32(1)).view(np.uint8)
        yield memoryview(np.ascontiguousarray(block)).cast("B")
    for part in (*(scales for scales, _ in groups), *(biases for _, biases in groups)):
        yield memoryview(part).cast("B")


def dequantized(info: TensorInfo, rows: Bytes) -> npt.NDArray[np.float32]:
    """Return the weights in rows of the file's bytes, float32, by the `gguf` package."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(gguf.dequantize(rows, gguf.GGMLQuantizationType[info.kind]), np.float32)


def _separate_halves(rows: Bytes, head: int) -> Bytes:
    """Undo the permutation of Q and K rows: GGUF interleaves the two halves of each head (0, h/2, 1, h/2 + 1, …)."""
    width = rows.shape[-1]
    return rows.reshape(-1, head // 2, 2, width).swapaxes(1, 2).reshape(-1, width)


def _round(header: Header, info: TensorInfo, rows: Bytes, kept: Storage) -> tuple[Bytes, ...]:
    """Return packed weights, scales and biases (as bytes) of weights quantized by MLX; only the weights where kept dense."""
    weights = dequantized(info, rows)
    with np.errstate(over="ignore"):
        dense = weights.astype(np.float16)
    if not np.isfinite(dense).all():
        raise ModelBroken(f"{header.path.name} is damaged: {info.name} has weights that are not numbers.")
    if not kept.bits:
        return (dense.view(np.uint8),)
    import mlx.core as mx

    packed, scales, biases = mx.quantize(mx.array(weights), group_size=kept.group, bits=kept.bits)
    halves = [np.array(part).astype("<f2").view(np.uint8) for part in (scales, biases)]
    return np.array(packed).view(np.uint8), *halves


def _unpack(header: Header, info: TensorInfo, rows: Bytes) -> tuple[Bytes, Bytes, Bytes]:
    """Return packed weights, scales and biases (float16, as bytes) of rows of blocks, without rounding."""
    kind = info.kind
    blocks = rows.reshape(len(rows), -1, _BLOCKS[kind][1])
    scale = np.ascontiguousarray(blocks[..., :2]).view("<f2")
    after = 4 if kind in ("Q4_1", "Q5_1") else 2
    with np.errstate(over="ignore", invalid="ignore"):
        if after == 4:
            bias = np.ascontiguousarray(blocks[..., 2:4]).view("<f2")
        else:
            bias = scale * np.float16({"Q4_0": -8, "Q5_0": -16, "Q8_0": -128}[kind])
    if kind == "Q8_0":
        packed = blocks[..., after:] ^ np.uint8(0x80)
    elif kind in ("Q4_0", "Q4_1"):
        packed = _pair_nibbles(blocks[..., after:])
    else:
        packed = _five_bits(blocks[..., after : after + 4], blocks[..., after + 4 :])
    if not (np.isfinite(scale).all() and np.isfinite(bias).all()):
        raise ModelBroken(f"{header.path.name} is damaged: {info.name} has scales that are not numbers.")
    return packed, scale.view(np.uint8), bias.astype("<f2").view(np.uint8)


def _pair_nibbles(halves: Bytes) -> Bytes:
    """Turn 16 bytes that hold weights j and j + 16 into 16 bytes that hold weights 2k and 2k + 1."""
    low, high = halves & np.uint8(0x0F), halves >> np.uint8(4)
    first = low[..., 0::2] | (low[..., 1::2] << np.uint8(4))
    second = high[..., 0::2] | (high[..., 1::2] << np.uint8(4))
    return np.concatenate([first, second], axis=-1)


def _five_bits(fifths: Bytes, halves: Bytes) -> Bytes:
    """Turn 4 bytes of fifth bits and 16 bytes of halves into 20 bytes: eight weights in five, the first in the lowest bits."""
    high = np.unpackbits(fifths, axis=-1, bitorder="little") << np.uint8(4)
    low = np.concatenate([halves & np.uint8(0x0F), halves >> np.uint8(4)], axis=-1)
    eights = (low | high).reshape(*low.shape[:-1], 4, 8)
    words = np.zeros(eights.shape[:-1], np.uint64)
    for place in range(8):
        words |= eights[..., place].astype(np.uint64) << np.uint64(5 * place)
    packed = words.astype("<u8")[..., None].view(np.uint8)[..., :5]
    return packed.reshape(*low.shape[:-1], 20)
