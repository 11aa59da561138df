"""Blocks of ggml as MLX's packed weights, where both mean the same integers: no weight is rounded anew.

Both say `weight = scale · q + bias` for 32 weights that stand together:

    Q4_0  d, 16 bytes                  w = d · (q − 8)     the low halves of the bytes are the first 16, the high ones the rest
    Q4_1  d, m, 16 bytes               w = d · q + m
    Q5_0  d, 4 bytes, 16 bytes         w = d · (q − 16)    the fifth bit of weight j is bit j of the four bytes
    Q5_1  d, m, 4 + 16 bytes           w = d · q + m
    Q8_0  d, 32 signed bytes           w = d · q
    Q4_K  d, m, 12 bytes, 128 bytes    w = d · s · q − m · t     eight times 32 weights, each with an s and a t of 6 bits
    Q5_K  d, m, 12, 32 + 128 bytes     the same; bit i of byte j of the 32 is the fifth bit of weight j of the i-th 32

MXFP4 is a byte e and 16 bytes, weight = 2^(e − 127) · f, f one of the sixteen numbers of E2M1: MLX has the same form.
MLX packs the q of a row, unsigned, into a stream of bits, the first weight in the lowest.
"""

import numpy as np
import numpy.typing as npt

from engine.models.gguf_kinds import BLOCKS

type Bytes = npt.NDArray[np.uint8]

_SCALED_BY_TWO = ("Q4_1", "Q5_1")
_LOWEST = {"Q4_0": -8, "Q5_0": -16, "Q8_0": -128}


class NotNumbers(Exception):
    """A scale in the file is infinite or not a number, or so large that float16 cannot hold it."""


def unpack(kind: str, rows: Bytes) -> tuple[Bytes, ...]:
    """Return packed weights, scales and (but for MXFP4) biases, as bytes, of rows of blocks.

    Scales and biases are float16, the very ones of the file but for Q4_K and Q5_K, where they are products, rounded. MXFP4's
    are the file's exponents. Raises `NotNumbers`.
    """
    blocks = rows.reshape(len(rows), -1, BLOCKS[kind][1])
    if kind == "MXFP4":
        return _microscaled(blocks)
    integers, scale, bias = _of_two_scales(kind, blocks) if kind in ("Q4_K", "Q5_K") else _of_one_scale(kind, blocks)
    if not (np.isfinite(scale).all() and np.isfinite(bias).all()):
        raise NotNumbers
    packed = _packed(kind, integers).reshape(len(rows), -1)
    return packed, *(np.ascontiguousarray(part.reshape(len(rows), -1), "<f2").view(np.uint8) for part in (scale, bias))


def _of_one_scale(kind: str, blocks: Bytes) -> tuple[Bytes, npt.NDArray[np.float16], npt.NDArray[np.float16]]:
    scale = _halves(blocks[..., :2])
    after = 4 if kind in _SCALED_BY_TWO else 2
    with np.errstate(over="ignore", invalid="ignore"):
        bias = _halves(blocks[..., 2:4]) if after == 4 else scale * np.float16(_LOWEST[kind])
    if kind == "Q8_0":
        return blocks[..., after:] ^ np.uint8(0x80), scale, bias
    if kind in ("Q4_0", "Q4_1"):
        return _low_then_high(blocks[..., after:]), scale, bias
    fifth = np.unpackbits(blocks[..., after : after + 4], axis=-1, bitorder="little")
    return _low_then_high(blocks[..., after + 4 :]) | (fifth << np.uint8(4)), scale, bias


def _of_two_scales(kind: str, blocks: Bytes) -> tuple[Bytes, npt.NDArray[np.float16], npt.NDArray[np.float16]]:
    whole = np.float32(1) * _halves(blocks[..., :2]), np.float32(-1) * _halves(blocks[..., 2:4])
    with np.errstate(over="ignore", invalid="ignore"):
        scale, bias = ((one * part).astype(np.float16) for one, part in zip(whole, _six_bits(blocks[..., 4:16]), strict=True))
    chunks = blocks[..., -128:].reshape(*blocks.shape[:-1], 4, 32)
    integers = np.stack([chunks & np.uint8(0x0F), chunks >> np.uint8(4)], axis=-2).reshape(*blocks.shape[:-1], 8, 32)
    if kind == "Q5_K":
        fifth = blocks[..., None, 16:48] >> np.arange(8, dtype=np.uint8)[:, None]
        integers |= (fifth & np.uint8(1)) << np.uint8(4)
    return integers, scale, bias


def _six_bits(packed: Bytes) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the eight scales and the eight minima in 12 bytes.

    The first four of each are the low six bits of bytes 0–3 and 4–7. The others have their low four bits in bytes 8–11, the
    scale's in the low half, the minimum's in the high half, and their upper two in the top bits of bytes 0–3 and 4–7.
    """
    first, second, rest = packed[..., :4], packed[..., 4:8], packed[..., 8:]
    low, top = np.uint8(0x3F), np.uint8(0x30)
    scales = np.concatenate([first & low, (rest & np.uint8(0x0F)) | ((first >> np.uint8(2)) & top)], axis=-1)
    minima = np.concatenate([second & low, (rest >> np.uint8(4)) | ((second >> np.uint8(2)) & top)], axis=-1)
    return scales.astype(np.float32), minima.astype(np.float32)


def _microscaled(blocks: Bytes) -> tuple[Bytes, ...]:
    exponents = np.ascontiguousarray(blocks[..., 0])
    if (exponents == 255).any():
        raise NotNumbers
    return _packed("MXFP4", _low_then_high(blocks[..., 1:])).reshape(len(blocks), -1), exponents


def _halves(data: Bytes) -> npt.NDArray[np.float16]:
    return np.ascontiguousarray(data).view("<f2")


def _low_then_high(halves: Bytes) -> Bytes:
    """Return the 32 numbers of four bits in 16 bytes: the low halves, then the high ones."""
    return np.concatenate([halves & np.uint8(0x0F), halves >> np.uint8(4)], axis=-1)


def _packed(kind: str, integers: Bytes) -> Bytes:
    """Pack numbers of 8, 5 or 4 bits: two in a byte, or eight in five bytes, the first in the lowest bits."""
    if kind == "Q8_0":
        return integers
    if not kind.startswith("Q5"):
        return integers[..., 0::2] | (integers[..., 1::2] << np.uint8(4))
    eights = integers.reshape(*integers.shape[:-1], 4, 8)
    words = np.zeros(eights.shape[:-1], np.uint64)
    for place in range(8):
        words |= eights[..., place].astype(np.uint64) << np.uint64(5 * place)
    return words.astype("<u8")[..., None].view(np.uint8)[..., :5]
