"""A tiny Gemma 3 as GGUF, mixed as Q4_K_M files are, with a SentencePiece tokenizer of Gemma's make."""

import functools

import numpy as np

from tests.models.gguf_blocks import random_blocks
from tests.models.tiny_gguf import add_metadata, sentencepiece_metadata

# What llama.cpp gives each matrix in the 270M's Q4_K_M.
KINDS = {"attn_output": "Q4_K", "ffn_down": "Q6_K", "attn_v": "Q8_0", "token_embd": "Q8_0"}
USUAL_KIND = "Q5_0"
USER_DEFINED = ("\n", "\n\n", "\n\n\n", "  ", "   ", "    ", "\t", "<b>", "</b>")
CONTROL = ("<start_of_turn>", "<end_of_turn>")


@functools.cache
def gemma_tokenizer():
    """The `tokenizer.ggml.*` entries: no space in front, runs of spaces and lines as user-defined pieces (with real spaces)."""
    entries = sentencepiece_metadata()
    names = ("tokens", "scores", "token_type")
    pieces = {token: (score, kind) for token, score, kind in zip(*(entries[f"tokenizer.ggml.{n}"] for n in names), strict=True)}
    for pieces_of_kind, kind in ((USER_DEFINED, 4), (CONTROL, 3)):
        for piece in pieces_of_kind:
            pieces.pop(piece.replace(" ", "▁"), None)  # What was learnt as a normal piece.
            pieces[piece] = (-1000.0, kind)
    return {
        **entries,
        "tokenizer.ggml.tokens": list(pieces),
        "tokenizer.ggml.scores": [score for score, _ in pieces.values()],
        "tokenizer.ggml.token_type": [kind for _, kind in pieces.values()],
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_space_prefix": False,
    }


def tiny_gemma3(
    path, *, layers=7, window=8, tied=True, kind=None, metadata=None, drop=(), shapes=None, extra=None, tokenizer=None, seed=0
):
    """Write a tiny Gemma 3 and return its path. Six layers have a window, of 8 tokens.

    `kind` is every matrix's, instead of the mix; `metadata` overrides entries (None removes one) and may name another
    architecture; `drop` names tensors to leave out, `shapes` gives some another shape, `extra` adds float32 arrays.
    """
    import gguf

    tokenizer = tokenizer or gemma_tokenizer()
    hidden, heads, kv_heads, size, inner = 256, 4, 1, 128, 256
    metadata = metadata or {}
    facts = {
        "gemma3.block_count": layers,
        "gemma3.context_length": 512,
        "gemma3.embedding_length": hidden,
        "gemma3.feed_forward_length": inner,
        "gemma3.attention.head_count": heads,
        "gemma3.attention.head_count_kv": kv_heads,
        "gemma3.attention.key_length": size,
        "gemma3.attention.value_length": size,
        "gemma3.attention.layer_norm_rms_epsilon": 1e-6,
        "gemma3.attention.sliding_window": window,
        "gemma3.rope.freq_base": 1000000.0,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, "gemma3")
    add_metadata(writer, {**facts, **tokenizer, **metadata})
    matrices = {
        "attn_q": (heads * size, hidden),
        "attn_k": (kv_heads * size, hidden),
        "attn_v": (kv_heads * size, hidden),
        "attn_output": (hidden, heads * size),
        "ffn_gate": (inner, hidden),
        "ffn_up": (inner, hidden),
        "ffn_down": (hidden, inner),
    }
    norms = dict.fromkeys(("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"), hidden)
    norms |= {"attn_q_norm": size, "attn_k_norm": size}
    everything = {"token_embd": (len(tokenizer["tokenizer.ggml.tokens"]), hidden), "output_norm": (hidden,)}
    everything |= {} if tied else {"output": everything["token_embd"]}
    for layer in range(layers):
        everything |= {f"blk.{layer}.{name}": (length,) for name, length in norms.items()}
        everything |= {f"blk.{layer}.{name}": shape for name, shape in matrices.items()}
    rng = np.random.default_rng(seed)
    for number, (name, shape) in enumerate(everything.items()):
        shape = (shapes or {}).get(name, shape)
        if name in drop:
            continue
        if len(shape) == 1:
            # With 1 added, as llama.cpp's converter does.
            writer.add_tensor(f"{name}.weight", (1 + 0.3 * rng.standard_normal(shape)).astype(np.float32))
            continue
        stored = kind or KINDS.get(name.rpartition(".")[2], USUAL_KIND)
        rows = random_blocks(stored, shape, seed * 1000 + number, scale=0.001)
        writer.add_tensor(f"{name}.weight", rows, raw_dtype=gguf.GGMLQuantizationType[stored])
    for name, values in (extra or {}).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
