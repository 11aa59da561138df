"""The arithmetic of a prediction, term by term."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from engine.models.kv_memory import KVBits, LayerKV, attention_kv, state_bytes
from engine.models.packing import Packing
from engine.models.prefill_memory import SAMPLING_COPIES, Step, Transient, kept_inputs, logits_bytes, transient
from engine.models.shapes import Matrix, Shape

type TermPart = Literal["weights", "cache", "prefill"]

_PART_NAMES = {
    "embedding": "embedding",
    "output": "output",
    "attention": "attention",
    "recurrent": "recurrent layers",
    "feed-forward": "feed-forward",
    "experts": "experts",
}
_KIND_NAMES = {
    "growing": "growing layers",
    "sliding": "sliding layers",
    "chunked": "chunked layers",
    "latent": "latent layers",
}


@dataclass(frozen=True)
class Term:
    """One summand of a figure: what it is, its bytes, and how they come about."""

    part: TermPart
    name: str
    bytes: int
    formula: str


@dataclass(frozen=True)
class Plan:
    """What a prediction is of. `measured_*` replace what was estimated, once a loaded model told.

    `measured_rows` is, by cache kind, what a token really adds over what the shape says.
    """

    shape: Shape
    packing: Packing
    context: int
    kv_bits: KVBits
    chunk: int
    metal: bool
    element_bytes: int
    rolling: bool = False
    measured_weights: int | None = None
    measured_rows: Mapping[str, float] = field(default_factory=dict)


def read_of(plan: Plan, layer: int | None, matrix: Matrix) -> float:
    """Return the bytes of a matrix that one decode step reads: of experts, the active ones."""
    return plan.packing.matrix_bytes(layer, matrix) * matrix.read / max(1, matrix.copies)


def predicted_weights(plan: Plan) -> int:
    """Return the weights' bytes as the config alone says, whatever was measured."""
    return sum(term.bytes for term in weight_terms(replace(plan, measured_weights=None)))


def weight_terms(plan: Plan) -> list[Term]:
    """Return the weights, part by part; in one term where they were measured."""
    if plan.measured_weights is not None:
        return [Term("weights", "weights", plan.measured_weights, "as their files hold them, or memory does")]
    counts: dict[str, int] = {}
    sizes: dict[str, float] = {}
    for layer, matrix in plan.shape.matrices:
        counts[matrix.part] = counts.get(matrix.part, 0) + matrix.count
        sizes[matrix.part] = sizes.get(matrix.part, 0.0) + plan.packing.matrix_bytes(layer, matrix)
    terms = [
        Term("weights", _PART_NAMES[part], round(sizes[part]), f"{count:,} weights · {8 * sizes[part] / count:.4g} bits")
        for part, count in counts.items()
        if count
    ]
    vectors = plan.shape.vectors + sum(layer.vectors for layer in plan.shape.layers)
    size = plan.packing.element_bytes
    return [*terms, Term("weights", "norms and biases", vectors * size, f"{vectors:,} weights · {size} bytes")]


def rows_by_kind(plan: Plan) -> dict[str, float]:
    """Return the bytes that a token adds to the caches, all layers of a kind together, at the model's own precision."""
    rows: dict[str, float] = {}
    for layer in plan.shape.layers:
        attention = layer.attention
        if attention is not None and not attention.shared:
            rows[attention.kind] = rows.get(attention.kind, 0.0) + attention.row * plan.element_bytes
    return {kind: size * plan.measured_rows.get(kind, 1.0) for kind, size in rows.items()}


def cache_terms(plan: Plan, step: Step) -> list[Term]:
    """Return what the caches hold at the full context, by kind."""
    sizes: dict[str, float] = {}
    formulas: dict[str, Counter[str]] = {}
    for layer in plan.shape.layers:
        attention = layer.attention
        if attention is None or attention.shared:
            continue
        kv = attention_kv(attention, step.context, step.kv_bits, step.element_bytes, rolling=step.rolling)
        scale = plan.measured_rows.get(attention.kind, 1.0)
        sizes[attention.kind] = sizes.get(attention.kind, 0.0) + kv.bytes * scale
        formulas.setdefault(attention.kind, Counter())[_rows_formula(kv, scale)] += 1
    terms = []
    for kind, size in sizes.items():
        formula = " + ".join(f"{count} layers · {rows}" for rows, count in formulas[kind].items())
        terms.append(Term("cache", _KIND_NAMES[kind], round(size), formula))
    return [*terms, *_recurrent_terms(plan.shape, step)]


def _rows_formula(kv: LayerKV, scale: float) -> str:
    rows = f"{kv.capacity:,} rows · {kv.packed_row * scale:,g} bytes" if kv.capacity else ""
    newest = f"{kv.newest} rows · {kv.plain_row * scale:,g} bytes" if kv.newest else ""
    return f"({rows} + {newest})" if rows and newest else rows or newest


def _recurrent_terms(shape: Shape, step: Step) -> list[Term]:
    recurrent = [layer.recurrent for layer in shape.layers if layer.recurrent is not None]
    if not recurrent:
        return []
    states = sum(state_bytes(one, step.element_bytes) for one in recurrent)
    formula = f"{len(recurrent)} layers · {states / len(recurrent):,g} bytes, however long the context"
    terms = [Term("cache", "recurrent states", round(states), formula)]
    inputs = kept_inputs(shape.layers, step)
    if inputs:
        formula = f"the last {step.chunk:,} tokens' inputs, which the state is a slice of"
        terms.append(Term("cache", "recurrent inputs", round(inputs), formula))
    return terms


def prefill_terms(plan: Plan, step: Step) -> tuple[list[Term], float]:
    """Return what the most demanding moment takes beside weights and caches, and the largest array of it in bytes.

    That is the reading of the last chunk, or the writing of a token with its logits.
    """
    write = replace(step, chunk=1)
    reading, writing = transient(plan.shape, step), transient(plan.shape, write)
    logits = logits_bytes(plan.shape)
    scale = max(plan.measured_rows.values(), default=1.0)
    if reading.bytes >= writing.bytes + logits:
        return _terms_of(reading, step, scale), max(reading.scores, reading.rows / 2)
    formula = f"{plan.shape.vocab:,} · 4 bytes · {SAMPLING_COPIES} arrays that drawing a token makes"
    terms = [*_terms_of(writing, write, scale), Term("prefill", "logits", round(logits), formula)]
    return terms, max(logits / SAMPLING_COPIES, writing.rows / 2)


def _terms_of(moment: Transient, step: Step, scale: float) -> list[Term]:
    tokens = f"{step.chunk:,} tokens at a time" if step.chunk > 1 else "one token"
    named = (
        ("attention scores", moment.scores, moment.scores_formula),
        ("rows made anew", moment.rows * scale, "one layer's rows: copied to a larger buffer, or unpacked and put together"),
        ("rows made ahead", moment.ahead * scale, "other layers', while one attends"),
        ("rows that wait", moment.waiting * scale, f"{tokens}, all layers', until their caches take them in"),
        ("activations", moment.activations, f"{tokens}, one layer's intermediate results"),
        ("recurrent scores", moment.recurrent, f"{tokens}, one layer's"),
        ("made beside", moment.beside, f"{tokens}, another recurrent layer's intermediate results and scores"),
    )
    return [Term("prefill", name, round(size), formula) for name, size, formula in named if size]
