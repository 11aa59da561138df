"""Whether a model on the hub would run here and how fast, from its config and this machine, in a word for its row."""

from typing import Literal

from app.models.badge import BadgeKind
from app.models.machine import Machine
from engine.core.context import LARGEST_DEFAULT_CONTEXT, context_limit
from engine.core.errors import ModelBroken
from engine.core.record import Record
from engine.models.facts import config_of
from engine.models.fit import Fit, Verdict, change, decode_ceiling, judge, largest_context
from engine.models.load_plan import predict_unread

type Standing = Literal["unknown", "fits", "less", "no"]


class Assessment(Record):
    """How a model stands here.

    `context` is the most tokens that fit where the usual ones do not; `rate` the most tokens a second that the memory allows
    with the window half full, None where the bandwidth is not known.
    """

    standing: Standing = "unknown"
    context: int = 0
    rate: float | None = None


class Figures(Record):
    """A prediction at one context length, judged; `rate` as in `Assessment`."""

    fit: Fit
    verdict: Verdict
    rate: float | None


def figures(config: str, size_bytes: int, context: int, machine: Machine) -> Figures | None:
    """Return the prediction for a config.json with `context` tokens; None where it does not describe a model.

    `size_bytes` is what its files hold, 0 where that is not known. It takes some 50 ms: not for the window's thread.
    """
    try:
        fit = predict_unread(
            config_of(config),
            context=context,
            metal=machine.metal,
            memory_bytes=machine.memory_bytes,
            size_bytes=size_bytes,
        )
    except ModelBroken:
        return None
    verdict = judge(fit, machine.budget, machine.max_buffer)
    half = change(fit, context=max(1, context // 2)) if machine.bandwidth else fit
    return Figures(fit, verdict, decode_ceiling(half, machine.bandwidth))


def most_context(config: str, size_bytes: int, machine: Machine) -> int:
    """Return the most tokens that fit here; 0 where none do, or the config does not describe a model."""
    found = figures(config, size_bytes, LARGEST_DEFAULT_CONTEXT, machine)
    return largest_context(found.fit, machine.budget, machine.max_buffer) if found else 0


def assess(config: str, size_bytes: int, trained: int, machine: Machine) -> Assessment:
    """Return how a model stands on this machine. Not for the window's thread."""
    found = figures(config, size_bytes, context_limit(None, trained), machine)
    if found is None:
        too_large = size_bytes > machine.budget > 0
        return Assessment("no" if too_large else "unknown")
    if found.verdict.fits:
        return Assessment("fits", found.fit.context, found.rate)
    if found.fit.weights_bytes >= machine.budget:
        return Assessment("no")
    most = largest_context(found.fit, machine.budget, machine.max_buffer)
    return Assessment("less", most, found.rate) if most else Assessment("no")


def badge_of(assessment: Assessment | None) -> tuple[str, BadgeKind, str]:
    """Return a badge's text, kind and icon; no text where it is not known."""
    match assessment.standing if assessment else "unknown":
        case "fits":
            return "Fits", "yes", "yes"
        case "less":
            return f"Fits at {tokens_text(assessment.context if assessment else 0)}", "part", "part"
        case "no":
            return "Does not fit", "no", "no"
        case _:
            return "", "plain", ""


def tokens_text(tokens: int) -> str:
    """Return a context length short: “16k”, “512”."""
    return f"{tokens // 1024}k" if tokens >= 1024 else f"{tokens}"


def rate_text(rate: float | None) -> str:
    """Return a rate as “58 tok/s”; a dash where it is not known."""
    if rate is None:
        return "—"
    return f"{rate:,.0f} tok/s" if rate >= 9.5 else f"{rate:.1f} tok/s"
