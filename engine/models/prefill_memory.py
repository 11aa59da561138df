"""What reading a prompt takes for a moment: attention scores, rows made anew, intermediate results.

MLX allocates ahead of what it computes: it builds up to ten tasks before it waits (`MAX_ACTIVE_TASKS` in its transforms.cpp; a
task is ten dispatches on a CPU, a command buffer on Metal). On a CPU that is about one layer, so nothing that one layer makes
can be counted as given back before the layer is done: the peak is the sum, not the largest. Measured with mlx 0.32 on Linux
(tests/benchmarks/predicted_peak.py); on Metal only the kernels differ that this page names.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.models.kv_memory import SLACK, LayerKV, attention_kv
from engine.models.shapes import Attention, Layer, Shape

STATE_SPACE_STEP = 256
"""Tokens that mlx-lm's state space scores against each other at a time (ssm.py), and how many such matrices it makes."""
STATE_SPACE_MATRICES = 5
STATES_AHEAD = 40
"""States of the gated delta rule that MLX allocates ahead where no kernel does its loop over the tokens."""
OPERATIONS_AHEAD, DROPPING_OPERATIONS, PACKING_OPERATIONS = 60, 6, 24
"""Operations that MLX allocates for before the first of them is done, and those of one layer's cache at a forward's end."""
UNPACKED, UNPACKED_AMONG_OTHERS, UNPACKED_IN_PARALLEL = 3, 4, 5
"""How often one packed layer's plain rows are there while a token is written, by the kind of model: that of a latent or with
recurrent layers among the others, most with both in one layer."""
GROWN_AT_ONCE = 0.3
"""The share of packed layers that hold both their old and their grown buffers while a token is written, as measured."""
MASK_BYTES, CHUNKED_MASK_BYTES, ORDER_BYTES = 1, 4, 4
SAMPLING_COPIES = 6
"""Arrays of the vocabulary's size that drawing a token makes, in float32: sorted, their order, sums, masks."""
_FUSED_HEADS = frozenset((64, 72, 80, 96, 128))


@dataclass(frozen=True)
class Step:
    """How a forward runs: tokens in it, tokens in the cache after it, KV precision, bytes of an activation, on Metal or not."""

    chunk: int
    context: int
    kv_bits: str
    element_bytes: float
    metal: bool
    rolling: bool = False


@dataclass(frozen=True)
class Transient:
    """Bytes that a forward takes for a moment, by what they are for.

    `scores`, `rows`, `activations` and `recurrent` are one layer's, the most demanding one's; `ahead` is what MLX makes ready
    of other layers' rows meanwhile; `waiting` is the chunk's own rows of every layer whose cache takes them in last of all;
    `beside` is another state space's results, which takes so few operations that MLX makes two at once.
    """

    scores: float = 0.0
    rows: float = 0.0
    activations: float = 0.0
    recurrent: float = 0.0
    ahead: float = 0.0
    waiting: float = 0.0
    beside: float = 0.0
    scores_formula: str = ""

    @property
    def bytes(self) -> float:
        """All of it."""
        return self.scores + self.rows + self.activations + self.recurrent + self.ahead + self.waiting + self.beside


def is_fused(attention: Attention, step: Step) -> bool:
    """Return whether MLX computes this attention without ever holding its scores: a kernel of Metal's, for some head widths.

    Above 8 queries MLX itself prefers the plain way for 192 and 256, and has no kernel for others (`use_fallback` in its
    scaled_dot_product_attention.cpp). A CPU has none at all.
    """
    return step.metal and attention.query_dim in _FUSED_HEADS and attention.query_dim == attention.output_dim


def transient(shape: Shape, step: Step) -> Transient:
    """Return what a forward takes at its most demanding moment: while one layer attends, or at its end.

    Reading evaluates the caches alone: nothing asks for what follows the last of them, nor for its own layer's attention.
    """
    if step.chunk == 1:
        return _writing(shape, step)
    layers = _asked_for(shape)
    if not layers:
        return Transient()
    *attending, last = layers
    attentions = [layer.attention for layer in layers if layer.attention is not None]
    asked = [layer.attention for layer in attending if layer.attention is not None]
    waiting, ahead = sum(_waiting(attention, step) for attention in attentions), _ahead(asked, step)
    ends = replace(_of_layer(last, shape, step), scores=0.0, scores_formula="", rows=_grown(last.attention, step))
    moments = [*(_of_layer(layer, shape, step) for layer in attending), ends]
    moments = [replace(one, ahead=ahead, waiting=waiting) for one in moments]
    small = [index for index, layer in enumerate(layers) if _is_state_space_alone(layer)]
    for index in small if len(small) > 1 else ():
        one = moments[index]
        rows = max((_rows(attention, step) for attention in asked), default=0.0)
        moments[index] = replace(one, ahead=ahead + rows, beside=one.activations + one.recurrent)
    if attending:
        before = attending[-1].attention
        grown = 0.0 if before is None or _in_place(before, step) else _grown(last.attention, step)
        moments.append(replace(moments[-2], ahead=grown + _remade(attentions, step)))
    return max(moments, key=lambda one: one.bytes)


def _is_state_space_alone(layer: Layer) -> bool:
    return layer.attention is None and layer.recurrent is not None and layer.recurrent.kind == "state space"


def _asked_for(shape: Shape) -> tuple[Layer, ...]:
    """Return the layers up to the last that keeps anything of its own: one that reads an earlier one's rows keeps nothing."""
    layers = shape.layers
    keeps = [layer.recurrent is not None or (layer.attention is not None and not layer.attention.shared) for layer in layers]
    return layers[: max((index + 1 for index, kept in enumerate(keeps) if kept), default=0)]


def _writing(shape: Shape, step: Step) -> Transient:
    """Return what writing one token takes: little is computed in a layer, so that MLX is several layers ahead.

    Packed layers are unpacked, one in several steps or several at once, which comes to the same. Where a token makes their
    buffers grow, several have both: those of a third of all layers, and of all latent ones, whose growing waits for nothing
    else.
    """
    layer = max((_of_layer(one, shape, step) for one in shape.layers), key=lambda one: one.bytes, default=Transient())
    packed = [one.attention for one in shape.layers if one.attention is not None and _unpacked(one.attention, step)]
    if not packed:
        return layer
    ahead = sum(_grown(attention, step) * (1 if attention.kind == "latent" else GROWN_AT_ONCE) for attention in packed)
    return replace(layer, rows=_times_unpacked(shape) * max(_unpacked(one, step) for one in packed), ahead=ahead)


def _times_unpacked(shape: Shape) -> int:
    recurrent = [layer for layer in shape.layers if layer.recurrent is not None]
    if any(layer.attention is not None for layer in recurrent):
        return UNPACKED_IN_PARALLEL
    latent = any(layer.attention is not None and layer.attention.kind == "latent" for layer in shape.layers)
    return UNPACKED_AMONG_OTHERS if latent or recurrent else UNPACKED


def logits_bytes(shape: Shape) -> float:
    """Return what the last token's logits and the drawing of a token take, in float32."""
    return float(shape.vocab * 4 * SAMPLING_COPIES)


def _of_layer(layer: Layer, shape: Shape, step: Step) -> Transient:
    attention = layer.attention
    recurrent = layer.recurrent
    return Transient(
        scores=0.0 if attention is None else scores_bytes(attention, step),
        scores_formula="" if attention is None else _scores_formula(attention, step),
        rows=0.0 if attention is None else _rows(attention, step),
        activations=_activations(layer, shape, step),
        recurrent=0.0 if recurrent is None else _recurrent(layer, step),
    )


def scores_bytes(attention: Attention, step: Step) -> float:
    """Return query heads · chunk · rows · bytes, once where MLX works in place, more often with sinks or a latent's rotary
    scores.

    The mask adds a byte a query and row (llama4's is made of numbers), an indexer what it chooses by. A fused kernel holds
    neither scores nor mask; the rotary scores of a latent layer are its mask, and are held all the same.
    """
    rows = _rows_seen(attention, step)
    cells = step.chunk * rows
    whole = attention.heads * cells * step.element_bytes
    mask = float(cells * (CHUNKED_MASK_BYTES if attention.kind == "chunked" else MASK_BYTES))
    if is_fused(attention, step):
        masked = attention.window and attention.window < step.context
        plain = mask if masked else 0.0
        return whole + _chosen(attention, step, cells) if attention.kind == "latent" else plain
    return _times(attention) * whole + mask + _chosen(attention, step, cells)


def _times(attention: Attention) -> int:
    """How many arrays of all scores there are at once: with sinks a column is put to them and taken off again."""
    return 3 if attention.sinks else 2 if attention.kind == "latent" else 1


def _chosen(attention: Attention, step: Step, cells: int) -> float:
    """Return what an indexer takes to choose rows: a score a head and their sum, their order, and a mask of its own."""
    if not attention.index_heads or step.context <= attention.index_most:
        return 0.0
    return cells * ((attention.index_heads + 1) * step.element_bytes + ORDER_BYTES + MASK_BYTES)


def _scores_formula(attention: Attention, step: Step) -> str:
    cells = f"{step.chunk:,} queries · {_rows_seen(attention, step):,} rows"
    if is_fused(attention, step) and attention.kind != "latent":
        return f"{cells}, the mask"
    times = f" · {_times(attention)}" if not is_fused(attention, step) and _times(attention) > 1 else ""
    return f"{attention.heads} query heads · {cells} · {step.element_bytes:g} bytes{times}, and the mask"


def _rows_seen(attention: Attention, step: Step) -> int:
    """Rows that the chunk's queries are given: a window shows each query its own, so window − 1 + chunk together."""
    return min(step.context, attention.window - 1 + step.chunk) if attention.window else step.context


def _kv(attention: Attention, step: Step) -> LayerKV:
    return attention_kv(attention, step.context, step.kv_bits, step.element_bytes, rolling=step.rolling)


def _in_place(attention: Attention, step: Step) -> bool:
    """Return whether the chunk's rows are laid behind those that are there: nothing has to leave for them."""
    return not (0 < attention.window < step.context and step.chunk > SLACK)


def _rows(attention: Attention, step: Step) -> float:
    """Return the bytes of rows that are made anew for one layer.

    A plain cache that grows is copied into a larger buffer; a packed one is unpacked, all of it, and its buffer grows too. A
    window that is full is put together with the chunk's rows, packed ones after they were unpacked. A latent is expanded to
    keys and values of every head.
    """
    made = _grown(attention, step) + _unpacked(attention, step) + _put_together(attention, step)
    if attention.kind == "latent" and step.chunk > 1:
        expanded = attention.heads * (attention.query_dim + attention.output_dim)
        made += _rows_seen(attention, step) * expanded * step.element_bytes
    return made


def _grown(attention: Attention | None, step: Step) -> float:
    if attention is None or not _in_place(attention, step):
        return 0.0
    kv = _kv(attention, step)
    return kv.capacity * kv.packed_row


def _unpacked(attention: Attention, step: Step) -> float:
    kv = _kv(attention, step)
    return kv.capacity * kv.plain_row if kv.packed else 0.0


def _put_together(attention: Attention, step: Step) -> float:
    return 0.0 if _in_place(attention, step) else _rows_seen(attention, step) * _kv(attention, step).plain_row


def _ahead(attentions: Sequence[Attention], step: Step) -> float:
    """Return the bytes of rows that MLX makes for other layers while one attends: one packed layer's and one window's."""
    unpacked = sorted(_unpacked(one, step) for one in attentions)[:-1]
    together = (_put_together(one, step) for one in attentions)
    return max(unpacked, default=0.0) + max(together, default=0.0)


def _waiting(attention: Attention, step: Step) -> float:
    """Return the bytes of a layer's rows that stay until the forward's end: the chunk's, and the newest before them.

    Where attention does not read the cache's own buffer, nothing but the end of the evaluation asks for it.
    """
    kv = _kv(attention, step)
    waits = kv.packed or not _in_place(attention, step)
    return (step.chunk + kv.newest) * kv.plain_row if waits else 0.0


def _remade(attentions: Sequence[Attention], step: Step) -> float:
    """Return the bytes of buffers that windows make anew at the forward's end, of as many layers as MLX allocates ahead.

    Letting rows go takes few operations, quantizing many more: about ten windows in a row are made at once.
    """
    run: deque[tuple[int, float]] = deque()
    most, operations, made = 0.0, 0, 0.0
    for attention in attentions:
        kv, in_place = _kv(attention, step), _in_place(attention, step)
        run.append(
            (
                PACKING_OPERATIONS if kv.packed else 0 if in_place else DROPPING_OPERATIONS,
                0.0 if in_place else kv.capacity * kv.packed_row,
            )
        )
        operations, made = operations + run[-1][0], made + run[-1][1]
        while operations > OPERATIONS_AHEAD:
            gone = run.popleft()
            operations, made = operations - gone[0], made - gone[1]
        most = max(most, made)
    return most


def _activations(layer: Layer, shape: Shape, step: Step) -> float:
    """Return the bytes of a layer's intermediate results, chunk · elements · bytes.

    A query: projected, turned by RoPE (3 arrays where no kernel does it), scaled, attended, put in order; a key: projected and
    turned; a value: projected; a norm of queries and keys: 1 array, 2 where no kernel does it. The residual stream: two norms
    and their inside, two sums, two projections back.
    """
    elements = float(8 * shape.hidden + layer.inner)
    attention = layer.attention
    if attention is not None:
        turned = 1 if step.metal else 3
        turned += (1 if step.metal else 2) * attention.normed
        queries = attention.heads * (attention.query_dim * (2 + turned) + 2 * attention.output_dim)
        keys = 0 if attention.shared else attention.row * (2 + turned) / 2
        elements += queries + keys
    if layer.recurrent is not None:
        elements += layer.recurrent.width
    return step.chunk * elements * step.element_bytes


def _recurrent(layer: Layer, step: Step) -> float:
    recurrent = layer.recurrent
    if recurrent is None or step.chunk == 1:
        return 0.0
    if recurrent.kind == "state space":
        tokens = min(step.chunk, STATE_SPACE_STEP)
        return STATE_SPACE_MATRICES * recurrent.heads * tokens * tokens * 4 + 2 * recurrent.state * 4
    if recurrent.kind == "gated delta":
        return (2 if step.metal else STATES_AHEAD) * recurrent.state * 4
    return 0.0


def kept_inputs(layers: Sequence[Layer], step: Step) -> float:
    """Return the bytes of a chunk's inputs that the recurrent layers' newest inputs keep alive.

    mlx-lm stores them as a slice, which pins the array that it is of, but for the gated delta rule.
    """
    kept = 0.0
    for layer in layers:
        recurrent = layer.recurrent
        if recurrent is not None and recurrent.kind != "gated delta" and recurrent.tail:
            kept += step.chunk * recurrent.mixed * step.element_bytes
    return kept
