"""What a Llama-family GGUF says about its model, in the words of a Hugging Face config and of mlx-lm's weights."""

import ctypes
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.core.errors import ModelBroken, ModelUnsupported
from engine.models.gguf_header import Header, TensorInfo

ARCHITECTURE = "llama"
QUANTIZED = {"Q4_0": 4, "Q4_1": 4, "Q8_0": 8}
FLOATS = ("F32", "F16", "BF16")
GROUP_SIZE = 32
FREQUENCIES = "rope_freqs.weight"

_TOP = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_BLOCK = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_CHOOSE_ANOTHER = "Choose a model of the Llama family as GGUF, or any model in MLX's own format (safetensors)."


@dataclass(frozen=True)
class Planned:
    """A tensor to convert: its place in the file, mlx-lm's module `path`, the `part` (weight or bias).

    `heads` is 0, or into how many heads its rows are interleaved (the Q and K projections).
    """

    info: TensorInfo
    path: str
    part: str
    heads: int = 0


@dataclass(frozen=True)
class LlamaModel:
    """The config of the model (without its quantization) and what becomes of each tensor, in the file's order."""

    config: Mapping[str, Any]
    tensors: tuple[Planned, ...]


def read_model(header: Header) -> LlamaModel:
    """Return the config and the tensors of a Llama-family GGUF.

    Raises `ModelUnsupported`, naming what it is, for another architecture, a mixture of experts, a rope or a tensor kind
    that is not known; `ModelBroken` when something needed is missing or has a shape that does not fit.
    """
    if header.architecture != ARCHITECTURE:
        named = f"of architecture “{header.architecture}”" if header.architecture else "of no named architecture"
        raise ModelUnsupported(f"{header.path.name} is {named}, which Flint can't import from a GGUF.", _CHOOSE_ANOTHER)
    facts = _Facts(header)
    if header.metadata.get("split.count", 0) not in (0, 1):
        raise ModelUnsupported(
            f"{header.path.name} is one part of a model that was split into several files.",
            "Choose the model as a single file, or join the parts with llama.cpp's `llama-gguf-split --merge`.",
        )
    if facts.integer("expert_count", default=0):
        raise ModelUnsupported(f"{header.path.name} is a mixture of experts, which Flint can't import yet.", _CHOOSE_ANOTHER)
    heads = facts.integer("attention.head_count", minimum=1)
    kv_heads = facts.integer("attention.head_count_kv", minimum=1, default=heads)
    hidden = facts.integer("embedding_length", minimum=1)
    head_dim = facts.integer("attention.key_length", minimum=1, default=hidden // heads)
    if facts.integer("attention.value_length", default=head_dim) != head_dim:
        raise ModelUnsupported(f"{header.path.name} has keys and values of different lengths.", _CHOOSE_ANOTHER)
    if facts.integer("rope.dimension_count", default=head_dim) != head_dim or head_dim % 2:
        raise ModelUnsupported(f"{header.path.name} rotates only part of each head.", _CHOOSE_ANOTHER)
    by_name = {info.name: info for info in header.tensors}
    embedding = by_name.get("token_embd.weight")
    if embedding is None:
        raise facts.missing("token_embd.weight")
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": hidden,
        "num_hidden_layers": facts.integer("block_count", minimum=1),
        "intermediate_size": facts.integer("feed_forward_length", minimum=1),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "rms_norm_eps": facts.number("attention.layer_norm_rms_epsilon"),
        "vocab_size": embedding.shape[0],
        "max_position_embeddings": facts.integer("context_length", minimum=1),
        "rope_theta": facts.number("rope.freq_base", default=10000.0),
        "rope_traditional": False,
        "attention_bias": "blk.0.attn_q.bias" in by_name,
        "mlp_bias": "blk.0.ffn_gate.bias" in by_name,
        "hidden_act": "silu",
        "tie_word_embeddings": "output.weight" not in by_name,
    }
    if (scaling := facts.rope_scaling()) is not None:
        config["rope_scaling"] = scaling
    tensors = tuple(_plan(header, info, heads, kv_heads) for info in header.tensors if info.name != FREQUENCIES)
    _check_shapes(facts, config, {f"{planned.path}.{planned.part}": planned.info for planned in tensors})
    return LlamaModel(config, tensors)


class _Facts:
    """The `llama.*` entries of the metadata, checked as they are asked for."""

    def __init__(self, header: Header) -> None:
        self.header = header

    def broken(self, what: str) -> ModelBroken:
        return ModelBroken(f"{self.header.path.name} {what}.", "Download the file again, or choose another conversion.")

    def missing(self, name: str) -> ModelBroken:
        return self.broken(f"lacks {name}, which a Llama model needs")

    def integer(self, key: str, *, minimum: int = 0, default: int | None = None) -> int:
        value = self.header.metadata.get(f"{ARCHITECTURE}.{key}", default)
        if value is None:
            raise self.missing(f"{ARCHITECTURE}.{key}")
        if not isinstance(value, int) and hasattr(value, "__len__") and len(set(value)) == 1:
            value = value[0]  # One value for each layer, all the same.
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value < 2**31:
            raise self.broken(f"has an unusable {ARCHITECTURE}.{key}")
        return value

    def number(self, key: str, *, default: float | None = None) -> float:
        value = self.header.metadata.get(f"{ARCHITECTURE}.{key}", default)
        if value is None:
            raise self.missing(f"{ARCHITECTURE}.{key}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            raise self.broken(f"has an unusable {ARCHITECTURE}.{key}")
        return _shortest(value)

    def rope_scaling(self) -> dict[str, Any] | None:
        kind = self.header.metadata.get(f"{ARCHITECTURE}.rope.scaling.type", "none")
        if kind == "linear":
            return {"rope_type": "linear", "factor": self.number("rope.scaling.factor")}
        if kind != "none":
            raise ModelUnsupported(f"{self.header.path.name} scales its positions by “{kind}”.", _CHOOSE_ANOTHER)
        if any(info.name == FREQUENCIES for info in self.header.tensors):
            return _llama3_scaling(self)
        return None


def _shortest(value: float) -> float:
    """Return the decimal that a float32 was written from: 9.999999747378752e-06 is meant as 1e-05."""
    for digits in range(6, 9):
        candidate = float(f"{value:.{digits}g}")
        if ctypes.c_float(candidate).value == ctypes.c_float(value).value:
            return candidate
    return value


def _llama3_scaling(facts: _Facts) -> dict[str, Any]:
    """Recover Llama 3's rope scaling from the factors that a converter computed from it.

    The factors are a function of four numbers, of which only the largest factor shows; the other three are the same in every
    Llama 3.1, 3.2 and 3.3. They are used only where they give the very factors in the file.
    """
    import numpy as np

    header = facts.header
    info = next(info for info in header.tensors if info.name == FREQUENCIES)
    if info.kind != "F32":
        raise ModelUnsupported(f"{header.path.name} has rope factors of kind {info.kind}.", _CHOOSE_ANOTHER)
    with header.path.open("rb") as file:
        file.seek(info.offset)
        stored = np.frombuffer(file.read(info.size), "<f4")
    factor = float(f"{stored.max():.5g}")
    scaling = {
        "rope_type": "llama3",
        "factor": factor,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    wavelengths = 2 * math.pi * facts.number("rope.freq_base", default=10000.0) ** (np.arange(len(stored)) / len(stored))
    smooth = np.clip((8192 / wavelengths - 1.0) / (4.0 - 1.0), 0.0, 1.0)
    expected = 1 / ((1 - smooth) / factor + smooth)
    if not np.allclose(stored, expected, rtol=1e-3):
        raise ModelUnsupported(f"{header.path.name} has rope factors that Flint does not know.", _CHOOSE_ANOTHER)
    return scaling


def _plan(header: Header, info: TensorInfo, heads: int, kv_heads: int) -> Planned:
    if info.kind not in FLOATS and info.kind not in QUANTIZED:
        raise ModelUnsupported(
            f"{header.path.name} holds {info.kind} tensors, which Flint can't import yet.",
            "Choose a Q8_0, Q4_0, Q4_1, F16 or BF16 file of the same model.",
        )
    stem, _, part = info.name.rpartition(".")
    if part in ("weight", "bias"):
        if stem in _TOP:
            return Planned(info, _TOP[stem], part)
        match = re.fullmatch(r"blk\.(\d{1,5})\.(\w+)", stem)
        if match and match[2] in _BLOCK:
            interleaved = {"attn_q": heads, "attn_k": kv_heads}.get(match[2], 0)
            return Planned(info, f"model.layers.{int(match[1])}.{_BLOCK[match[2]]}", part, interleaved)
    raise ModelUnsupported(f"{header.path.name} has a tensor {info.name}, which a Llama model does not have.", _CHOOSE_ANOTHER)


def _check_shapes(facts: _Facts, config: Mapping[str, Any], found: dict[str, TensorInfo]) -> None:
    # Lazily: a header may claim a billion layers, and the first missing one ends it.
    for name, shape in _expected(config):
        info = found.pop(name, None)
        if info is None:
            raise facts.missing(name)
        if info.shape != shape:
            raise facts.broken(f"has a tensor {info.name} of shape {list(info.shape)} where {list(shape)} is needed")
        if len(shape) == 1 and info.kind not in FLOATS:
            raise facts.broken(f"has a quantized {info.name}")
    if found:
        raise facts.broken(f"has a tensor that its own settings leave no place for: {next(iter(found))}")


def _expected(config: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, ...]]]:
    hidden, inner, size = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    rows, kv_rows = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    attention = {"q": (rows, hidden), "k": (kv_rows, hidden), "v": (kv_rows, hidden), "o": (hidden, rows)}
    feed_forward = {"gate": (inner, hidden), "up": (inner, hidden), "down": (hidden, inner)}
    yield "model.embed_tokens.weight", (config["vocab_size"], hidden)
    yield "model.norm.weight", (hidden,)
    if not config["tie_word_embeddings"]:
        yield "lm_head.weight", (config["vocab_size"], hidden)
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        yield f"{at}.input_layernorm.weight", (hidden,)
        yield f"{at}.post_attention_layernorm.weight", (hidden,)
        for group, biased, shapes in (
            ("self_attn", config["attention_bias"], attention),
            ("mlp", config["mlp_bias"], feed_forward),
        ):
            for name, shape in shapes.items():
                yield f"{at}.{group}.{name}_proj.weight", shape
                if biased:
                    yield f"{at}.{group}.{name}_proj.bias", shape[:1]
