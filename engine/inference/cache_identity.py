"""What decides whether rows and states that were computed earlier are what this model would compute now."""

from importlib.metadata import version

import mlx.core as mx
from mlx.utils import tree_flatten

from engine.cache.policy import CachePolicy
from engine.inference.loader import Loaded

NUMBERS = 1
"""Raise it when Flint itself computes rows differently than before."""


def cache_identity(loaded: Loaded, template_hash: str, policy: CachePolicy) -> dict[str, str | int]:
    """Return the weights, how they are held, the cache's precision, the chat template, and whose code computes with them."""
    arrays = (array for _, array in tree_flatten(loaded.model.parameters()))
    return {
        "fingerprint": loaded.facts.fingerprint,
        "held": " ".join(sorted({str(array.dtype).removeprefix("mlx.core.") for array in arrays})),
        "device": str(mx.default_device()),
        "kv_bits": policy.kv_bits,
        "template": template_hash,
        "mlx_lm": version("mlx-lm"),
        "numbers": NUMBERS,
    }
