"""What every architecture's reading of a GGUF shares: its settings checked as they are asked for, its tensors given a place."""

import ctypes
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.core.errors import ModelBroken, ModelUnsupported
from engine.models.gguf_file import Header, TensorInfo
from engine.models.gguf_kinds import EXACT, FLOATS, NEAR, ROUNDED

CHOOSE_ANOTHER = "Choose the same model in MLX's own format (safetensors), or another conversion of it."

# What stands before and after the layers has the same names everywhere.
TOP: Mapping[str, str] = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
LAYER: Mapping[str, str] = {
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

type Shapes = Iterable[tuple[str, tuple[int, ...]]]


@dataclass(frozen=True)
class Planned:
    """A tensor to convert: its place in the file, mlx-lm's module `path`, the `part` (weight, bias, sinks).

    `heads` is 0, or into how many heads its rows are interleaved (Llama's Q and K projections). `one_added` tells that the
    file holds the values with 1 added (Gemma's norms).
    """

    info: TensorInfo
    path: str
    part: str
    heads: int = 0
    one_added: bool = False


@dataclass(frozen=True)
class GgufModel:
    """The config of the model (without its quantization) and what becomes of each tensor, in the file's order.

    A `torch_dtype` in it is what the model has to be computed in; without one the weights' own type will do.
    """

    config: Mapping[str, Any]
    tensors: tuple[Planned, ...]


class Settings:
    """The metadata entries of one architecture (`llama.block_count`, …), checked as they are asked for.

    `family` is what people call the architecture: “Llama”.
    """

    def __init__(self, header: Header, family: str) -> None:
        self.header, self.family = header, family
        self.prefix = header.architecture

    def broken(self, what: str) -> ModelBroken:
        """Return the error for a file that contradicts itself."""
        return ModelBroken(f"{self.header.path.name} {what}.", "Download the file again, or choose another conversion.")

    def missing(self, name: str) -> ModelBroken:
        """Return the error for a setting or tensor that is not there."""
        return self.broken(f"lacks {name}, which a {self.family} model needs")

    def unsupported(self, what: str) -> ModelUnsupported:
        """Return the error for what Flint has no way to run."""
        return ModelUnsupported(f"{self.header.path.name} {what}.", CHOOSE_ANOTHER)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the entry as it stands in the file."""
        return self.header.metadata.get(f"{self.prefix}.{key}", default)

    def integer(self, key: str, *, minimum: int = 0, default: int | None = None) -> int:
        """Return a whole number from `minimum` to 2³¹ − 1; raises `ModelBroken`."""
        value = self.get(key, default)
        if value is None:
            raise self.missing(f"{self.prefix}.{key}")
        if not isinstance(value, int) and hasattr(value, "__len__") and len(set(value)) == 1:
            value = value[0]  # One value for each layer, all the same.
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value < 2**31:
            raise self.broken(f"has an unusable {self.prefix}.{key}")
        return value

    def number(self, key: str, *, default: float | None = None) -> float:
        """Return a positive number; raises `ModelBroken`."""
        value = self.get(key, default)
        if value is None:
            raise self.missing(f"{self.prefix}.{key}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            raise self.broken(f"has an unusable {self.prefix}.{key}")
        return _shortest(value)

    def head_sizes(self, hidden: int, *, partly_rotated: bool = False) -> tuple[int, int, int]:
        """Return the heads, the KV heads and a head's length; raises `ModelUnsupported` for what mlx-lm lacks."""
        heads = self.integer("attention.head_count", minimum=1)
        kv_heads = self.integer("attention.head_count_kv", minimum=1, default=heads)
        head_dim = self.integer("attention.key_length", minimum=1, default=hidden // heads)
        if heads % kv_heads:
            raise self.broken(f"has {heads} heads that can't share {kv_heads} keys")
        if self.integer("attention.value_length", default=head_dim) != head_dim:
            raise self.unsupported("has keys and values of different lengths")
        if not partly_rotated and self.rotated(head_dim) != head_dim:
            raise self.unsupported("rotates only part of each head")
        return heads, kv_heads, head_dim

    def rotated(self, head_dim: int) -> int:
        """Return how many numbers of each head are rotated by their position; raises `ModelBroken`."""
        count = self.integer("rope.dimension_count", minimum=2, default=head_dim)
        if count > head_dim or count % 2:
            raise self.broken(f"rotates {count} of {head_dim} numbers in each head")
        return count

    def vocabulary(self) -> int:
        """Return the rows of the embedding."""
        for info in self.header.tensors:
            if info.name == "token_embd.weight":
                return info.shape[0]
        raise self.missing("token_embd.weight")

    def has_tensor(self, name: str) -> bool:
        """Say whether the file holds a tensor of that name."""
        return any(info.name == name for info in self.header.tensors)


def _shortest(value: float) -> float:
    """Return the decimal that a float32 was written from: 9.999999747378752e-06 is meant as 1e-05."""
    for digits in range(6, 9):
        candidate = float(f"{value:.{digits}g}")
        if ctypes.c_float(candidate).value == ctypes.c_float(value).value:
            return candidate
    return value


def locate(settings: Settings, info: TensorInfo, top: Mapping[str, str], block: Mapping[str, str]) -> tuple[str, str]:
    """Return mlx-lm's module path and part of a tensor, by the tables from llama.cpp's stems to mlx-lm's.

    Raises `ModelUnsupported` for a tensor that the architecture does not have, or of a kind that is not read.
    """
    if info.kind not in (*FLOATS, *EXACT, *NEAR, *ROUNDED):
        raise ModelUnsupported(
            f"{settings.header.path.name} holds {info.kind} tensors, which Flint can't import yet.",
            "Choose a Q8_0, Q6_K, Q5_K_M, Q4_K_M, F16 or BF16 file of the same model.",
        )
    stem, _, part = info.name.rpartition(".")
    if part in ("weight", "bias"):
        if stem in top:
            return top[stem], part
        match = re.fullmatch(r"blk\.(\d{1,5})\.(\w+)", stem)
        if match and match[2] in block:
            return f"model.layers.{int(match[1])}.{block[match[2]]}", part
    raise settings.unsupported(f"has a tensor {info.name}, which a {settings.family} model does not have")


def located(settings: Settings, block: Mapping[str, str], *, ignored: Iterable[str] = ()) -> list[Planned]:
    """Return every tensor of a file at its place, but for those `ignored` by name; raises as `locate` does."""
    return [Planned(info, *locate(settings, info, TOP, block)) for info in settings.header.tensors if info.name not in ignored]


def check_shapes(settings: Settings, expected: Shapes, tensors: Iterable[Planned]) -> None:
    """Check that the tensors are those `expected` by name and shape, no more and no fewer; raises `ModelBroken`.

    `expected` is read lazily: a header may claim a billion layers, and the first missing one ends it.
    """
    found = {f"{planned.path}.{planned.part}": planned.info for planned in tensors}
    for name, shape in expected:
        info = found.pop(name, None)
        if info is None:
            raise settings.missing(name)
        if info.shape != shape:
            raise settings.broken(f"has a tensor {info.name} of shape {list(info.shape)} where {list(shape)} is needed")
        if (len(shape) == 1 or not name.endswith(".weight")) and info.kind not in FLOATS:
            raise settings.broken(f"has a quantized {info.name}")
    if found:
        raise settings.broken(f"has a tensor that its own settings leave no place for: {next(iter(found))}")
