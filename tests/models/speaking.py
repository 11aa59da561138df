"""A model that writes what a test wants: a real module with a real KV cache, whose weights are a table of ids by position."""

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.cache import KVCache


class Scripted(nn.Module):
    """After a prompt of `prompt_tokens` ids it writes `script`, then `end` for ever."""

    def __init__(self, prompt_tokens, script, end, vocabulary):
        super().__init__()
        self.layers = [nn.Identity()]
        self.vocabulary = vocabulary
        self.table = mx.array([end] * (prompt_tokens - 1) + list(script) + [end] * 64)

    def make_cache(self):
        return [KVCache()]

    def __call__(self, inputs, cache):
        start, count = cache[0].offset, inputs.shape[1]
        rows = mx.zeros((1, 1, count, 4))
        cache[0].update_and_fetch(rows, rows)
        wanted = self.table[start : start + count]
        return (mx.arange(self.vocabulary) == wanted[:, None]).astype(mx.float32)[None] * 20


def ids_of(tokenizer, text):
    """The ids that write `text` as text, letter by letter: a special token that it names is not among them."""
    return [index for letter in text for index in tokenizer.encode(letter, add_special_tokens=False)]
