"""What a Llama-family GGUF says about its model, in the words of a Hugging Face config and of mlx-lm's weights."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from engine.models.gguf_header import Header
from engine.models.gguf_plan import GgufModel, Planned, Settings, check_shapes, locate

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


def read_llama(header: Header) -> GgufModel:
    """Return the config and the tensors of a Llama-family GGUF.

    Raises `ModelUnsupported`, naming what it is, for a mixture of experts, a rope or a tensor kind that is not known;
    `ModelBroken` when something needed is missing or has a shape that does not fit.
    """
    settings = Settings(header, "Llama")
    if settings.integer("expert_count", default=0):
        raise settings.unsupported("is a mixture of experts, which Flint can't import yet")
    hidden = settings.integer("embedding_length", minimum=1)
    heads, kv_heads, head_dim = settings.head_sizes(hidden)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": hidden,
        "num_hidden_layers": settings.integer("block_count", minimum=1),
        "intermediate_size": settings.integer("feed_forward_length", minimum=1),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "rms_norm_eps": settings.number("attention.layer_norm_rms_epsilon"),
        "vocab_size": settings.vocabulary(),
        "max_position_embeddings": settings.integer("context_length", minimum=1),
        "rope_theta": settings.number("rope.freq_base", default=10000.0),
        "rope_traditional": False,
        "attention_bias": settings.has_tensor("blk.0.attn_q.bias"),
        "mlp_bias": settings.has_tensor("blk.0.ffn_gate.bias"),
        "hidden_act": "silu",
        "tie_word_embeddings": not settings.has_tensor("output.weight"),
    }
    scaling = settings.linear_scaling()
    if scaling is None and settings.has_tensor(FREQUENCIES):
        scaling = _llama3_scaling(settings)
    if scaling is not None:
        config["rope_scaling"] = scaling
    tensors = []
    for info in header.tensors:
        if info.name != FREQUENCIES:
            path, part = locate(settings, info, _TOP, _BLOCK)
            interleaved = {"q_proj": heads, "k_proj": kv_heads}.get(path.rpartition(".")[2], 0)
            tensors.append(Planned(info, path, part, interleaved))
    check_shapes(settings, _expected(config), tensors)
    return GgufModel(config, tuple(tensors))


def _llama3_scaling(settings: Settings) -> dict[str, Any]:
    """Recover Llama 3's rope scaling from the factors that a converter computed from it.

    The factors are a function of four numbers, of which only the largest factor shows; the other three are the same in every
    Llama 3.1, 3.2 and 3.3. They are used only where they give the very factors in the file.
    """
    import numpy as np

    header = settings.header
    info = next(info for info in header.tensors if info.name == FREQUENCIES)
    if info.kind != "F32":
        raise settings.unsupported(f"has rope factors of kind {info.kind}")
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
    wavelengths = 2 * math.pi * settings.number("rope.freq_base", default=10000.0) ** (np.arange(len(stored)) / len(stored))
    smooth = np.clip((8192 / wavelengths - 1.0) / (4.0 - 1.0), 0.0, 1.0)
    expected = 1 / ((1 - smooth) / factor + smooth)
    if not np.allclose(stored, expected, rtol=1e-3):
        raise settings.unsupported("has rope factors that Flint does not know")
    return scaling


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
