"""A layer's feed-forward part: one network, or experts of which a token reads a few."""

from collections.abc import Mapping
from typing import Any

from engine.models.config_fields import flag, number, number_at, texts
from engine.models.shapes import Matrix

_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "num_routed_experts")
_ACTIVE = ("num_experts_per_tok", "top_k_experts", "moe_topk", "moe_k", "num_experts_per_token", "moe_top_k", "top_k")
# Without a gate beside the way up: two matrices instead of three.
_UNGATED = frozenset(("nemotron_h", "nemotron", "starcoder2", "gpt2", "gpt_neox", "gptj", "phi", "gpt_bigcode"))
# The router's weights are a plain array there, which a quantized model does not pack.
_PLAIN_ROUTER = frozenset(
    (
        "deepseek_v3",
        "deepseek_v32",
        "deepseek_v2",
        "glm4_moe",
        "glm4_moe_lite",
        "glm_moe_dsa",
        "nemotron_h",
        "dots1",
        "kimi_linear",
    )
)

type Part = tuple[tuple[Matrix, ...], int, int]


def read_feed_forward(module: str, text: Mapping[str, Any], index: int) -> Part:
    """Return the matrices of layer `index`'s feed-forward part, its other weights, and a token's elements in it."""
    if module == "nemotron_h":
        return _of_nemotron(text, index)
    experts = _experts(module, text, index)
    hidden = number(text, "hidden_size", "n_embd", "dim", "d_model", "model_dim")
    if not experts:
        inner = _dense_inner(module, text, index)
        more, vectors, width = _of_each_input(module, text, hidden)
        return (*_network("feed-forward", hidden, inner, gated=module not in _UNGATED), *more), vectors, 3 * inner + width
    matrices, vectors, width = _sparse(module, text, hidden, experts)
    if module == "gemma4_text":  # whose experts stand beside the network, not in its place
        inner = _dense_inner(module, text, index)
        matrices, width = (*matrices, *_network("feed-forward", hidden, inner)), width + 3 * inner
    return matrices, vectors, width


def _experts(module: str, text: Mapping[str, Any], index: int) -> int:
    """The number of experts in layer `index`; 0 where it has none."""
    experts = number_at(text, index, *_EXPERTS)
    if module == "gemma4_text":
        return experts if flag(text, "enable_moe_block") else 0
    only = text.get("mlp_only_layers")
    if index < number(text, "first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"):
        return 0
    if isinstance(only, list) and index in only:
        return 0
    step = number(text, "interleave_moe_layer_step")
    if step:
        return experts if (index + 1) % step == 0 else 0
    sparse = number(text, "decoder_sparse_step")
    if sparse and module not in ("qwen3_5", "qwen3_5_moe"):
        return experts if (index + 1) % sparse == 0 else 0
    every = number(text, "moe_layer_freq") or 1
    return experts if index % every == 0 else 0


def _dense_inner(module: str, text: Mapping[str, Any], index: int) -> int:
    if module == "lfm2":
        return _lfm2_inner(text)
    if module == "llama4":
        return number(text, "intermediate_size_mlp")
    inner = number_at(text, index, "intermediate_size", "ffn_hidden_size", "n_inner", "d_ff")
    layers, shared = number(text, "num_hidden_layers"), number(text, "num_kv_shared_layers")
    if module == "gemma4_text" and flag(text, "use_double_wide_mlp") and 0 < shared < layers and index >= layers - shared:
        return 2 * inner
    return inner or 4 * number(text, "hidden_size", "n_embd")


def _lfm2_inner(text: Mapping[str, Any]) -> int:
    inner = number(text, "block_ff_dim", "intermediate_size")
    if flag(text, "block_auto_adjust_ff_dim"):
        factor, multiple = text.get("block_ffn_dim_multiplier"), number(text, "block_multiple_of") or 1
        inner = int(2 * inner / 3)
        if isinstance(factor, int | float):
            inner = int(factor * inner)
        inner = -(-inner // multiple) * multiple
    return inner


def _network(part: Any, hidden: int, inner: int, *, gated: bool = True, copies: int = 1, read: int = 1) -> tuple[Matrix, ...]:
    if not inner:
        return ()
    names = ("gate_proj", "up_proj") if gated else ("up_proj",)
    ways_up = (Matrix(part, name, inner, hidden, copies, read) for name in names)
    return (*ways_up, Matrix(part, "down_proj", hidden, inner, copies, read))


def _sparse(module: str, text: Mapping[str, Any], hidden: int, experts: int) -> Part:
    inner = number_at(text, 0, "moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size")
    if module == "llama4":
        inner = number(text, "intermediate_size")
    active = min(number_at(text, 0, *_ACTIVE) or experts, experts)
    plain = module in _PLAIN_ROUTER
    router = Matrix("feed-forward", "gate", experts, hidden, packable=not plain)
    matrices = (router, *_network("experts", hidden, inner, copies=experts, read=active))
    vectors = experts if plain and module != "deepseek_v2" else 0
    if module == "gpt_oss":
        vectors = experts + experts * (2 * inner + hidden)
    if module == "gemma4_text":
        vectors = hidden + experts
    if module == "lfm2_moe" and flag(text, "use_expert_bias"):
        vectors = experts
    shared = _shared_inner(module, text, inner)
    matrices = (*matrices, *_network("feed-forward", hidden, shared))
    if module in ("qwen2_moe", "qwen3_next", "qwen3_5", "qwen3_5_moe") and shared:
        matrices = (*matrices, Matrix("feed-forward", "shared_expert_gate", 1, hidden))
    # Each expert's own copy of the token, its way up, gate and product, its way down, that put in order and weighted.
    return matrices, vectors, active * (3 * inner + 4 * hidden) + 3 * shared + 2 * experts


def _shared_inner(module: str, text: Mapping[str, Any], inner: int) -> int:
    if module == "llama4":
        return inner
    said = number(text, "shared_expert_intermediate_size", "shared_intermediate_size", "moe_shared_expert_intermediate_size")
    return said or inner * number(text, "n_shared_experts", "moe_num_shared_experts", "num_shared_experts", "num_shared_expert")


def _of_each_input(module: str, text: Mapping[str, Any], hidden: int) -> Part:
    """What gemma3n's and gemma4's small models do with each layer's own input; gemma3n also mixes its streams."""
    width = number(text, "hidden_size_per_layer_input")
    if module not in ("gemma3n", "gemma4_text") or not width:
        return (), 0, 0
    matrices = [
        Matrix("feed-forward", "per_layer_input_gate", width, hidden),
        Matrix("feed-forward", "per_layer_projection", hidden, width),
    ]
    if module != "gemma3n":
        return tuple(matrices), 0, 2 * width
    rank, streams = number(text, "laurel_rank"), number(text, "altup_num_inputs")
    matrices.append(Matrix("feed-forward", "linear_left", rank, hidden))
    matrices.append(Matrix("feed-forward", "linear_right", hidden, rank))
    matrices.append(Matrix("feed-forward", "modality_router", streams, hidden))
    matrices.append(Matrix("feed-forward", "correction_coefs", streams, streams))
    matrices.append(Matrix("feed-forward", "prediction_coefs", streams * streams, streams))
    return tuple(matrices), 0, 2 * width + 4 * streams * hidden


def _of_nemotron(text: Mapping[str, Any], index: int) -> Part:
    """Nemotron-H: a block is a mixer or a feed-forward part, never both."""
    letters = texts(text, "hybrid_override_pattern")
    words = texts(text, "layers_block_type") or texts(text, "layer_types")
    letter = letters[index] if letters else {"mlp": "-", "moe": "E"}.get(words[index], "")
    hidden, inner = number(text, "hidden_size"), number(text, "intermediate_size")
    if letter == "-":
        return _network("feed-forward", hidden, inner, gated=False), 0, 2 * inner
    if letter != "E":
        return (), 0, 0
    experts, narrow = number(text, "n_routed_experts"), number(text, "moe_latent_size")
    active, own = number(text, "num_experts_per_tok"), number(text, "moe_intermediate_size")
    shared = number(text, "moe_shared_expert_intermediate_size") if number(text, "n_shared_experts") else 0
    width = narrow or hidden
    matrices = (
        Matrix("feed-forward", "gate", experts, hidden, packable=False),
        *_network("experts", width, own, gated=False, copies=experts, read=active),
        *_network("feed-forward", hidden, shared, gated=False),
    )
    if narrow:
        down = Matrix("feed-forward", "fc1_latent_proj", narrow, hidden)
        matrices = (*matrices, down, Matrix("feed-forward", "fc2_latent_proj", hidden, narrow))
    return matrices, experts, active * (2 * own + 4 * width) + 2 * shared + 2 * experts
