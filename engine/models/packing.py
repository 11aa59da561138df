"""How a config packs its weights: bytes a weight takes, matrix by matrix."""

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.models.config_fields import number
from engine.models.shapes import Matrix

_ELEMENT_BYTES = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1}
# Bits of the scale that a group shares, for the modes of `mx.quantize` that have no bias; the group's usual size.
_SCALE_BITS = {"mxfp4": (8, 32), "mxfp8": (8, 32), "nvfp4": (8, 16)}
_MODE_BITS = {"mxfp4": 4, "mxfp8": 8, "nvfp4": 4}
_FP8_BLOCK = 128
_LAYER = re.compile(r"layers\.(\d+)\.(.+)$")


@dataclass(frozen=True)
class Packed:
    """Group-quantized numbers: `bits` each, and a scale (with a bias in mode `affine`) for every `group`."""

    bits: float
    group: int
    mode: str = "affine"

    def bits_per_weight(self, scale_bits: int) -> float:
        """Return bits + what the group's scale and bias add; `scale_bits` are those of a scale in mode `affine`."""
        if self.mode == "fp8":
            return self.bits + 32 / self.group**2  # one float32 scale a block of group × group
        own = _SCALE_BITS.get(self.mode)
        return self.bits + (own[0] if own else 2 * scale_bits) / self.group


@dataclass(frozen=True)
class Packing:
    """The rule of one config. `element_bytes` is what everything takes that is not packed."""

    element_bytes: int
    general: Packed | None
    overrides: Mapping[tuple[int | None, str], Packed | None]
    left_out: tuple[str, ...]
    parts: frozenset[str] | None

    def of(self, layer: int | None, matrix: Matrix) -> Packed | None:
        """Return how a matrix of a layer (None: outside the layers) is packed; None where it is plain."""
        key = (layer, f"experts.{matrix.name}" if matrix.part == "experts" else matrix.name)
        own = self.overrides.get(key, self.general)
        if own is None or not matrix.packable or (matrix.columns % own.group and own.mode != "fp8"):
            return None
        if key in self.overrides:
            return own
        if self.parts is not None and matrix.part not in self.parts:
            return None
        path = f"model.layers.{layer}.{_folder(matrix)}.{matrix.name}" if layer is not None else matrix.name
        return None if any(_matches(pattern, path) for pattern in self.left_out) else own

    def matrix_bytes(self, layer: int | None, matrix: Matrix) -> float:
        """Return what a matrix takes, scales included: a packed one count · (bits + 32 / group) / 8 in half precision."""
        packed = self.of(layer, matrix)
        if packed is None:
            return float(matrix.count * self.element_bytes)
        # MLX keeps scales and biases in the activations' own type.
        return matrix.count * packed.bits_per_weight(8 * self.element_bytes) / 8


def read_packing(config: Mapping[str, Any], element_bytes: int | None = None) -> Packing:
    """Return the packing that a config.json declares, in mlx-lm's form (`quantization`) or its maker's (`quantization_config`).

    `element_bytes` overrides the size of the numbers that are not packed; without it the config's own type decides, and half
    precision where it names none.
    """
    text = config.get("text_config")
    nested = text if isinstance(text, dict) else {}
    rule = config.get("quantization") or config.get("quantization_config") or nested.get("quantization_config")
    size = element_bytes or element_bytes_of(config)
    if not isinstance(rule, dict):
        return Packing(size, None, {}, (), None)
    method = rule.get("quant_method")
    if isinstance(config.get("quantization"), dict) or method is None:
        return Packing(size, _packed(rule), _overrides(rule), (), None)
    return _of_its_maker(rule, str(method), size)


def element_bytes_of(config: Mapping[str, Any]) -> int:
    """Return the bytes of one number in the type that a config names; 2 where it names none."""
    text = config.get("text_config")
    for source in (config, text if isinstance(text, dict) else {}):
        for name in ("torch_dtype", "dtype"):
            kind = source.get(name)
            if isinstance(kind, str) and kind in _ELEMENT_BYTES:
                return max(2, _ELEMENT_BYTES[kind])
    return 2


def _packed(rule: Mapping[str, Any]) -> Packed | None:
    mode = str(rule.get("mode") or "affine")
    bits = number(rule, "bits") or _MODE_BITS.get(mode, 0)
    group = number(rule, "group_size") or _SCALE_BITS.get(mode, (0, 64))[1]
    return Packed(bits, group, mode) if bits else None


def _overrides(rule: Mapping[str, Any]) -> dict[tuple[int | None, str], Packed | None]:
    """The modules that mlx-lm's rule names one by one: with their own bits, or false where they stay plain."""
    found: dict[tuple[int | None, str], Packed | None] = {}
    for path, own in rule.items():
        if not isinstance(own, dict) and own is not False:
            continue
        inside = _LAYER.search(path)
        layer, rest = (int(inside[1]), inside[2]) if inside else (None, path)
        name = rest.rpartition(".")[2]
        if "switch_" in rest or ".experts." in f".{rest}":
            name = f"experts.{name}"
        found[layer, name] = _packed(own) if isinstance(own, dict) else None
    return found


def _of_its_maker(rule: Mapping[str, Any], method: str, size: int) -> Packing:
    left = rule.get("modules_to_not_convert") or rule.get("ignore") or rule.get("exclude_modules") or ()
    left_out = tuple(name for name in left if isinstance(name, str)) if isinstance(left, list) else ()
    inside = frozenset(("attention", "recurrent", "feed-forward", "experts"))
    match method:
        case "mxfp4":  # gpt-oss: the experts only
            return Packing(size, Packed(4, 32, "mxfp4"), {}, left_out, frozenset(("experts",)))
        case "mxfp8":
            return Packing(size, Packed(8, 32, "mxfp8"), {}, left_out, inside)
        case "fp8":
            block = rule.get("weight_block_size")
            edge = block[0] if isinstance(block, list) and block and isinstance(block[0], int) else _FP8_BLOCK
            return Packing(size, Packed(8, max(1, edge), "fp8"), {}, left_out, inside)
        case "modelopt":
            return Packing(size, Packed(4, number(rule, "group_size") or 16, "nvfp4"), {}, left_out, inside)
        case "compressed-tensors":
            groups = rule.get("config_groups")
            first: Any = next(iter(groups.values()), {}) if isinstance(groups, dict) else {}
            weights = first.get("weights") if isinstance(first, dict) else None
            own = weights if isinstance(weights, dict) else {}
            return Packing(size, Packed(number(own, "num_bits") or 4, number(own, "group_size") or 32), {}, left_out, inside)
        case _:
            bits = number(rule, "bits", "w_bit")
            general = Packed(bits, number(rule, "group_size", "q_group_size") or 128) if bits else None
            return Packing(size, general, {}, left_out, inside)


def _folder(matrix: Matrix) -> str:
    if matrix.part == "attention":
        return "self_attn"
    return "mlp.experts" if matrix.part == "experts" else "mlp.router" if matrix.name == "gate" else "mlp"


def _matches(pattern: str, path: str) -> bool:
    if pattern.startswith("re:"):
        try:
            return re.match(pattern[3:], path) is not None
        except re.error:
            return False
    return fnmatch.fnmatchcase(path, f"*{pattern}*")
