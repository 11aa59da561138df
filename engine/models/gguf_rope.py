"""How a GGUF says that positions are stretched, in the words of a Hugging Face config (`rope_scaling`)."""

import math
import struct
from typing import Any

from engine.models.gguf_plan import Settings

FREQUENCIES = "rope_freqs.weight"
# One for every two numbers of a head.
MOST_FACTORS = 4096
LONG_FACTORS, SHORT_FACTORS = "rope_factors_long.weight", "rope_factors_short.weight"


def rope_scaling(settings: Settings, *known: str) -> dict[str, Any] | None:
    """Return how positions are stretched, None where they are not; raises `ModelUnsupported` for a kind not in `known`."""
    # The first files had one number and no kind.
    factor = "rope.scale_linear" if settings.get("rope.scaling.factor") is None else "rope.scaling.factor"
    kind = settings.get("rope.scaling.type", "none" if settings.get(factor) is None else "linear")
    if kind == "none":
        return None
    if kind not in known:
        raise settings.unsupported(f"scales its positions by “{kind}”")
    if kind == "linear":
        return {"rope_type": "linear", "factor": settings.number(factor)}
    for key, usual in (("attn_factor", 1.0), ("yarn_ext_factor", 1.0), ("yarn_attn_factor", 1.0), ("yarn_log_multiplier", 0.0)):
        if settings.get(f"rope.scaling.{key}", usual) not in (usual, 0.0, -1.0):
            raise settings.unsupported(f"sets {settings.prefix}.rope.scaling.{key}, which mlx-lm does not know")
    return {
        "rope_type": "yarn",
        "factor": settings.number(factor),
        "original_max_position_embeddings": settings.integer("rope.scaling.original_context_length", minimum=1),
        "beta_fast": settings.number("rope.scaling.yarn_beta_fast", default=32.0),
        "beta_slow": settings.number("rope.scaling.yarn_beta_slow", default=1.0),
    }


def llama3_scaling(settings: Settings) -> dict[str, Any]:
    """Recover Llama 3's rope scaling from the factors that a converter computed from it.

    The factors are a function of four numbers, of which only the largest factor shows; the other three are the same in every
    Llama 3.1, 3.2 and 3.3. They are used only where they give the very factors in the file.
    """
    stored = rope_factors(settings, FREQUENCIES)
    factor = float(f"{max(stored):.5g}")
    scaling = {
        "rope_type": "llama3",
        "factor": factor,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    base = settings.number("rope.freq_base", default=10000.0)
    for index, found in enumerate(stored):
        wavelength = 2 * math.pi * base ** (index / len(stored))
        smooth = min(1.0, max(0.0, (8192 / wavelength - 1.0) / (4.0 - 1.0)))
        if not math.isclose(found, 1 / ((1 - smooth) / factor + smooth), rel_tol=1e-3):
            raise settings.unsupported("has rope factors that Flint does not know")
    return scaling


def rope_factors(settings: Settings, name: str, count: int | None = None) -> tuple[float, ...]:
    """Return the factors in a tensor of the file, `count` of them where given, all positive; raises `ModelBroken`."""
    info = next((info for info in settings.header.tensors if info.name == name), None)
    if info is None:
        raise settings.missing(name)
    if info.kind != "F32":
        raise settings.unsupported(f"has rope factors of kind {info.kind}")
    if len(info.shape) != 1 or info.shape[0] > MOST_FACTORS or (count is not None and info.shape[0] != count):
        raise settings.broken(f"has {info.name} of shape {list(info.shape)}")
    factors = struct.unpack(f"<{info.shape[0]}f", settings.header.read(info))
    if not all(math.isfinite(factor) and factor > 0 for factor in factors):
        raise settings.broken(f"has an unusable {info.name}")
    return factors
