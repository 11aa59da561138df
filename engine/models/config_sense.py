"""What in a config.json makes no sense: no figure may be worked out from it in silence."""

from collections.abc import Mapping
from typing import Any

from engine.core.errors import ModelBroken
from engine.models.layer_shapes import MOST_LAYERS

_LAYERS = ("num_hidden_layers", "n_layers", "n_layer", "num_layers")
_HINT = "Take the config.json from the model's own page."


def check_sense(config: Mapping[str, Any]) -> None:
    """Raise `ModelBroken` where a field that is there holds what no model has: no heads, no bits, layers without end."""
    nested = config.get("text_config")
    for part in (config, nested if isinstance(nested, dict) else {}):
        for name in (*_LAYERS, "num_attention_heads"):
            _check_count(name, part.get(name), MOST_LAYERS if name in _LAYERS else None)
        for name in ("quantization", "quantization_config"):
            rule = part.get(name)
            if isinstance(rule, dict) and rule.get("bits") is not None:
                _check_bits(f"{name}.bits", rule["bits"])


def _check_count(name: str, value: Any, most: int | None) -> None:
    if value is None or isinstance(value, list):  # Lists hold a number for each layer.
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ModelBroken(f"The config.json says {name}: {_shown(value)}, which no model has.", _HINT)
    if most is not None and value > most:
        raise ModelBroken(f"The config.json says {name}: {_shown(value)}; Flint counts {most:,} at most.", _HINT)


def _check_bits(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 32:
        raise ModelBroken(f"The config.json says {name}: {_shown(value)}, which is no number of bits.", _HINT)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"“{value[:40]}”"
    return f"{value:,}" if isinstance(value, int) and abs(value) < 10**15 else f"a {type(value).__name__}"
