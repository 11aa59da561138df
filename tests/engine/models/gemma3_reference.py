"""Gemma 3's forward pass in plain numpy, from the tensors and settings of a GGUF as they stand in the file.

It knows nothing of Flint or MLX: the file is read by the `gguf` package, and what it leaves out is written down here anew.
Weights are dequantized when needed and the vocabulary a piece at a time, so that it stays small.
"""

import numpy as np

EMBEDDING_ROWS = 16384


class Gemma3Reference:
    """The model in the GGUF at `path`. `logits(ids)` runs it in float64, the last step in float32.

    Weights of the kinds named in `half` are rounded to float16 first.
    """

    def __init__(self, path, half=()):
        import gguf

        reader, self.half = gguf.GGUFReader(path), half
        self._tensors = {tensor.name: tensor for tensor in reader.tensors}

        def fact(name):
            return reader.get_field(f"gemma3.{name}").contents()

        self.layers, self.hidden = fact("block_count"), fact("embedding_length")
        self.heads, self.kv_heads = fact("attention.head_count"), fact("attention.head_count_kv")
        self.size, self.eps = fact("attention.key_length"), fact("attention.layer_norm_rms_epsilon")
        self.window, self.base = fact("attention.sliding_window"), fact("rope.freq_base")
        self.local_base, self.pattern = 10000.0, 6

    def tensor(self, name, rows=slice(None), dtype=np.float64):
        """Return a tensor of the file, or some rows of it."""
        import gguf

        tensor = self._tensors[name]
        weights = gguf.dequantize(tensor.data[rows], tensor.tensor_type)
        return (weights.astype(np.float16) if tensor.tensor_type.name in self.half else weights).astype(dtype, copy=False)

    def logits(self, ids):
        """Return the logits [tokens, vocabulary] after each of `ids`."""
        # The square root of the width, as bfloat16: the model was trained with that.
        scale = (np.float32(self.hidden**0.5).view(np.uint32) + 0x8000 & 0xFFFF0000).astype(np.uint32).view(np.float32)
        hidden = self.tensor("token_embd.weight", np.asarray(ids)) * float(scale)
        for layer in range(self.layers):
            hidden = self._layer(hidden, layer)
        hidden = self._norm(hidden, "output_norm.weight").astype(np.float32)
        pieces = range(0, len(self._tensors["token_embd.weight"].data), EMBEDDING_ROWS)
        return np.concatenate([hidden @ self._embedding(slice(at, at + EMBEDDING_ROWS)).T for at in pieces], axis=-1)

    def _embedding(self, rows):
        return self.tensor("token_embd.weight", rows, np.float32)

    def _norm(self, x, name):
        # The file's weight has Gemma's 1 added already.
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps) * self.tensor(name)

    def _layer(self, hidden, layer):
        at = f"blk.{layer}"
        inner = self._attention(self._norm(hidden, f"{at}.attn_norm.weight"), layer)
        hidden = hidden + self._norm(inner, f"{at}.post_attention_norm.weight")
        inner = self._norm(hidden, f"{at}.ffn_norm.weight")
        gate = inner @ self.tensor(f"{at}.ffn_gate.weight").T
        gate = 0.5 * gate * (1 + np.tanh(np.sqrt(2 / np.pi) * (gate + 0.044715 * gate**3)))
        inner = (gate * (inner @ self.tensor(f"{at}.ffn_up.weight").T)) @ self.tensor(f"{at}.ffn_down.weight").T
        return hidden + self._norm(inner, f"{at}.post_ffw_norm.weight")

    def _attention(self, x, layer):
        at, count = f"blk.{layer}", len(x)
        everything = (layer + 1) % self.pattern == 0
        heads = {}
        for name, number in (("q", self.heads), ("k", self.kv_heads), ("v", self.kv_heads)):
            heads[name] = (x @ self.tensor(f"{at}.attn_{name}.weight").T).reshape(count, number, self.size).swapaxes(0, 1)
        base = self.base if everything else self.local_base
        queries = _rotated(self._norm(heads["q"], f"{at}.attn_q_norm.weight"), base)
        keys = _rotated(self._norm(heads["k"], f"{at}.attn_k_norm.weight"), base)
        keys, values = (np.repeat(part, self.heads // self.kv_heads, axis=0) for part in (keys, heads["v"]))
        scores = queries @ keys.swapaxes(1, 2) * self.size**-0.5
        distance = np.arange(count)[:, None] - np.arange(count)
        seen = (distance >= 0) & (everything | (distance < self.window))
        scores = np.where(seen, scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (weights / weights.sum(-1, keepdims=True)) @ values
        return mixed.swapaxes(0, 1).reshape(count, -1) @ self.tensor(f"{at}.attn_output.weight").T


def _rotated(x, base):
    """Rotate [heads, tokens, size]: number i with number i + size / 2, by position / base^(2i / size)."""
    half = x.shape[-1] // 2
    angles = np.arange(x.shape[1])[:, None] * base ** (-np.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    return np.concatenate(
        [first * np.cos(angles) - second * np.sin(angles), second * np.cos(angles) + first * np.sin(angles)], axis=-1
    )
