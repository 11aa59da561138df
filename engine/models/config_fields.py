"""Reading numbers from a config.json that may lack any of them, as the model's own class in mlx-lm would fill them in."""

from collections.abc import Mapping
from typing import Any, TypeGuard

from engine.models.architectures import argument_defaults, module_name

MOST = 1 << 53
"""A number above it is none: JSON bounds none, and a product of several has to be a float still."""

# Models that also see pictures: the mlx-lm module that runs their language part.
_LANGUAGE_PART = {
    "gemma3": "gemma3_text",
    "gemma4": "gemma4_text",
    "mistral3": "llama",
    "pixtral": "llama",
    "qwen2_vl": "qwen2",
    "qwen3_vl": "qwen3",
    "qwen3_vl_moe": "qwen3_moe",
    "kimi_vl": "deepseek_v3",
    "kimi_k25": "deepseek_v3",
    "lfm2-vl": "lfm2",
}
# What those modules put into the language part's fields themselves; the vocabulary's size comes from the outer level only.
# Gemma 3's trained length is what its makers' class fills in: their configs leave it out, and mlx-lm does not ask for it.
_FILLED_IN: Mapping[str, Mapping[str, Any]] = {
    "gemma3": {
        "vocab_size": 262208,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "max_position_embeddings": 131072,
    },
    "gemma4": {"vocab_size": 262144, "num_attention_heads": 8, "num_key_value_heads": 1},
    "mistral3": {"tie_word_embeddings": False},
    "pixtral": {"tie_word_embeddings": False},
}


def module_of(config: Mapping[str, Any]) -> str:
    """Return the name of the mlx-lm module that runs the language part of `config`; empty where it names no type."""
    outer, nested = config.get("model_type"), config.get("text_config")
    module = module_name(outer) if isinstance(outer, str) else ""
    if module == "mistral3" and isinstance(nested, dict) and nested.get("model_type") == "ministral3":
        return "ministral3"
    return _LANGUAGE_PART.get(module, module)


def language_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the language part alone, in one level, with the defaults of its class in mlx-lm.

    A model that also sees pictures keeps its language part one level down; published configs leave out what their class
    knows (gemma3's 4B says neither heads nor vocabulary). A field that is null stays None, as it does for mlx-lm.
    """
    nested, outer = config.get("text_config"), config.get("model_type")
    text = dict(nested) if isinstance(nested, dict) else {}
    filled_in = dict(_FILLED_IN.get(outer, {})) if isinstance(outer, str) else {}
    if "vocab_size" in filled_in:
        text.pop("vocab_size", None)
    return {**argument_defaults(module_of(config)), **filled_in, **config, **text}


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST


def number(config: Mapping[str, Any], *names: str) -> int:
    """Return the first of `names` that holds a whole number above 0, within reason; 0 when none does."""
    for name in names:
        value = config.get(name)
        if _is_number(value):
            return value
    return 0


def number_at(config: Mapping[str, Any], index: int, *names: str) -> int:
    """Return as `number`, from a field that may hold one number for all layers or a list with one for each."""
    for name in names:
        value = config.get(name)
        if isinstance(value, list) and value:
            value = value[min(index, len(value) - 1)]
        if _is_number(value):
            return value
    return 0


def flag(config: Mapping[str, Any], name: str, default: bool = False) -> bool:
    """Return a true-or-false field, `default` when it is missing or something else."""
    value = config.get(name)
    return value if isinstance(value, bool) else default


def texts(config: Mapping[str, Any], name: str) -> list[str]:
    """Return a field that holds a list of texts, or a text as its letters; empty when it is missing or something else."""
    value = config.get(name)
    if isinstance(value, str):
        return list(value)
    return list(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else []
