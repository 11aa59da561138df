"""From a config.json to the shape of its model, for the architectures that mlx-lm runs."""

from collections.abc import Mapping
from typing import Any

from engine.core.errors import ModelBroken
from engine.models.config_fields import flag, language_config, module_of, number
from engine.models.layer_shapes import read_layers
from engine.models.shapes import Matrix, Shape

# Always with an output matrix of their own in mlx-lm, whatever the config says; and never.
_UNTIED = frozenset(
    (
        "deepseek",
        "deepseek_v2",
        "deepseek_v3",
        "deepseek_v32",
        "dots1",
        "glm4",
        "glm4_moe",
        "glm4_moe_lite",
        "glm_moe_dsa",
        "gpt_oss",
        "llama4",
        "minimax",
        "nemotron_h",
        "phimoe",
        "qwen2_moe",
    )
)
_TIED = frozenset(("cohere", "cohere2", "gemma", "gemma2", "gemma3_text", "gemma3n", "lfm2", "lfm2_moe"))
# Those whose counted weights and caches were compared with mlx-lm's own (tests/engine/models/test_shapes.py).
CHECKED = frozenset(
    (
        "llama",
        "qwen2",
        "qwen3",
        "gemma",
        "gemma2",
        "gemma3",
        "gemma3_text",
        "gemma3n",
        "gemma4",
        "gemma4_text",
        "phi3",
        "smollm3",
        "olmo2",
        "cohere2",
        "mixtral",
        "qwen2_moe",
        "qwen3_moe",
        "qwen3_next",
        "qwen3_5",
        "qwen3_5_moe",
        "gpt_oss",
        "deepseek_v2",
        "deepseek_v3",
        "deepseek_v32",
        "glm4_moe",
        "llama4",
        "falcon_h1",
        "nemotron_h",
        "lfm2",
        "lfm2_moe",
        "granitemoehybrid",
    )
)


def read_shape(config: Mapping[str, Any]) -> Shape:
    """Return the shape of the model that a config.json describes.

    An architecture that was not checked is read as far as its fields have the usual names, and is said not to be `known`.
    Raises `ModelBroken` when the config does not even say how many layers there are or how wide they are.
    """
    module, text = module_of(config), language_config(config)
    hidden = number(text, "hidden_size", "n_embd", "dim", "d_model", "model_dim")
    vocab = number(text, "vocab_size", "padded_vocab_size")
    layers = read_layers(module, text)
    if not hidden or not layers:
        raise ModelBroken("The config.json does not say how many layers the model has, or how wide they are.")
    tied = module in _TIED or (flag(text, "tie_word_embeddings", True) and module not in _UNTIED)
    extra = [Matrix("embedding", "embed_tokens", vocab, hidden, read=1 if tied else 0)]
    if not tied:
        extra.append(Matrix("output", "lm_head", vocab, hidden))
    vectors = hidden
    if module in ("gemma3n", "gemma4_text"):
        more, more_vectors = _inputs_of_each_layer(module, text, hidden, len(layers))
        extra, vectors = [*extra, *more], vectors + more_vectors
    return Shape(
        module=module,
        hidden=hidden,
        vocab=vocab,
        context=number(text, "max_position_embeddings", "n_positions", "max_seq_len", "n_ctx"),
        layers=layers,
        extra=tuple(extra),
        vectors=vectors,
        known=module in CHECKED,
        config=config,
    )


def _inputs_of_each_layer(module: str, text: Mapping[str, Any], hidden: int, layers: int) -> tuple[list[Matrix], int]:
    """Gemma's small models look a second embedding up, one part for each layer; gemma3n also keeps several streams."""
    width = number(text, "hidden_size_per_layer_input") * layers
    if not width:
        return [], 0
    rows = number(text, "vocab_size_per_layer_input")
    found = [
        Matrix("embedding", "embed_tokens_per_layer", rows, width, read=0),
        Matrix("embedding", "per_layer_model_projection", width, hidden),
    ]
    if module == "gemma3n":
        streams = 2 * (number(text, "altup_num_inputs") - 1)
        found.append(Matrix("embedding", "altup_projections", hidden, hidden, copies=streams, read=streams))
    return found, width // layers
