"""What a model's config.json says about its architecture, without loading anything."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.errors import ModelBroken
from engine.core.json_file import read_object
from engine.core.presence import folder_there
from engine.models.config_fields import number
from engine.models.safetensors_file import TensorSpec, check_safetensors

# Layers that keep a state of constant size instead of a KV cache.
_WITHOUT_KV = frozenset(("linear_attention", "mamba", "recurrent", "conv", "moe"))
_FLOAT_NAMES = {"float16": "F16", "bfloat16": "BF16", "float32": "F32"}
# What quantizing adds to a tensor beside the packed weights.
_SCALES, _BIASES = ".scales", ".biases"


@dataclass(frozen=True)
class Facts:
    """A model's shape. Lengths in tokens, sizes in elements; 0 and "" where the config does not say.

    `attention_layers` are those that keep keys and values; `kv_width` is the elements that one of them keeps for a token;
    `parameters` is 0 unless the weights' headers were there to count.
    """

    model_type: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    context: int
    vocab: int
    quantization: str
    bits: float
    parameters: int
    attention_layers: int
    kv_width: int

    def kv_bytes_per_token(self, bytes_per_element: float = 2) -> int:
        """Return what one token adds to the KV cache: Σ over attention layers 2 · H_kv · d_head · bytes (DESIGN 1).

        A sliding layer counts although it stops growing at its window; a multi-head latent attention keeps its latent and
        the rotary part of the key only.
        """
        return round(self.attention_layers * self.kv_width * bytes_per_element)


def read_config(folder: Path) -> dict[str, Any]:
    """Return a model folder's config.json; raises `ModelBroken` when it is missing or no JSON object."""
    path = folder / "config.json"
    try:
        return read_object(path)
    except FileNotFoundError:
        raise ModelBroken(f"{folder.name} has no config.json.") from None
    except OSError as error:
        raise ModelBroken(f"{folder.name}'s config.json could not be read: {error.strerror}.") from error
    except ValueError:
        raise ModelBroken(f"{folder.name}'s config.json is damaged.") from None


def config_of(text: str) -> dict[str, Any]:
    """Return the text of a config.json, as the hub gives it, read; raises `ModelBroken` when it is no JSON object."""
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        raise ModelBroken("The config.json can't be read.")
    return config


def read_facts(source: Path | Mapping[str, Any]) -> Facts:
    """Return the facts of a model folder, a config.json or a config already read.

    Raises `ModelBroken` when there is no readable config, or a weights file beside it is damaged.
    """
    if isinstance(source, Path):
        folder = source if folder_there(source) else source.parent
        config = read_config(folder)
        specs = [spec for path in sorted(folder.glob("model*.safetensors")) for spec in check_safetensors(path).values()]
        return _facts(config, count_parameters(specs, config))
    return _facts(source, 0)


def _facts(config: Mapping[str, Any], parameters: int) -> Facts:
    # A model that also sees pictures keeps its language model's facts one level down.
    nested = config.get("text_config")
    text = {**config, **nested} if isinstance(nested, dict) else config
    layers, hidden = number(text, "num_hidden_layers", "n_layers", "n_layer"), number(text, "hidden_size", "n_embd", "dim")
    heads = number(text, "num_attention_heads", "n_heads", "n_head")
    kv_heads = number(text, "num_key_value_heads", "n_kv_heads") or heads
    head_dim = number(text, "head_dim") or (hidden // heads if heads else 0)
    kinds = text.get("layer_types")
    attending = layers
    if isinstance(kinds, list) and len(kinds) == layers:
        attending = sum(kind not in _WITHOUT_KV for kind in kinds)
    latent = number(text, "kv_lora_rank")
    model_type = config.get("model_type")
    bits = _bits(config)
    return Facts(
        model_type=model_type if isinstance(model_type, str) else "",
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        context=number(text, "max_position_embeddings", "n_positions", "max_seq_len", "n_ctx"),
        vocab=number(text, "vocab_size"),
        quantization=_quantization(config),
        bits=bits,
        parameters=parameters,
        attention_layers=attending,
        kv_width=latent + number(text, "qk_rope_head_dim") if latent else 2 * kv_heads * head_dim,
    )


def _rule(config: Mapping[str, Any]) -> Mapping[str, Any]:
    rule = config.get("quantization") or config.get("quantization_config")
    return rule if isinstance(rule, dict) else {}


def _bits(config: Mapping[str, Any]) -> float:
    bits = _rule(config).get("bits", 0)
    return float(bits) if isinstance(bits, int | float) and not isinstance(bits, bool) else 0.0


def _quantization(config: Mapping[str, Any]) -> str:
    """Return how the weights are stored, for people: “4-bit, groups of 32”, “BF16”, “mxfp4”."""
    rule = _rule(config)
    bits, group, mode = _bits(config), rule.get("group_size"), rule.get("mode") or rule.get("quant_method")
    if mode not in (None, "affine"):
        return str(mode)
    if bits:
        return f"{bits:g}-bit, groups of {group}" if isinstance(group, int) else f"{bits:g}-bit"
    kind = config.get("torch_dtype") or config.get("dtype")
    return _FLOAT_NAMES.get(kind, "") if isinstance(kind, str) else ""


def count_parameters(specs: list[TensorSpec], config: Mapping[str, Any]) -> int:
    """Return the number of weights in `specs`: those packed in 32-bit words by their own bits, scales and biases not at all."""
    rule = _rule(config)
    names = {spec.name for spec in specs}
    count = 0
    for spec in specs:
        size = 1
        for length in spec.shape:
            size *= length
        module, _, part = spec.name.rpartition(".")
        packed = f"{module}{_SCALES}" in names
        if packed and f".{part}" in (_SCALES, _BIASES):
            continue
        if packed and spec.dtype == "U32":
            own = rule.get(module)
            bits = own.get("bits") if isinstance(own, dict) else rule.get("bits")
            size = size * 32 // bits if isinstance(bits, int) and bits > 0 else 0
        count += size
    return count
