"""The words for what the KV cache takes, and the prediction behind them."""

import sys
from collections.abc import Mapping
from pathlib import Path

from app.settings.kv_needs import KvModel
from engine.core.context import context_limit
from engine.core.errors import FlintError
from engine.core.setting import Value
from engine.core.settings import BY_NAME, KeyValueCache, build
from engine.core.sizes import size_text
from engine.models.fit import Fit, as_seen, change
from engine.models.load_plan import plan_load, predict_load


class Prediction:
    """The line for a model and settings; what its config says is read once. Belongs to the thread that computes."""

    def __init__(self) -> None:
        self._path = ""
        self._fit: Fit | None = None

    def line(self, model: KvModel, values: Mapping[str, Value]) -> str:
        """Return what the cache takes, in words; empty where the model can't be judged."""
        if model.path != self._path:
            self._path, self._fit = model.path, _read(model.path)
        return "" if self._fit is None else kv_line(self._fit, model, values)


def _read(path: str) -> Fit | None:
    """Return a prediction for a model as it is loaded here. The memory for its weights is not asked for, so neither is read."""
    try:
        metal = sys.platform == "darwin"
        return predict_load(plan_load(Path(path), metal=metal, memory_bytes=0), context=1, chunk=1, metal=metal)
    except FlintError:
        return None


def kv_line(fit: Fit, model: KvModel, values: Mapping[str, Value]) -> str:
    """Return what the cache takes with `values`, and with another precision where that is not the same."""
    asked, bits = values["context"], build(KeyValueCache, values).kv_bits
    tokens = context_limit(int(asked) if asked else None, model.trained or fit.plan.shape.context)
    fit = as_seen(change(fit, context=tokens, kv_bits=bits), model.seen)
    other = change(fit, kv_bits="8" if bits == "off" else "off")
    length = "this length" if asked == tokens else f"{tokens:,} tokens"
    line = f"KV needs {'' if fit.known else 'about '}{size_text(fit.kv_bytes)} at {length}"
    if other.kv_bytes != fit.kv_bytes:
        where = f"at {dict(BY_NAME['kv_bits'].choices)[other.kv_bits]}" if bits == "off" else "when off"
        line += f", {size_text(other.kv_bytes)} {where}"
    return f"{line}."
