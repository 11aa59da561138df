"""Whether a model fits: its weights, its KV cache and the peak of reading a prompt, predicted from its config and judged.

Every figure comes with its arithmetic, as a list of named terms. Nothing here loads a model or imports MLX.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from engine.core.machine import THIS_MACHINE
from engine.metrics import decode_ceiling_tps
from engine.models.fit_terms import (
    Plan,
    Term,
    cache_terms,
    predicted_weights,
    prefill_terms,
    read_of,
    rows_by_kind,
    weight_terms,
)
from engine.models.kv_memory import BITS, STEP, KVBits, read_bytes
from engine.models.packing import read_packing
from engine.models.prefill_memory import Step
from engine.models.shape_reading import read_shape

LARGEST_CHUNK = 2048
SMALLEST_CHUNK = 16
"""Tokens of a prompt that are read at a time, at most and at least."""
SMALLEST_USUAL_CHUNK = 256
"""Smaller ones are offered only where nothing else has to change: they read much slower and save little more."""
LARGEST_CONTEXT = 1_048_576


@dataclass(frozen=True)
class Fit:
    """A prediction. Sizes in bytes.

    `peak_bytes` is MLX's memory at its peak: weights, cache and what reading the prompt takes for a moment. `read_weights` and
    `read_kv` are what one decode step reads at the full context; `kv_bytes_per_token` what a token adds, by cache kind, at the
    model's own precision; `largest_buffer` the largest single array, which a Mac bounds apart. `known` is False where the
    architecture was never compared with mlx-lm's.
    """

    weights_bytes: int
    kv_bytes: int
    peak_bytes: int
    terms: tuple[Term, ...]
    context: int
    kv_bits: KVBits
    chunk: int
    read_weights: int
    read_kv: int
    kv_bytes_per_token: Mapping[str, float]
    largest_buffer: int
    known: bool
    plan: Plan = field(repr=False, compare=False)


@dataclass(frozen=True)
class Verdict:
    """Whether a prediction stays inside a budget, by how much it does not, and why in a sentence."""

    fits: bool
    over_bytes: int
    reason: str


@dataclass(frozen=True)
class Offer:
    """A change that would make it fit, with the figures it leads to. It is taken only with consent."""

    change: Literal["chunk", "kv_bits", "context"]
    fit: Fit


def predict(
    config: Mapping[str, Any],
    *,
    context: int,
    kv_bits: KVBits = "off",
    chunk: int = LARGEST_CHUNK,
    metal: bool = False,
    element_bytes: int | None = None,
    weights_bytes: int | None = None,
    rolling: bool = False,
) -> Fit:
    """Return what the model of a config.json takes with `context` tokens in its cache, read `chunk` tokens at a time.

    `metal` says that it runs on Metal, whose kernels hold no attention scores for the usual head widths. `element_bytes` is the
    size of an activation and of every weight that is not packed (default: the config's own type); `weights_bytes`, where it is
    known, replaces the count of the weights. `rolling` adds the room that a full window takes to drop its oldest rows.

    Raises `ModelBroken` when the config does not describe a model.
    """
    packing = read_packing(config, element_bytes)
    plan = Plan(
        shape=read_shape(config),
        packing=packing,
        context=max(1, context),
        kv_bits=kv_bits,
        chunk=max(1, chunk),
        metal=metal,
        element_bytes=packing.element_bytes,
        rolling=rolling,
        measured_weights=weights_bytes,
    )
    return carry_out(plan)


def carry_out(plan: Plan) -> Fit:
    """Return the prediction of a plan."""
    layers = tuple(plan.shape.layers)
    chunk = min(plan.chunk, plan.context)
    step = Step(chunk, plan.context, plan.kv_bits, plan.element_bytes, plan.metal, plan.rolling)
    weights, cache = weight_terms(plan), cache_terms(plan, step)
    prefill, largest = prefill_terms(plan, step)
    weights_bytes, kv_bytes = sum(term.bytes for term in weights), sum(term.bytes for term in cache)
    plain = predicted_weights(plan)
    read = sum(read_of(plan, layer, matrix) for layer, matrix in plan.shape.matrices)
    return Fit(
        weights_bytes=weights_bytes,
        kv_bytes=kv_bytes,
        peak_bytes=weights_bytes + kv_bytes + sum(term.bytes for term in prefill),
        terms=(*weights, *cache, *prefill),
        context=plan.context,
        kv_bits=plan.kv_bits,
        chunk=chunk,
        read_weights=round(read * (weights_bytes / plain if plain else 1)),
        read_kv=round(sum(read_bytes(layer, plan.context, plan.kv_bits, plan.element_bytes) for layer in layers)),
        kv_bytes_per_token=rows_by_kind(plan),
        largest_buffer=round(max((largest, *(plan.packing.matrix_bytes(layer, one) for layer, one in plan.shape.matrices)))),
        known=plan.shape.known,
        plan=plan,
    )


def judge(fit: Fit, budget: int, max_buffer: int | None = None) -> Verdict:
    """Return whether `fit` stays inside `budget` bytes, and its largest array inside what one buffer may take (None: any)."""
    over = max(0, fit.peak_bytes - budget)
    if fit.weights_bytes > budget:
        return Verdict(False, over, "The weights alone are larger than what a model may take here.")
    if over:
        return Verdict(False, over, "The weights fit, but not with a cache for this context and the reading of a prompt.")
    if max_buffer is not None and fit.largest_buffer > max_buffer:
        return Verdict(False, 0, f"One array would be larger than the largest that {THIS_MACHINE}'s GPU takes.")
    return Verdict(True, 0, "It fits.")


def largest_context(fit: Fit, budget: int, max_buffer: int | None = None) -> int:
    """Return the most tokens that fit into `budget`, everything else as in `fit`: a multiple of 256, or the trained length.

    0 when not even 256 do.
    """
    most = (fit.plan.shape.context or LARGEST_CONTEXT) // STEP
    low, high = 0, max(1, most)
    while low < high:
        middle = (low + high + 1) // 2
        if judge(change(fit, context=middle * STEP), budget, max_buffer).fits:
            low = middle
        else:
            high = middle - 1
    return min(low * STEP, fit.plan.shape.context or LARGEST_CONTEXT)


def change(fit: Fit, **changes: Any) -> Fit:
    """Return the prediction again with other fields of its plan: `context`, `kv_bits`, `chunk`."""
    return carry_out(replace(fit.plan, **changes))


def degrade(fit: Fit, budget: int, max_buffer: int | None = None) -> tuple[Offer, ...]:
    """Return what would make it fit, the smallest loss first: smaller chunks, then KV precision, then a shorter context.

    Each changes as little as it can: the largest chunk, the highest precision, the longest context that fits. Where smaller
    chunks alone are not enough, a lower precision and a shorter context take them along: they cost only time. Empty when it
    fits already, and when nothing would help.
    """
    if judge(fit, budget, max_buffer).fits:
        return ()
    asked = fit.plan.chunk
    smaller = _first(fit, budget, max_buffer, [{"chunk": size} for size in _halves(asked, SMALLEST_CHUNK)])
    usual = (asked,) if smaller is not None else (asked, *_halves(asked, SMALLEST_USUAL_CHUNK))
    coarser = list(BITS)[list(BITS).index(fit.kv_bits) + 1 :]
    packed = _first(fit, budget, max_buffer, [{"kv_bits": bits, "chunk": size} for bits in coarser for size in usual])
    lengths = {size: largest_context(change(fit, chunk=size), budget, max_buffer) for size in usual}
    best = max(usual, key=lambda size: lengths[size])
    offers = []
    if smaller is not None:
        offers.append(Offer("chunk", smaller))
    if packed is not None:
        offers.append(Offer("kv_bits", packed))
    if 0 < lengths[best] < fit.context:
        offers.append(Offer("context", change(fit, chunk=best, context=lengths[best])))
    return tuple(offers)


def refine(
    fit: Fit,
    *,
    weights_bytes: int | None = None,
    kv_bytes_per_token: Mapping[str, float] | None = None,
    element_bytes: int | None = None,
) -> Fit:
    """Return the prediction with what a loaded model told instead of what its config made expect.

    `weights_bytes` is what its arrays hold; `kv_bytes_per_token` what one token added to the unquantized caches, by kind as in
    `Fit.kv_bytes_per_token`; `element_bytes` the size of an activation, which is that of a key.
    """
    plan = fit.plan
    if element_bytes is not None:
        plan = replace(plan, element_bytes=element_bytes)
    expected = rows_by_kind(replace(plan, measured_rows={}))
    told = kv_bytes_per_token or {}
    rows = {kind: told[kind] / expected[kind] for kind in expected if told.get(kind, 0) > 0 and expected[kind] > 0}
    measured = plan.measured_weights if weights_bytes is None else weights_bytes
    return carry_out(replace(plan, measured_weights=measured, measured_rows={**plan.measured_rows, **rows}))


def as_seen(fit: Fit, kv_bytes_per_token: int) -> Fit:
    """Return the prediction for a model of which one token was seen to take so many bytes of the cache, all kinds together.

    What was seen counts where it is more than the config makes expect.
    """
    known = fit.kv_bytes_per_token
    expected = sum(known.values())
    if kv_bytes_per_token <= expected:
        return fit
    more = kv_bytes_per_token / (expected or kv_bytes_per_token)
    return refine(fit, kv_bytes_per_token={kind: size * more for kind, size in known.items()})


def decode_ceiling(fit: Fit, bandwidth_bytes_per_s: float | None) -> float | None:
    """Return the most tokens a second that memory allows at the full context; None where the bandwidth is not known."""
    if not bandwidth_bytes_per_s:
        return None
    return decode_ceiling_tps(bandwidth_bytes_per_s, fit.read_weights, fit.read_kv)


def _first(fit: Fit, budget: int, max_buffer: int | None, tries: list[dict[str, Any]]) -> Fit | None:
    return next((found for one in tries if judge(found := change(fit, **one), budget, max_buffer).fits), None)


def _halves(chunk: int, smallest: int) -> tuple[int, ...]:
    """The sizes below `chunk`, each half of the one before."""
    sizes = []
    while chunk // 2 >= smallest:
        chunk //= 2
        sizes.append(chunk)
    return tuple(sizes)
