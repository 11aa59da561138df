"""A layer's attention: what its cache keeps of a token, and its weights."""

from collections.abc import Mapping
from typing import Any, cast

from engine.models.config_fields import flag, number, number_at
from engine.models.shapes import Attention, CacheKind, Matrix

# mlx-lm's modules that keep the latent of a multi-head latent attention; deepseek_v2, minicpm3 and youtu_llm keep every head.
_LATENT = frozenset(
    (
        "deepseek_v3",
        "deepseek_v32",
        "glm4_moe_lite",
        "glm_moe_dsa",
        "kimi_vl",
        "kimi_k25",
        "kimi_linear",
        "kimi_k3",
        "longcat_flash",
        "mistral4",
        "bailing_hybrid",
        "bailing_moe_v3",
    )
)
_QKV_BIAS = frozenset(("qwen2", "qwen2_moe", "qwen2_vl"))
_HEAD_NORMS = frozenset(
    (
        "qwen3",
        "qwen3_moe",
        "qwen3_next",
        "qwen3_5",
        "qwen3_5_moe",
        "gemma3",
        "gemma3_text",
        "gemma3n",
        "gemma4",
        "gemma4_text",
        "lfm2",
        "lfm2_moe",
    )
)
_WIDE_NORMS = frozenset(("olmo2", "olmo3", "olmoe"))

type Part = tuple[Attention, tuple[Matrix, ...], int]


def read_attention(module: str, text: Mapping[str, Any], index: int, kind: str) -> Part:
    """Return the attention of layer `index`, its matrices, and the number of its weights that are never packed."""
    if number(text, "kv_lora_rank"):
        return _latent(module, text, kind)
    hidden, heads = _hidden(text), number_at(text, index, "num_attention_heads", "n_heads", "n_head")
    kv_heads = number_at(text, index, "num_key_value_heads", "n_kv_heads") or (1 if flag(text, "multi_query") else heads)
    dim = number(text, "head_dim") or (hidden // heads if heads else 0)
    keeps_values = True
    if module == "gemma4_text" and kind == "growing":
        dim = number(text, "global_head_dim") or dim
        if flag(text, "attention_k_eq_v"):
            keeps_values, kv_heads = False, number(text, "num_global_key_value_heads") or kv_heads
    shared = _is_shared(text, index)
    attention = Attention(
        kind=cast(CacheKind, kind),
        heads=heads,
        kv_heads=kv_heads,
        key_dim=dim,
        value_dim=dim,
        window=number(text, "attention_chunk_size") if kind == "chunked" else _window(text, kind),
        query_dim=dim,
        output_dim=dim,
        shared=shared,
        sinks=module == "gpt_oss",
        normed=module in _HEAD_NORMS or module in _WIDE_NORMS or flag(text, "use_qk_norm"),
    )
    gates = 2 if module in ("qwen3_next", "qwen3_5", "qwen3_5_moe") else 1
    matrices = [Matrix("attention", "q_proj", gates * heads * dim, hidden)]
    if not shared or module == "gemma3n":  # which keeps the projections that it does not use
        matrices.append(Matrix("attention", "k_proj", kv_heads * dim, hidden))
        if keeps_values:
            matrices.append(Matrix("attention", "v_proj", kv_heads * dim, hidden))
    matrices.append(Matrix("attention", "o_proj", hidden, heads * dim))
    return attention, tuple(matrices), _vectors(module, text, attention, dim)


def _hidden(text: Mapping[str, Any]) -> int:
    return number(text, "hidden_size", "n_embd", "dim", "d_model", "model_dim")


def _window(text: Mapping[str, Any], kind: str) -> int:
    return number(text, "sliding_window", "sliding_window_size", "window_size") if kind == "sliding" else 0


def _is_shared(text: Mapping[str, Any], index: int) -> bool:
    """The last layers of gemma3n and gemma4 read the rows of earlier ones."""
    shared, layers = number(text, "num_kv_shared_layers"), number(text, "num_hidden_layers")
    return 0 < shared < layers and index >= layers - shared


def _vectors(module: str, text: Mapping[str, Any], attention: Attention, dim: int) -> int:
    queries, keys, hidden = attention.heads * dim, attention.kv_heads * dim, _hidden(text)
    if module in _QKV_BIAS:
        return queries + 2 * keys
    if module == "gpt_oss":
        return attention.heads + queries + 2 * keys + hidden
    norms = 0
    if module in _HEAD_NORMS or (flag(text, "use_qk_norm") and module == "glm4_moe"):
        norms = dim if attention.shared and module != "gemma3n" else 2 * dim
    elif module in _WIDE_NORMS:
        norms = queries + keys
    if not flag(text, "attention_bias"):
        return norms
    return norms + queries + 2 * keys + (0 if module == "glm4_moe" else hidden)


def _latent(module: str, text: Mapping[str, Any], kind: str) -> Part:
    """Multi-head latent attention (DeepSeek-V2): keys and values come out of one narrow row for all heads."""
    hidden, heads = _hidden(text), number(text, "num_attention_heads")
    rank, rope = number(text, "kv_lora_rank"), number(text, "qk_rope_head_dim")
    nope, value = number(text, "qk_nope_head_dim"), number(text, "v_head_dim")
    query_rank = number(text, "q_lora_rank")
    matrices = [Matrix("attention", "kv_a_proj_with_mqa", rank + rope, hidden)]
    if query_rank:
        matrices.append(Matrix("attention", "q_a_proj", query_rank, hidden))
        matrices.append(Matrix("attention", "q_b_proj", heads * (nope + rope), query_rank))
    else:
        matrices.append(Matrix("attention", "q_proj", heads * (nope + rope), hidden))
    matrices.append(Matrix("attention", "o_proj", hidden, heads * value))
    if module in _LATENT:
        matrices.append(Matrix("attention", "embed_q", rank, nope, copies=heads, read=heads))
        matrices.append(Matrix("attention", "unembed_out", value, rank, copies=heads, read=heads))
        index = number(text, "index_head_dim")
        index_heads = number(text, "index_n_heads") if index else 0
        if index:
            matrices.append(Matrix("attention", "wq_b", index_heads * index, query_rank))
            matrices.append(Matrix("attention", "wk", index, hidden))
            matrices.append(Matrix("attention", "weights_proj", index_heads, hidden))
        attention = Attention(
            "latent",
            heads,
            1,
            rank,
            rope,
            query_dim=nope,
            output_dim=value,
            index_dim=index,
            index_heads=index_heads,
            index_most=number(text, "index_topk"),
        )
        return attention, tuple(matrices), query_rank + rank + 2 * index
    matrices.append(Matrix("attention", "kv_b_proj", heads * (nope + value), rank))
    cached = cast(CacheKind, kind)
    attention = Attention(cached, heads, heads, nope + rope, value, query_dim=nope + rope, output_dim=value)
    return attention, tuple(matrices), query_rank + rank
