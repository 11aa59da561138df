"""What a Gemma 3 GGUF says about its model, in the words of a Hugging Face config and of mlx-lm's `gemma3_text`.

What a file leaves out is the same in all of Gemma 3 and written in llama.cpp: every sixth layer attends to everything, the
others' positions rotate with base 10,000. Pictures are in a file of their own.
"""

from typing import Any

from engine.models.gguf_file import Header
from engine.models.gguf_gemma import gemma_config, gemma_model
from engine.models.gguf_plan import GgufModel, Settings
from engine.models.gguf_rope import rope_scaling

PATTERN = 6
LOCAL_ROPE_BASE = 10000.0
LAYERS_OF_27B = 62


def read_gemma3(header: Header) -> GgufModel:
    """Return the config and the tensors of a Gemma 3 GGUF.

    Raises `ModelUnsupported`, naming what it is, for a variant or a tensor kind that mlx-lm or Flint lacks; `ModelBroken` when
    something needed is missing or has a shape that does not fit.
    """
    settings = Settings(header, "Gemma 3")
    for key in ("final_logit_softcapping", "attn_logit_softcapping"):
        if settings.get(key):
            raise settings.unsupported(f"sets {header.architecture}.{key}, which Gemma 3 does not have")
    config = _config(settings)
    # It stretches the positions of the layers that attend to everything, in mlx-lm as in llama.cpp.
    if (scaling := rope_scaling(settings, "linear")) is not None:
        config["rope_scaling"] = scaling
    return gemma_model(settings, config, normed=True)


def _config(settings: Settings) -> dict[str, Any]:
    config = gemma_config(settings, "gemma3_text", "Gemma3ForCausalLM", layers_of_27b=LAYERS_OF_27B, base=1_000_000.0)
    window = settings.integer("attention.sliding_window", default=0)
    return {
        **config,
        "rope_local_base_freq": settings.number("rope.freq_base_swa", default=LOCAL_ROPE_BASE),
        # Without a window every layer attends to everything: a pattern of one.
        "sliding_window": window or config["max_position_embeddings"],
        "sliding_window_pattern": _pattern(settings, config["num_hidden_layers"]) if window else 1,
    }


def _pattern(settings: Settings, layers: int) -> int:
    """Return after how many layers one attends to everything; a file may give it as a number, or a flag for each layer."""
    key = "attention.sliding_window_pattern"
    value = settings.get(key, PATTERN)
    if isinstance(value, str) or not hasattr(value, "__len__"):
        period = settings.integer(key, minimum=1, default=PATTERN)
        flags = []
    else:
        flags = [bool(flag) for flag in value]
        period = flags.index(False) + 1 if False in flags else layers + 1
    # mlx-lm takes its mask from the first layer that attends to everything: there must be one.
    if period > layers or (flags and not _repeats(flags, period, layers)):
        raise settings.unsupported("has windows in an order that mlx-lm does not run")
    return period


def _repeats(flags: list[bool], period: int, layers: int) -> bool:
    # The length first: a header may claim a billion layers.
    return len(flags) == layers and all(flag == ((layer + 1) % period != 0) for layer, flag in enumerate(flags))
