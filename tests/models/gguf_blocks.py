"""Random valid blocks of ggml's quantized kinds: what the `gguf` package reads but cannot write."""

import numpy as np

# Where a block's float16 numbers stand; every other byte may have any value.
FLOAT16_AT = {
    "Q4_0": (0,),
    "Q4_1": (0, 2),
    "Q5_0": (0,),
    "Q5_1": (0, 2),
    "Q8_0": (0,),
    "Q2_K": (80, 82),
    "Q3_K": (108,),
    "Q4_K": (0, 2),
    "Q5_K": (0, 2),
    "Q6_K": (208,),
    "IQ1_S": (0,),
    "IQ2_XXS": (0,),
    "IQ2_XS": (0,),
    "IQ2_S": (0,),
    "IQ3_XXS": (0,),
    "IQ3_S": (0,),
    "IQ4_NL": (0,),
    "IQ4_XS": (0,),
    "IQ1_M": (),
    "MXFP4": (),
}
# What the writer of the `gguf` package cannot make.
K_QUANTS = ("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K")
IQ_QUANTS = ("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS")


def random_blocks(kind, shape, seed=0, scale=0.01):
    """Return the rows of bytes of a random matrix of `shape`, [rows, bytes of a row]; scales are ±`scale` · 2^[-3, 3)."""
    import gguf

    block, width = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]]
    rng = np.random.default_rng(seed)
    rows, count = shape[0], shape[1] // block
    data = rng.integers(0, 256, (rows, count, width), dtype=np.uint8)
    for at in FLOAT16_AT[kind]:
        values = scale * 2.0 ** rng.uniform(-3, 3, (rows, count, 1)) * rng.choice([-1, 1], (rows, count, 1))
        data[..., at : at + 2] = values.astype("<f2").view(np.uint8)
    if kind == "IQ1_M":
        _scatter_scale(data, (scale * 2.0 ** rng.uniform(-3, 3, (rows, count))).astype("<f2").view("<u2"))
    if kind == "MXFP4":
        data[..., 0] = rng.integers(118, 124, (rows, count))
    return data.reshape(rows, count * width)


def _scatter_scale(data, bits):
    """Write a float16's four nibbles into the top nibbles of the four words at byte 48, as IQ1_M has its scale."""
    words = data[..., 48:56].copy().view("<u2") & 0x0FFF
    for place in range(4):
        words[..., place] |= ((bits >> (4 * place)) & 0xF) << 12
    data[..., 48:56] = words.view(np.uint8)


def dequantized(kind, rows):
    """Return what the `gguf` package reads in rows of blocks, float32."""
    import gguf

    return gguf.dequantize(rows, gguf.GGMLQuantizationType[kind])
