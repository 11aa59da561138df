"""ggml's tensor kinds: their sizes, and what becomes of each in MLX."""

from collections.abc import Mapping
from dataclasses import dataclass

# Number → (name, weights in a block, bytes of a block).
KINDS: Mapping[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    9: ("Q8_1", 32, 40),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18),
    21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1),
    25: ("I16", 1, 2),
    26: ("I32", 1, 4),
    27: ("I64", 1, 8),
    28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2),
    34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36),
    41: ("Q1_0", 128, 18),
}

BLOCKS: Mapping[str, tuple[int, int]] = {label: (block, width) for label, block, width in KINDS.values()}
FLOATS = ("F32", "F16", "BF16")


@dataclass(frozen=True)
class Form:
    """How MLX packs weights: `bits` each, in groups of `group` that share a scale (and, where affine, a bias)."""

    bits: int
    group: int
    mode: str = "affine"


# Kinds that MLX says in the same numbers (`gguf_unpack`).
EXACT: Mapping[str, Form] = {
    "Q4_0": Form(4, 32),
    "Q4_1": Form(4, 32),
    "Q5_0": Form(5, 32),
    "Q5_1": Form(5, 32),
    "Q8_0": Form(8, 32),
    "MXFP4": Form(4, 32, "mxfp4"),
}
# Kinds whose integers MLX keeps. Their scale is a product of two; rounded to float16 it is off by 2⁻¹¹ at most, which is a
# tenth of what quantizing the weights anew at 8 bits would cost, in half the room.
NEAR: Mapping[str, Form] = {"Q4_K": Form(4, 32), "Q5_K": Form(5, 32)}
# Kinds that MLX has no form for: scales for 16 weights, or weights picked from a table. Dequantized, then quantized anew.
ROUNDED = (
    *("Q2_K", "Q3_K", "Q6_K"),
    *("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS"),
)
