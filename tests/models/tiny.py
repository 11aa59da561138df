"""Tiny random models, built from mlx-lm's own classes: a real folder with weights, config and a small real tokenizer."""

import json

from tests.models.tiny_tokenizers import CHATML, byte_level


def tiny_model(folder, config, *, tokenizer=None, seed=0, template=CHATML):
    """Write a random model of `config` (as a config.json, `model_type` included) and return its folder.

    The tokenizer is byte-level with ChatML unless another is given; `vocab_size` is filled in when the config lacks it.
    """
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from mlx_lm.utils import _get_classes

    tokenizer = tokenizer or byte_level(template)
    ends = tokenizer.convert_tokens_to_ids("<|im_end|>")
    config = {"vocab_size": len(tokenizer), "eos_token_id": ends, **config}
    model_class, arguments = _get_classes(config)
    mx.random.seed(seed)
    model = model_class(arguments.from_dict(config))
    # As after a training, not as before one: sharper logits, so that a wrong step shows.
    weights = {name: value * 3 if value.ndim > 1 else value for name, value in tree_flatten(model.parameters())}
    folder.mkdir(parents=True, exist_ok=True)
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [ends]}))
    tokenizer.save_pretrained(folder)
    return folder


def tiny_llama(folder, *, hidden=32, layers=2, heads=4, kv_heads=2, inner=64, context=512, seed=0, tokenizer=None, **more):
    """Write a Llama of some ten thousand weights and return its folder; `more` goes into the config."""
    config = {
        "model_type": "llama",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "intermediate_size": inner,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "rms_norm_eps": 1e-5,
        "max_position_embeddings": context,
        "rope_theta": 10000.0,
        "tie_word_embeddings": True,
        **more,
    }
    return tiny_model(folder, config, tokenizer=tokenizer, seed=seed)
