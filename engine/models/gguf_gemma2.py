"""What a Gemma 2 GGUF says about its model, in the words of a Hugging Face config and of mlx-lm's `gemma2`.

As with Gemma 3 the file holds every norm with 1 added, and Q and K are not interleaved. Every other layer of the model attends
to the last 4,096 tokens only; mlx-lm lets all attend to everything, which is the same up to there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.models.gguf_file import Header
from engine.models.gguf_plan import LAYER, GgufModel, Settings, check_shapes, located
from engine.models.gguf_rope import rope_scaling
from engine.models.gguf_shapes import Shape, attention, ends, feed_forward, norms

# The 27B scales its queries by the width for a head instead of by the head's length; llama.cpp knows it by its layers.
LAYERS_OF_27B = 46

BLOCK = {
    **LAYER,
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}


def read_gemma2(header: Header) -> GgufModel:
    """Return the config and the tensors of a Gemma 2 GGUF; raises as `read_model` does."""
    settings = Settings(header, "Gemma 2")
    rope_scaling(settings)  # mlx-lm's Gemma 2 has none: whatever the file says is refused.
    hidden, layers = settings.integer("embedding_length", minimum=1), settings.integer("block_count", minimum=1)
    heads, kv_heads, head_dim = settings.head_sizes(hidden)
    config = {
        "architectures": ["Gemma2ForCausalLM"],
        "model_type": "gemma2",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "intermediate_size": settings.integer("feed_forward_length", minimum=1),
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "rms_norm_eps": settings.number("attention.layer_norm_rms_epsilon"),
        "vocab_size": settings.vocabulary(),
        "max_position_embeddings": settings.integer("context_length", minimum=1),
        "rope_theta": settings.number("rope.freq_base", default=10000.0),
        "attn_logit_softcapping": settings.number("attn_logit_softcapping", default=50.0),
        "final_logit_softcapping": settings.number("final_logit_softcapping", default=30.0),
        "query_pre_attn_scalar": hidden // heads if layers == LAYERS_OF_27B else head_dim,
        "hidden_activation": "gelu_pytorch_tanh",
        "attention_bias": False,
        # Its hidden states grow past the largest float16, as Gemma 3's do.
        "torch_dtype": "bfloat16",
        "tie_word_embeddings": True,
    }
    tensors = [replace(planned, one_added=planned.path.endswith("norm")) for planned in located(settings, BLOCK)]
    check_shapes(settings, _expected(config), tensors)
    return GgufModel(config, tuple(tensors))


def _expected(config: Mapping[str, Any]) -> Iterator[Shape]:
    yield from ends(config)
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        yield from norms(config, at, "input", "post_attention", "pre_feedforward", "post_feedforward")
        yield from attention(config, at)
        yield from feed_forward(config, at)
