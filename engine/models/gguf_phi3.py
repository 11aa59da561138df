"""What a Phi-3, Phi-3.5 mini or Phi-4 GGUF says about its model, in the words of a Hugging Face config and of mlx-lm's `phi3`.

Q, K and V are one matrix, gate and up another, in the file as in mlx-lm. Models for long contexts stretch each frequency by a
factor of its own; mlx-lm uses those for long contexts at any length. Phi-4 mini rotates three quarters of a head. A window,
which the first Phi-3 has, is not kept: neither llama.cpp nor mlx-lm looks through it.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from engine.models.gguf_config import check_even_heads, usual_config
from engine.models.gguf_file import Header
from engine.models.gguf_plan import LAYER, GgufModel, Settings, check_shapes, located
from engine.models.gguf_rope import LONG_FACTORS, SHORT_FACTORS, rope_factors, rope_scaling
from engine.models.gguf_shapes import Shape, ends, norms

_FUSED = {"attn_qkv": "self_attn.qkv_proj", "ffn_up": "mlp.gate_up_proj"}
_BLOCK = {stem: path for stem, path in LAYER.items() if stem not in ("attn_q", "attn_k", "attn_v", "ffn_gate")} | _FUSED


def read_phi3(header: Header) -> GgufModel:
    """Return the config and the tensors of a Phi-3 or Phi-4 GGUF; raises as `read_model` does."""
    settings = Settings(header, "Phi-3")
    usual = usual_config(settings, "phi3", partly_rotated=True)
    check_even_heads(settings, usual)
    head_dim, context = usual["head_dim"], usual["max_position_embeddings"]
    rotated = settings.rotated(head_dim)
    config = {
        "architectures": ["Phi3ForCausalLM"],
        **usual,
        "original_max_position_embeddings": settings.integer(
            "rope.scaling.original_context_length", minimum=1, default=context
        ),
        "partial_rotary_factor": _share(rotated, head_dim),
        "hidden_act": "silu",
    }
    if settings.has_tensor(LONG_FACTORS):
        config["rope_scaling"] = _long_rope(settings, config, rotated // 2)
    else:
        rope_scaling(settings)
    tensors = located(settings, _BLOCK, ignored=(LONG_FACTORS, SHORT_FACTORS))
    check_shapes(settings, _expected(config), tensors)
    return GgufModel(config, tuple(tensors))


def _share(rotated: int, head_dim: int) -> float:
    """Return the part of a head that is rotated, such that mlx-lm, which cuts the product off, gets the number back."""
    share = rotated / head_dim
    return share if int(head_dim * share) == rotated else math.nextafter(share, 2.0)


def _long_rope(settings: Settings, config: Mapping[str, Any], count: int) -> dict[str, Any]:
    original, context = config["original_max_position_embeddings"], config["max_position_embeddings"]
    usual = math.sqrt(1 + math.log(context / original) / math.log(original)) if context > original > 1 else 1.0
    if not math.isclose(settings.number("rope.scaling.attn_factor", default=usual), usual, rel_tol=1e-3):
        raise settings.unsupported(f"sets {settings.prefix}.rope.scaling.attn_factor to what mlx-lm does not compute")
    return {
        "type": "longrope",
        "long_factor": [float(f"{factor:.7g}") for factor in rope_factors(settings, LONG_FACTORS, count)],
        "short_factor": [float(f"{factor:.7g}") for factor in rope_factors(settings, SHORT_FACTORS, count)],
    }


def _expected(config: Mapping[str, Any]) -> Iterator[Shape]:
    yield from ends(config)
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    keys = hidden // config["num_attention_heads"] * config["num_key_value_heads"]
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        yield from norms(config, at, "input", "post_attention")
        yield f"{at}.self_attn.qkv_proj.weight", (hidden + 2 * keys, hidden)
        yield f"{at}.self_attn.o_proj.weight", (hidden, hidden)
        yield f"{at}.mlp.gate_up_proj.weight", (2 * inner, hidden)
        yield f"{at}.mlp.down_proj.weight", (hidden, inner)
