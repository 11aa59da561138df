"""What a Llama-family GGUF says about its model, in the words of a Hugging Face config and of mlx-lm's `llama` and `mixtral`.

Llama, Mistral, SmolLM and many more. A file of this family has the rows of Q and K in another order: llama.cpp rotates
numbers that stand side by side, mlx-lm those half a head apart. With experts it is a Mixtral.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.models.gguf_config import check_even_heads, expert_counts, usual_config
from engine.models.gguf_file import Header
from engine.models.gguf_plan import LAYER, GgufModel, Planned, Settings, check_shapes, located
from engine.models.gguf_rope import FREQUENCIES, llama3_scaling, rope_scaling
from engine.models.gguf_shapes import Shape, attention, ends, experts, feed_forward, norms

_EXPERTS = {
    "ffn_gate_inp": "block_sparse_moe.gate",
    "ffn_gate_exps": "block_sparse_moe.switch_mlp.gate_proj",
    "ffn_up_exps": "block_sparse_moe.switch_mlp.up_proj",
    "ffn_down_exps": "block_sparse_moe.switch_mlp.down_proj",
}


def read_llama(header: Header) -> GgufModel:
    """Return the config and the tensors of a Llama-family GGUF.

    Raises `ModelUnsupported`, naming what it is, for a rope or a tensor kind that is not known; `ModelBroken` when something
    needed is missing or has a shape that does not fit.
    """
    settings = Settings(header, "Llama")
    config = _config(settings)
    mixture = config["model_type"] == "mixtral"
    scaling = rope_scaling(settings, *(() if mixture else ("linear", "yarn")))
    if scaling is None and settings.has_tensor(FREQUENCIES):
        scaling = llama3_scaling(settings)
    if scaling is not None:
        if mixture:
            raise settings.unsupported("stretches its positions, which mlx-lm's Mixtral does not")
        config["rope_scaling"] = scaling
    block = {**{stem: path for stem, path in LAYER.items() if path[:3] != "mlp"}, **_EXPERTS} if mixture else LAYER
    tensors = [_turned(planned, config) for planned in located(settings, block, ignored=(FREQUENCIES,))]
    check_shapes(settings, _expected(config), tensors)
    return GgufModel(config, tuple(tensors))


def _config(settings: Settings) -> dict[str, Any]:
    config = {
        "architectures": ["LlamaForCausalLM"],
        **usual_config(settings, "llama"),
        "rope_traditional": False,
        "attention_bias": settings.has_tensor("blk.0.attn_q.bias"),
        "mlp_bias": settings.has_tensor("blk.0.ffn_gate.bias"),
        "hidden_act": "silu",
    }
    if not settings.integer("expert_count", default=0):
        return config
    check_even_heads(settings, config)
    count, used = expert_counts(settings)
    return {
        **config,
        "architectures": ["MixtralForCausalLM"],
        "model_type": "mixtral",
        "num_local_experts": count,
        "num_experts_per_tok": used,
    }


def _turned(planned: Planned, config: Mapping[str, Any]) -> Planned:
    name = planned.path.rpartition(".")[2]
    heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}.get(name, 0)
    return replace(planned, heads=heads)


def _expected(config: Mapping[str, Any]) -> Iterator[Shape]:
    yield from ends(config)
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        yield from norms(config, at, "input", "post_attention")
        yield from attention(config, at, biased="qkvo" if config["attention_bias"] else "")
        if config["model_type"] != "mixtral":
            yield from feed_forward(config, at, biased=config["mlp_bias"])
            continue
        yield f"{at}.block_sparse_moe.gate.weight", (config["num_local_experts"], hidden)
        yield from experts(hidden, inner, config["num_local_experts"], f"{at}.block_sparse_moe.switch_mlp")
