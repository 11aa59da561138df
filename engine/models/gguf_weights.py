"""GGUF tensors as MLX keeps them: the same numbers in other places, or, where MLX has no form for them, rounded anew.

Kinds that MLX has a form for are repacked (`gguf_unpack`). The others are dequantized by the `gguf` package, then quantized
by MLX or kept as float16. A tensor of three dimensions, one matrix for each expert, is taken as the rows of all of them.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import gguf
import numpy as np
import numpy.typing as npt

from engine.core.errors import ModelBroken
from engine.models.gguf_file import Header, TensorInfo
from engine.models.gguf_kinds import EXACT, FLOATS, NEAR, Form
from engine.models.gguf_plan import Planned
from engine.models.gguf_unpack import Bytes, NotNumbers, unpack
from engine.models.safetensors_file import TensorSpec

# What is held at once: as float32 a chunk takes four bytes a weight, and dequantizing it some four times that.
CHUNK_WEIGHTS = 4 * 2**20
ROUNDED_GROUP, NARROW_GROUP = 64, 32

type Bits = Literal[8, 6, 4] | None
"""What the kinds that MLX has no form for become: so many bits a weight, or None for float16."""


@dataclass(frozen=True)
class Storage:
    """How a tensor is stored: as `form` with scales of `dtype`, or plain, of `dtype`."""

    form: Form | None
    dtype: str


def storage(planned: Planned, bits: Bits) -> Storage:
    """Return how a tensor is stored: exactly, or where that cannot be, as `bits` say."""
    kind = planned.info.kind
    if planned.one_added:
        return Storage(None, "F32")
    if kind in FLOATS:
        return Storage(None, kind)
    if kind in EXACT:
        return Storage(EXACT[kind], "U8" if EXACT[kind].mode == "mxfp4" else "F16")
    if bits is None:
        return Storage(None, "F16")
    if kind in NEAR and NEAR[kind].bits <= bits:
        return Storage(NEAR[kind], "F16")
    group = NARROW_GROUP if planned.info.shape[-1] % ROUNDED_GROUP else ROUNDED_GROUP
    return Storage(Form(bits, group), "F16")


def is_rounded(planned: Planned) -> bool:
    """Say whether MLX has no form for the tensor's very numbers, so that they change."""
    return planned.info.kind not in FLOATS and planned.info.kind not in EXACT


def specs(planned: Planned, bits: Bits) -> tuple[TensorSpec, ...]:
    """Return the tensors that one GGUF tensor becomes: itself, or a packed weight with its scales and biases."""
    shape, name, kept = planned.info.shape, f"{planned.path}.{planned.part}", storage(planned, bits)
    if kept.form is None:
        return (TensorSpec(name, kept.dtype, shape),)
    *rows, columns = shape
    groups = (*rows, columns // kept.form.group)
    packed = TensorSpec(name, "U32", (*rows, columns * kept.form.bits // 32))
    scales = TensorSpec(f"{planned.path}.scales", kept.dtype, groups)
    if kept.form.mode != "affine":
        return packed, scales
    return packed, scales, TensorSpec(f"{planned.path}.biases", kept.dtype, groups)


def quantization(tensors: tuple[Planned, ...], bits: Bits) -> dict[str, object] | None:
    """Return mlx-lm's `quantization` for these tensors, or None when none is quantized.

    What most weights are stored as is the rule; a module that differs is named with its own, or with false where it is not
    quantized.
    """
    matrices = [planned for planned in tensors if planned.part == "weight" and len(planned.info.shape) > 1]
    kept = {planned.path: storage(planned, bits).form for planned in matrices}
    weights: dict[Form, int] = {}
    for planned in matrices:
        form = kept[planned.path]
        if form is not None:
            weights[form] = weights.get(form, 0) + math.prod(planned.info.shape)
    if not weights:
        return None
    usual = max(weights, key=lambda one: (weights[one], one.bits))
    rule = _rule(usual)
    rule.update({path: _rule(one) if one else False for path, one in kept.items() if one != usual})
    return rule


def _rule(form: Form) -> dict[str, object]:
    return {"group_size": form.group, "bits": form.bits, "mode": form.mode}


def convert(header: Header, planned: Planned, read: Callable[[int, int], bytes], bits: Bits) -> Iterator[memoryview]:
    """Yield the bytes of the tensors in `specs(planned, bits)`, in order; `read(offset, size)` gives the file's, in chunks.

    Raises `ModelBroken` when the file holds weights or scales that are not numbers.
    """
    info, kept = planned.info, storage(planned, bits)
    columns = info.shape[-1] if len(info.shape) > 1 else 1
    rows = math.prod(info.shape) // columns
    row_bytes = info.size // rows
    # Rows change places within a head: a chunk holds whole heads.
    head = rows // planned.heads if planned.heads else 1
    step = max(1, CHUNK_WEIGHTS // (columns * head)) * head
    groups: list[tuple[Bytes, ...]] = []
    for start in range(0, rows, step):
        count = min(step, rows - start)
        data = read(info.offset + start * row_bytes, count * row_bytes)
        block = np.frombuffer(data, np.uint8).reshape(count, row_bytes)
        if planned.heads:
            block = _separate_halves(block, head)
        block, *scales = _converted(header, planned, block, kept)
        groups.append(tuple(scales))
        yield memoryview(np.ascontiguousarray(block)).cast("B")
    for parts in zip(*groups, strict=True):
        yield from (memoryview(part).cast("B") for part in parts)


def _converted(header: Header, planned: Planned, rows: Bytes, kept: Storage) -> tuple[Bytes, ...]:
    """Return a chunk's weights as they are stored, and its scales and biases where it has some."""
    info = planned.info
    if planned.one_added:
        return ((dequantized(info, rows) - np.float32(1)).view(np.uint8),)
    if info.kind in FLOATS:
        return (rows,)
    if kept.form is None or kept.form not in (EXACT.get(info.kind), NEAR.get(info.kind)):
        return _round(header, info, rows, kept.form)
    try:
        return unpack(info.kind, rows)
    except NotNumbers:
        raise ModelBroken(f"{header.path.name} is damaged: {info.name} has scales that are not numbers.") from None


def dequantized(info: TensorInfo, rows: Bytes) -> npt.NDArray[np.float32]:
    """Return the weights in rows of the file's bytes, float32, by the `gguf` package."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(gguf.dequantize(rows, gguf.GGMLQuantizationType[info.kind]), np.float32)


def _separate_halves(rows: Bytes, head: int) -> Bytes:
    """Undo the permutation of Q and K rows: GGUF interleaves the two halves of each head (0, h/2, 1, h/2 + 1, …)."""
    width = rows.shape[-1]
    return rows.reshape(-1, head // 2, 2, width).swapaxes(1, 2).reshape(-1, width)


def _round(header: Header, info: TensorInfo, rows: Bytes, form: Form | None) -> tuple[Bytes, ...]:
    """Return packed weights, scales and biases (as bytes) of weights quantized by MLX; only the weights where kept dense."""
    weights = dequantized(info, rows)
    with np.errstate(over="ignore"):
        dense = weights.astype(np.float16)
    if not np.isfinite(dense).all():
        raise ModelBroken(f"{header.path.name} is damaged: {info.name} has weights that are not numbers.")
    if form is None:
        return (dense.view(np.uint8),)
    import mlx.core as mx

    packed, scales, biases = mx.quantize(mx.array(weights), group_size=form.group, bits=form.bits)
    halves = [np.array(part).astype("<f2").view(np.uint8) for part in (scales, biases)]
    return np.array(packed).view(np.uint8), *halves
