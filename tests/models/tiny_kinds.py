"""Tiny random models in memory, one of every kind of cache that mlx-lm's models make; real mlx-lm classes."""

VOCABULARY = 96

_BASE = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
}
_GEMMA4 = {
    **_BASE,
    "num_hidden_layers": 6,
    "num_kv_shared_layers": 2,
    "head_dim": 16,
    "global_head_dim": 32,
    "num_key_value_heads": 1,
    "vocab_size_per_layer_input": VOCABULARY,
    "hidden_size_per_layer_input": 8,
    "sliding_window": 24,
    "layer_types": ["sliding_attention", "full_attention"] * 3,
}
_MLA = {
    **_BASE,
    "num_key_value_heads": 4,
    "kv_lora_rank": 32,
    "q_lora_rank": 32,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 16,
    "v_head_dim": 16,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "n_group": 1,
    "topk_group": 1,
    "routed_scaling_factor": 1.0,
    "norm_topk_prob": True,
    "scoring_func": "sigmoid",
    "topk_method": "noaux_tc",
    "rope_scaling": None,
    "attention_bias": False,
}
CONFIGS = {
    "llama": {**_BASE, "model_type": "llama"},
    "gemma3": {
        **_BASE,
        "model_type": "gemma3_text",
        "num_hidden_layers": 3,
        "head_dim": 32,
        "num_key_value_heads": 1,
        "query_pre_attn_scalar": 32,
        "sliding_window": 24,
        "sliding_window_pattern": 3,
    },
    "gemma3n": {
        "model_type": "gemma3n",
        "text_config": {
            **_BASE,
            "model_type": "gemma3n_text",
            "num_hidden_layers": 6,
            "num_kv_shared_layers": 2,
            "head_dim": 16,
            "vocab_size_per_layer_input": VOCABULARY,
            "hidden_size_per_layer_input": 8,
            "sliding_window": 24,
            "layer_types": ["sliding_attention", "full_attention"] * 3,
            "activation_sparsity_pattern": [0.0] * 6,
            "altup_active_idx": 0,
            "altup_coef_clip": 120.0,
            "altup_correct_scale": True,
            "altup_num_inputs": 2,
            "final_logit_softcapping": 30.0,
            "laurel_rank": 8,
            "rope_local_base_freq": 10000.0,
            "query_pre_attn_scalar": 16,
            "rope_scaling": None,
            "sliding_window_pattern": 2,
        },
    },
    "gemma4": {**_GEMMA4, "model_type": "gemma4_text"},
    "gpt_oss": {
        **_BASE,
        "model_type": "gpt_oss",
        "head_dim": 32,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "sliding_window": 24,
        "rope_scaling": None,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "deepseek_v3": {**_MLA, "model_type": "deepseek_v3"},
    "deepseek_v32": {
        **_MLA,
        "model_type": "deepseek_v32",
        "index_n_heads": 2,
        "index_head_dim": 32,
        "index_topk": 40,
    },
    "llama4": {
        "model_type": "llama4",
        "text_config": {
            **_BASE,
            "model_type": "llama4_text",
            "num_hidden_layers": 4,
            "attention_bias": False,
            "attention_chunk_size": 24,
            "head_dim": 16,
            "interleave_moe_layer_step": 2,
            "intermediate_size_mlp": 64,
            "num_experts_per_tok": 1,
            "num_local_experts": 2,
            "rope_scaling": None,
            "use_qk_norm": True,
        },
    },
    "qwen3_next": {
        **_BASE,
        "model_type": "qwen3_next",
        "num_hidden_layers": 4,
        "head_dim": 32,
        "linear_num_value_heads": 4,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
        "linear_conv_kernel_dim": 4,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "decoder_sparse_step": 1,
        "shared_expert_intermediate_size": 32,
        "mlp_only_layers": [],
        "moe_intermediate_size": 32,
        "partial_rotary_factor": 0.5,
        "norm_topk_prob": True,
        "attention_bias": False,
        "full_attention_interval": 4,
    },
    "falcon_h1": {
        **_BASE,
        "model_type": "falcon_h1",
        "attention_bias": False,
        "head_dim": 16,
        "embedding_multiplier": 1.0,
        "lm_head_multiplier": 1.0,
        "mamba_chunk_size": 32,
        "mamba_conv_bias": True,
        "mamba_d_conv": 4,
        "mamba_d_head": 16,
        "mamba_d_ssm": 64,
        "mamba_d_state": 16,
        "mamba_expand": 1,
        "mamba_n_groups": 1,
        "mamba_n_heads": 4,
        "mamba_norm_before_gate": False,
        "mamba_proj_bias": False,
        "mamba_rms_norm": False,
        "mamba_use_mlp": True,
        "mlp_bias": False,
        "projectors_bias": False,
        "rope_scaling": None,
        "rope_traditional": False,
    },
    "nemotron_h": {
        **_BASE,
        "model_type": "nemotron_h",
        "num_hidden_layers": 3,
        "head_dim": 16,
        "attention_bias": False,
        "mamba_num_heads": 4,
        "mamba_head_dim": 16,
        "mamba_proj_bias": False,
        "ssm_state_size": 16,
        "conv_kernel": 4,
        "n_groups": 1,
        "mlp_bias": False,
        "layer_norm_epsilon": 1e-5,
        "use_bias": False,
        "use_conv_bias": True,
        "hybrid_override_pattern": ["M", "*", "-"],
    },
}


def tiny(kind, seed=0):
    """Build a random model of `kind`, one of `CONFIGS`, in float32. Its logits are sharp enough to show a wrong step."""
    import mlx.core as mx
    from mlx.utils import tree_map
    from mlx_lm.utils import _get_classes

    config = CONFIGS[kind]
    model_class, arguments = _get_classes(config)
    mx.random.seed(seed)
    model = model_class(arguments.from_dict(config))
    model.update(tree_map(_sharpened, model.parameters()))
    model.eval()
    mx.eval(model.parameters())
    return model


def _sharpened(weight):
    import mlx.core as mx

    if weight.ndim < 2:
        return weight if weight.any() or weight.dtype != mx.float32 else mx.random.normal(weight.shape) * 0.1
    return weight * 3
