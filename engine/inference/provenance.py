"""What a reply was made with, as far as it decides the last bits of what is computed; and what is different now."""

import hashlib
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version

import mlx.core as mx
from mlx.utils import tree_flatten

from engine.cache.forwards import UNKNOWN
from engine.core.facts import ReplyFacts
from engine.inference.cache_identity import NUMBERS
from engine.inference.loader import Loaded

type Made = tuple[tuple[str, str], ...]


def made_with(loaded: Loaded) -> Made:
    """Return the names and versions of what computes with a model here, and how its weights are held."""
    kinds = {str(array.dtype).removeprefix("mlx.core.") for _, array in tree_flatten(loaded.model.parameters())}
    return (
        ("MLX", _version("mlx")),
        ("mlx-lm", _version("mlx-lm")),
        ("Device", f"{loaded.device.chip} ({'GPU' if mx.default_device() == mx.gpu else 'CPU'})"),
        ("Weights held as", " and ".join(sorted(kinds))),
        ("Arithmetic", "version " + str(NUMBERS)),
    )


def ids_hash(ids: Sequence[int]) -> str:
    """Return the first 16 hex digits of the SHA-256 of token ids."""
    return hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()[:16]


def differences(then: ReplyFacts, loaded: Loaded, now: ReplyFacts) -> tuple[str, ...]:
    """Return in words what is known to be different from when a reply was made; `now` are the facts of its repetition."""
    found = []
    if then.fingerprint != now.fingerprint:
        found.append(f"Another model file: {then.model} wrote it, and {loaded.facts.name} here is not the same file.")
    if then.template_hash != now.template_hash:
        found.append("The model's chat template is another one now.")
    if then.prompt_hash != now.prompt_hash:
        found.append(
            "What stands before the reply is another text now: the system prompt, a summary or the template's own words."
            if then.prompt_hash
            else "It was not recorded which tokens stood before the reply."
        )
    found += _other_makers(dict(then.made_with), dict(now.made_with))
    if then.kv_bits != now.kv_bits:
        found.append(f"The KV cache's precision is {now.kv_bits} now; it was {then.kv_bits}.")
    if then.context != now.context:
        found.append(f"The context holds {now.context:,} tokens now; it held {then.context:,}.")
    if unknown := sum(count for length, count in then.history if length == UNKNOWN) or _missing(then):
        found.append(
            f"A different cache history: how {unknown:,} tokens known from the cache had been computed is not recorded."
        )
    return tuple(found)


def _other_makers(then: dict[str, str], now: dict[str, str]) -> Iterable[str]:
    if not then:
        return ["It was not recorded which version of MLX and which device made it."]
    return [f"{name}: {now.get(name, 'nothing')} now, {value} then." for name, value in then.items() if now.get(name) != value]


def _missing(then: ReplyFacts) -> int:
    return max(0, then.cached_tokens - sum(count for _, count in then.history))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
