"""Tiny GGUF files, written with the `gguf` package as llama.cpp's converter writes them."""

import functools
import io
import json

import numpy as np

from tests.models.gguf_blocks import IQ_QUANTS, K_QUANTS, random_blocks
from tests.models.tiny_tokenizers import CHATML, CORPUS, byte_level

NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def permute(weight, heads):
    """Interleave the halves of each head, as llama.cpp's convert_hf_to_gguf.py does with Q and K."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


@functools.cache
def byte_level_metadata():
    """The `tokenizer.ggml.*` entries of a small byte-level BPE, with ChatML's tokens."""
    tokenizer = byte_level()
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    tokens = [token for token, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    special = {entry["id"] for entry in state["added_tokens"]}
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3 if index in special else 1 for index in range(len(tokens))],
        "tokenizer.ggml.merges": [" ".join(merge) for merge in state["model"]["merges"]],
        "tokenizer.ggml.bos_token_id": tokens.index("<|im_start|>"),
        "tokenizer.ggml.eos_token_id": tokens.index("<|im_end|>"),
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": CHATML,
    }


@functools.cache
def trained_sentencepiece():
    """A SentencePiece BPE with byte fallback, trained by SentencePiece itself: Llama 2's kind."""
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for text in CORPUS for line in text.splitlines() if line.strip()] * 3),
        model_writer=model,
        model_type="bpe",
        vocab_size=460,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        allow_whitespace_only_pieces=True,
        split_digits=True,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def sentencepiece_metadata():
    """The `tokenizer.ggml.*` entries of `trained_sentencepiece()`, with the kinds that llama.cpp's converter gives."""
    processor = trained_sentencepiece()
    ids = range(processor.get_piece_size())
    kinds = [2 if processor.is_unknown(i) else 3 if processor.is_control(i) else 6 if processor.is_byte(i) else 1 for i in ids]
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": [processor.id_to_piece(i) for i in ids],
        "tokenizer.ggml.scores": [float(processor.get_score(i)) for i in ids],
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.bos_token_id": processor.bos_id(),
        "tokenizer.ggml.eos_token_id": processor.eos_id(),
        "tokenizer.ggml.unknown_token_id": processor.unk_id(),
    }


def random_weights(vocab, *, hidden=64, layers=2, heads=4, kv_heads=2, inner=96, tied=True, biases=(), seed=0):
    """Return random float32 weights by mlx-lm's names; `biases` names the modules that have one."""
    rng = np.random.default_rng(seed)
    size = hidden // heads
    shapes = {"model.embed_tokens": (vocab, hidden), "model.norm": (hidden,)}
    if not tied:
        shapes["lm_head"] = (vocab, hidden)
    for layer in range(layers):
        for name, shape in {
            "input_layernorm": (hidden,),
            "self_attn.q_proj": (heads * size, hidden),
            "self_attn.k_proj": (kv_heads * size, hidden),
            "self_attn.v_proj": (kv_heads * size, hidden),
            "self_attn.o_proj": (hidden, heads * size),
            "post_attention_layernorm": (hidden,),
            "mlp.gate_proj": (inner, hidden),
            "mlp.up_proj": (inner, hidden),
            "mlp.down_proj": (hidden, inner),
        }.items():
            shapes[f"model.layers.{layer}.{name}"] = shape
    weights = {}
    for name, shape in shapes.items():
        values = 1 + 0.1 * rng.standard_normal(shape) if len(shape) == 1 else 0.3 * rng.standard_normal(shape)
        weights[f"{name}.weight"] = values.astype(np.float32)
        if any(name.endswith(module) for module in biases):
            weights[f"{name}.bias"] = (0.3 * rng.standard_normal(shape[0])).astype(np.float32)
    return weights


def gguf_name(name):
    """Return llama.cpp's name of a tensor that mlx-lm calls `name`."""
    module, _, part = name.rpartition(".")
    top = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
    if module in top:
        return f"{top[module]}.{part}"
    _, _, layer, inner = module.split(".", 3)
    return f"blk.{layer}.{NAMES[inner]}.{part}"


def tiny_gguf(path, *, kind="Q4_0", kinds=None, tokenizer=None, metadata=None, drop=(), extra=None, name="Tiny", **shape):
    """Write a tiny Llama as GGUF; return its weights by mlx-lm's names, float32, as the file's quantization left them.

    `kind` is the matrices' (norms and biases stay F32), `kinds` overrides it by mlx-lm's name of the module; a K-quant, which
    the `gguf` package cannot make, gets random blocks of its own instead of the weights. `metadata` overrides entries (None removes one); `drop` names GGUF tensors to leave out, `extra` adds some.
    """
    import gguf

    entries = {**(tokenizer or byte_level_metadata())}
    weights = random_weights(len(entries["tokenizer.ggml.tokens"]), **shape)
    heads, kv_heads = shape.get("heads", 4), shape.get("kv_heads", 2)
    facts = {
        "general.name": name,
        "llama.block_count": shape.get("layers", 2),
        "llama.context_length": 256,
        "llama.embedding_length": shape.get("hidden", 64),
        "llama.feed_forward_length": shape.get("inner", 96),
        "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": kv_heads,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.freq_base": 10000.0,
        "llama.rope.dimension_count": shape.get("hidden", 64) // heads,
    }
    metadata = metadata or {}
    architecture = metadata.get("general.architecture", "llama")
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, architecture)
    add_metadata(writer, {**facts, **entries, **metadata})
    stored = {}
    for tensor_name, values in weights.items():
        module = tensor_name.rpartition(".")[0]
        wanted = "F32" if values.ndim == 1 else (kinds or {}).get(module, kind)
        rows = random_blocks(wanted, values.shape, len(stored)) if wanted in K_QUANTS + IQ_QUANTS else _stored(values, wanted)
        stored[tensor_name] = gguf.dequantize(rows, gguf.GGMLQuantizationType[wanted])
        # A row stays whole: its blocks are turned as its weights would be.
        rows = permute(rows, heads) if ".q_proj." in tensor_name else rows
        rows = permute(rows, kv_heads) if ".k_proj." in tensor_name else rows
        if gguf_name(tensor_name) not in drop:
            writer.add_tensor(gguf_name(tensor_name), np.ascontiguousarray(rows), raw_dtype=gguf.GGMLQuantizationType[wanted])
    for tensor_name, (values, wanted) in (extra or {}).items():
        writer.add_tensor(tensor_name, _stored(values, wanted), raw_dtype=gguf.GGMLQuantizationType[wanted])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return stored


def _stored(values, kind):
    import gguf

    return np.ascontiguousarray(gguf.quantize(values, gguf.GGMLQuantizationType[kind]))


def add_metadata(writer, entries):
    """Write the entries that are not None, each as its type suggests; the writer has written the architecture itself."""
    for key, value in entries.items():
        if value is not None and key != "general.architecture":
            _add(writer, key, value)


def _add(writer, key, value):
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)
