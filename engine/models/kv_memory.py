"""What the caches of a model's layers take: rows that grow, rows of a window, states of constant size.

The rows are those of `engine.cache.window.WindowCache`: buffers grow by `STEP` rows, a bounded one holds `SLACK` and a
step more than a query sees, and the newest `RECENT` rows stay plain in every precision.
"""

from dataclasses import dataclass, replace
from typing import Literal

from engine.models.shapes import Attention, Layer, Recurrent

type KVBits = Literal["off", "8", "8/4", "4"]

BITS: dict[str, tuple[int | None, int | None]] = {"off": (None, None), "8": (8, 8), "8/4": (8, 4), "4": (4, 4)}
"""Bits of the keys and of the values; None is the model's own precision."""

STEP = 256
SLACK = 32
RECENT = 64
BLOCK = 16
ROOMY = 1024
"""Rows from which on a bounded buffer has room for the newest ones too."""
LARGEST_PLAIN = 1024
"""Rows of a sliding layer up to which it stays plain."""
GROUPS = (64, 32)


@dataclass(frozen=True)
class LayerKV:
    """One attention layer's cache at a number of tokens: `rows` held, `capacity` rows of buffer, bytes of a `plain_row`, of a
    `packed_row` (as large where nothing is packed), and of all."""

    rows: int
    capacity: int
    newest: int
    plain_row: float
    packed_row: float

    @property
    def packed(self) -> bool:
        """Whether older rows are quantized."""
        return self.packed_row < self.plain_row

    @property
    def bytes(self) -> float:
        """Bytes held, the buffer's free rows included."""
        return self.capacity * self.packed_row + self.newest * self.plain_row


def attention_kv(attention: Attention, context: int, kv_bits: str, element_bytes: float, *, rolling: bool = False) -> LayerKV:
    """Return the cache of one attention layer that has read `context` tokens.

    `rolling` adds the room that a layer takes once the policy's window is full and its oldest rows are dropped.
    """
    bounded = 0 < attention.window < context
    window = attention.window if bounded or (attention.window and not rolling) else context
    bits = BITS[kv_bits] if not attention.window or attention.window > LARGEST_PLAIN else (None, None)
    plain_row = attention.row * element_bytes
    packed_row = packed_row_bytes(attention, bits, element_bytes)
    packed = packed_row < plain_row
    most = window - 1 + SLACK + min(STEP, max(BLOCK, window // 4))
    full = rolling or (bounded and context > most)
    rows = most if full else context
    newest = 0 if not packed else rows if rows < RECENT + BLOCK else RECENT + (rows - RECENT) % BLOCK
    bound = most - RECENT if packed and most < ROOMY else most
    rounded = -(-rows // STEP) * STEP
    capacity = bound if full else min(rounded, bound) if attention.window else rounded
    return LayerKV(rows, 0 if newest == rows else capacity, newest, plain_row, packed_row)


def packed_row_bytes(attention: Attention, bits: tuple[int | None, int | None], element_bytes: float) -> float:
    """Return the bytes of one token's row: (bits + 32 / group) / 8 an element, scales and biases in half precision.

    A latent layer's two rows both serve as keys and take the bits of keys; a width that no group divides stays plain.
    """
    if attention.shared:
        return 0.0
    key_bits, value_bits = bits
    keys = _side(attention.key_dim, key_bits, element_bytes)
    values = _side(attention.value_dim, key_bits if attention.kind == "latent" else value_bits, element_bytes)
    return attention.kv_heads * (keys + values) + _side(attention.index_dim, key_bits, element_bytes)


def _side(width: int, bits: int | None, element_bytes: float) -> float:
    group = next((size for size in GROUPS if width and width % size == 0), None)
    if bits is None or group is None:
        return width * element_bytes
    return width * (bits + 32 / group) / 8


def state_bytes(recurrent: Recurrent, element_bytes: float) -> float:
    """Return what a recurrent layer keeps: its newest inputs in the activations' type, its state in float32."""
    return recurrent.tail * element_bytes + recurrent.state * 4


def read_bytes(layer: Layer, context: int, kv_bits: str, element_bytes: float) -> float:
    """Return what one decode step reads of a layer's cache with `context` tokens in it: the rows that its query sees."""
    total = 0.0
    if layer.attention is not None:
        # A layer without rows of its own reads those of an earlier one, of the same size.
        kv = attention_kv(replace(layer.attention, shared=False), context, kv_bits, element_bytes)
        seen = min(context, layer.attention.window or context)
        newest = min(kv.newest, seen)
        total += (seen - newest) * kv.packed_row + newest * kv.plain_row
    if layer.recurrent is not None:
        total += state_bytes(layer.recurrent, element_bytes)
    return total
