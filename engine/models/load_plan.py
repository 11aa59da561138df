"""What the loader would make of a model on this machine: what its weights take in memory, and in which type it computes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.facts import Weights
from engine.core.presence import folder_there
from engine.models.facts import count_parameters, read_config
from engine.models.fit import LARGEST_CHUNK, Fit, predict
from engine.models.kv_memory import KVBits
from engine.models.record import read_record
from engine.models.safetensors_file import TensorSpec, check_safetensors

DENSE_SHARE = 4
"""On a CPU the weights are unpacked when they take at most this part of the memory, in float32."""

_FLOATS = frozenset(("F16", "BF16", "F32", "F64"))
_EIGHT_BITS = frozenset(("F8_E4M3", "F8_E5M2"))
# What a model that also sees or hears holds beside its language part, and heads for drafts: mlx-lm leaves them out.
_LEFT_OUT = ("vision", "visual.", "multi_modal", "audio", "embed_vision", "embed_audio", "mtp.", "rotary_emb.inv_freq")


@dataclass(frozen=True)
class LoadPlan:
    """`weights_bytes` in memory, `element_bytes` of an activation, `dense` when packed weights are unpacked."""

    config: dict[str, Any]
    weights_bytes: int
    element_bytes: int
    dense: bool


def plan_load(model: Path, *, metal: bool, memory_bytes: int, weights: Weights = "auto") -> LoadPlan:
    """Return how a model's folder, or a GGUF once imported, would be held on a machine with `memory_bytes`.

    As `engine.inference.loader` does it: on a CPU everything computes in float32, and packed weights are unpacked when that
    takes a quarter of the memory at most. On Metal the files are taken as they are, but what Flint imported from a GGUF
    computes in half precision. `weights` is the setting of that name.

    Raises `ModelBroken` when there is no readable config, or a weights file is damaged; for a GGUF also `ModelUnsupported`.
    """
    config, specs, imported = _of_folder(model) if folder_there(model) else _of_gguf(model)
    specs = [spec for spec in specs if not any(part in spec.name for part in _LEFT_OUT)]
    parameters = count_parameters(specs, config)
    if metal:
        element, dense = 2 if imported else _activation_bytes(specs), weights == "dense"
    else:
        fits = parameters * 4 <= memory_bytes // DENSE_SHARE
        element, dense = 4, weights == "dense" or (weights == "auto" and fits)
    if dense:
        return LoadPlan(config, parameters * element, element, True)
    converted = element if imported or not metal else None
    return LoadPlan(config, sum(_held(spec, converted) for spec in specs), element, False)


def predict_load(plan: LoadPlan, *, context: int, chunk: int, metal: bool, kv_bits: KVBits = "off") -> Fit:
    """Return what a model takes that is held as planned, with `context` tokens, of which `chunk` are read at a time."""
    return predict(
        plan.config,
        context=context,
        kv_bits=kv_bits,
        chunk=chunk,
        metal=metal,
        element_bytes=plan.element_bytes,
        weights_bytes=plan.weights_bytes,
    )


def predict_unread(
    config: Mapping[str, Any],
    *,
    context: int,
    metal: bool,
    memory_bytes: int,
    size_bytes: int = 0,
    chunk: int = LARGEST_CHUNK,
    kv_bits: KVBits = "off",
    weights: Weights = "auto",
) -> Fit:
    """Return what a model takes once it is here and loaded, of which only the config is known, as of one on the hub.

    `size_bytes` is what its files hold, 0 where that is not known: on Metal they are taken as they are. On a CPU with
    `memory_bytes` everything is held in float32, or packed with scales in float32, as `plan_load` says.

    Raises `ModelBroken` when the config does not describe a model.
    """
    run: Any = {"context": context, "kv_bits": kv_bits, "chunk": chunk, "metal": metal}
    if metal:
        return predict(config, **run, weights_bytes=size_bytes or None)
    unpacked = predict(_without_packing(config), **run, element_bytes=4)
    if weights == "dense" or (weights == "auto" and unpacked.weights_bytes <= memory_bytes // DENSE_SHARE):
        return unpacked
    return predict(config, **run, element_bytes=4)


def _without_packing(config: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in config.items() if name not in ("quantization", "quantization_config")}
    text = plain.get("text_config")
    return {**plain, "text_config": _without_packing(text)} if isinstance(text, dict) else plain


def _of_folder(folder: Path) -> tuple[dict[str, Any], list[TensorSpec], bool]:
    files = sorted(folder.glob("model*.safetensors"))
    specs = [spec for path in files for spec in check_safetensors(path).values()]
    return read_config(folder), specs, read_record(folder) is not None


def _of_gguf(path: Path) -> tuple[dict[str, Any], list[TensorSpec], bool]:
    from engine.models.gguf import DEFAULT_BITS
    from engine.models.gguf_header import read_header
    from engine.models.gguf_model import read_model
    from engine.models.gguf_weights import quantization, specs

    model = read_model(read_header(path))
    rule = quantization(model.tensors, DEFAULT_BITS)
    config = {**model.config, "quantization": rule} if rule else dict(model.config)
    return config, [spec for planned in model.tensors for spec in specs(planned, DEFAULT_BITS)], True


def _held(spec: TensorSpec, element: int | None) -> int:
    """Bytes of a tensor in memory, with floating-point numbers of `element` bytes; None leaves them as they are.

    mlx-lm unpacks numbers of 8 bits with a scale for each block to half precision.
    """
    if spec.dtype in _EIGHT_BITS:
        return math.prod(spec.shape) * (element or 2)
    return math.prod(spec.shape) * element if element and spec.dtype in _FLOATS else spec.size


def _activation_bytes(specs: Sequence[TensorSpec]) -> int:
    """The size of an activation: a norm in float32 pulls every one up to it."""
    norms = [spec for spec in specs if "norm" in spec.name and spec.dtype in _FLOATS]
    return 4 if any(spec.dtype in ("F32", "F64") for spec in norms) else 2
