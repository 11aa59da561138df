"""Whether a reply's memory is there before any of it is taken, and what would make it fit."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from engine.core.errors import OutOfMemory
from engine.core.facts import GuardChoice, KVBits
from engine.core.messages import Generate, MemoryRefused
from engine.core.settings import BY_NAME
from engine.core.sizes import size_text
from engine.inference.loader import Loaded
from engine.inference.prefill import LARGEST_CHUNK
from engine.models.fit import Fit, Offer, as_seen, degrade, judge, predict


def expected(loaded: Loaded, *, tokens: int, kv_bits: KVBits, chunk: int | None) -> Fit:
    """Return what a reply takes at its peak: the loaded weights, `tokens` in the KV cache, and reading `chunk` at a time."""
    config: Mapping[str, Any] = loaded.config
    fit = predict(
        config,
        context=tokens,
        kv_bits=kv_bits,
        chunk=min(chunk or LARGEST_CHUNK, LARGEST_CHUNK),
        metal=loaded.device.metal,
        element_bytes=loaded.element_bytes,
        weights_bytes=loaded.facts.weights_bytes,
    )
    return as_seen(fit, loaded.facts.kv_bytes_per_token)


def refusal(request_id: str, fit: Fit, budget: int, max_buffer: int | None) -> MemoryRefused | None:
    """Return what is wrong with a prediction and the changes that would mend it, or None where it fits."""
    verdict = judge(fit, budget, max_buffer)
    if verdict.fits:
        return None
    return MemoryRefused(
        request_id=request_id,
        weights_bytes=fit.weights_bytes,
        kv_bytes=fit.kv_bytes,
        prefill_bytes=fit.peak_bytes - fit.weights_bytes - fit.kv_bytes,
        budget_bytes=budget,
        context=fit.context,
        choices=tuple(_choice(fit, offer) for offer in degrade(fit, budget, max_buffer)),
        arithmetic=tuple(f"{term.name}: {term.formula} = {term.bytes:,} bytes" for term in fit.terms),
    )


def adapted(request: Generate, changes: Iterable[tuple[str, str]]) -> Generate:
    """Return the request with the settings that a `GuardChoice` changes."""
    values: dict[str, Any] = {name: BY_NAME[name].check(value) for name, value in changes}
    return replace(request, **values)


def as_error(refused: MemoryRefused) -> OutOfMemory:
    """Return a refusal as the error that ends its request."""
    need = refused.weights_bytes + refused.kv_bytes + refused.prefill_bytes
    text = (
        f"This needs {size_text(need, 1)} at its peak, and Flint may take {size_text(refused.budget_bytes, 1)} here. "
        "Nothing has been read yet."
    )
    if not refused.choices:
        return OutOfMemory(text, "No smaller setting would make it fit. Close other apps, or choose a smaller model.")
    told = "; or ".join(f"{choice.title} ({size_text(choice.peak_bytes, 1)})" for choice in refused.choices)
    return OutOfMemory(text, f"It would fit with {told}.")


def _choice(fit: Fit, offer: Offer) -> GuardChoice:
    """Tell an offer: the settings it changes, in words, and its figures."""
    changes: dict[str, int | str] = {}
    if offer.fit.chunk != fit.chunk:
        changes["prefill_chunk"] = offer.fit.chunk
    if offer.fit.kv_bits != fit.kv_bits:
        changes["kv_bits"] = offer.fit.kv_bits
    if offer.fit.context != fit.context:
        changes["context"] = offer.fit.context
    titles = {
        "chunk": f"Smaller chunks: {offer.fit.chunk:,} tokens instead of {fit.chunk:,}",
        "kv_bits": f"A KV cache of {offer.fit.kv_bits} bits",
        "context": f"A context of {offer.fit.context:,} tokens",
    }
    details = {
        "chunk": "The same answer; the prompt is read more slowly.",
        "kv_bits": f"The KV cache shrinks from {size_text(fit.kv_bytes, 1)} to {size_text(offer.fit.kv_bytes, 1)}.",
        "context": "The model sees the newest tokens only; older messages are left out.",
    }
    return GuardChoice(
        title=titles[offer.change],
        detail=details[offer.change],
        changes=tuple((name, str(value)) for name, value in changes.items()),
        weights_bytes=offer.fit.weights_bytes,
        kv_bytes=offer.fit.kv_bytes,
        peak_bytes=offer.fit.peak_bytes,
    )
