"""Layers that keep a state of constant size: gated delta rule, Mamba's state space, short convolution."""

from collections.abc import Mapping
from typing import Any

from engine.models.config_fields import flag, number
from engine.models.shapes import Matrix, Recurrent

type Part = tuple[Recurrent, tuple[Matrix, ...], int]


def read_recurrent(module: str, text: Mapping[str, Any]) -> Part:
    """Return a recurrent layer's state, its matrices, and the number of its weights that are never packed."""
    if number(text, "linear_num_value_heads"):
        return _gated_delta(module, text)
    if number(text, "mamba_n_heads", "mamba_num_heads"):
        return _state_space(module, text)
    return _convolution(text)


def _gated_delta(module: str, text: Mapping[str, Any]) -> Part:
    """Qwen3-Next's and Qwen3.5's: a matrix [value_dim, key_dim] for each value head, in float32."""
    hidden, kernel = number(text, "hidden_size"), number(text, "linear_conv_kernel_dim")
    key_heads, value_heads = number(text, "linear_num_key_heads"), number(text, "linear_num_value_heads")
    key_dim, value_dim = number(text, "linear_key_head_dim"), number(text, "linear_value_head_dim")
    keys, values = key_heads * key_dim, value_heads * value_dim
    mixed = 2 * keys + values
    if module == "qwen3_next":
        matrices = [
            Matrix("recurrent", "in_proj_qkvz", mixed + values, hidden),
            Matrix("recurrent", "in_proj_ba", 2 * value_heads, hidden),
        ]
    else:
        matrices = [
            Matrix("recurrent", "in_proj_qkv", mixed, hidden),
            Matrix("recurrent", "in_proj_z", values, hidden),
            Matrix("recurrent", "in_proj_b", value_heads, hidden),
            Matrix("recurrent", "in_proj_a", value_heads, hidden),
        ]
    matrices.append(Matrix("recurrent", "conv1d", mixed, kernel, packable=False))
    matrices.append(Matrix("recurrent", "out_proj", hidden, values))
    state = Recurrent("gated delta", (kernel - 1) * mixed, values * key_dim, mixed, width=3 * mixed + 4 * values)
    return state, tuple(matrices), 2 * value_heads + value_dim


def _state_space(module: str, text: Mapping[str, Any]) -> Part:
    """Mamba 2's: a matrix [head_dim, state] for each head, in float32."""
    hidden = number(text, "hidden_size")
    heads, dim = number(text, "mamba_n_heads", "mamba_num_heads"), number(text, "mamba_d_head", "mamba_head_dim")
    states, groups = number(text, "mamba_d_state", "ssm_state_size"), number(text, "mamba_n_groups", "n_groups") or 1
    kernel = number(text, "mamba_d_conv", "conv_kernel")
    inner = (number(text, "mamba_d_ssm") if module == "falcon_h1" else 0) or heads * dim
    mixed = inner + 2 * groups * states
    matrices = (
        Matrix("recurrent", "in_proj", inner + mixed + heads, hidden),
        Matrix("recurrent", "conv1d", mixed, kernel, packable=False),
        Matrix("recurrent", "out_proj", hidden, inner),
    )
    vectors = 3 * heads
    vectors += mixed if flag(text, "use_conv_bias" if module == "nemotron_h" else "mamba_conv_bias") else 0
    vectors += inner if module != "falcon_h1" or flag(text, "mamba_rms_norm") else 0
    if flag(text, "mamba_proj_bias"):
        vectors += inner + mixed + heads + (0 if module == "falcon_h1" else hidden)
    if module == "falcon_h1" and flag(text, "projectors_bias"):
        vectors += hidden
    state = Recurrent("state space", (kernel - 1) * mixed, inner * states, mixed, width=4 * mixed + 6 * inner, heads=heads)
    return state, matrices, vectors


def _convolution(text: Mapping[str, Any]) -> Part:
    """LFM2's: the newest inputs of a short convolution, and nothing else."""
    hidden, kernel = number(text, "hidden_size"), number(text, "conv_L_cache") or 3
    matrices = (
        Matrix("recurrent", "in_proj", 3 * hidden, hidden),
        Matrix("recurrent", "conv", hidden, kernel, packable=False),
        Matrix("recurrent", "out_proj", hidden, hidden),
    )
    vectors = 5 * hidden if flag(text, "conv_bias") else 0
    return Recurrent("convolution", (kernel - 1) * hidden, 0, hidden, width=6 * hidden), matrices, vectors
