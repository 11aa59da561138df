"""How well a model foresees a plain text: the perplexity, by which a smaller copy is compared with what it was made from."""

import math
from collections.abc import Callable
from typing import cast

import mlx.core as mx

from engine.core.errors import Stopped
from engine.core.paths import resource
from engine.inference.loader import Loaded

TOKENS = 1024
"""Tokens of the text that are read, at most: enough for two digits, and a matter of seconds."""
WINDOW = 256


def perplexity(loaded: Loaded, asked_to_stop: Callable[[], bool], moved: Callable[[float], None]) -> float:
    """Return exp of the mean negative log-likelihood of the tokens of the text that ships with Flint; 0 where it is no number.

    `moved` is given a fraction from 0 to 1. Raises `Stopped`.
    """
    text = resource("quality", "text.txt").read_text("utf-8")
    tokenizer = loaded.tokenizer
    ids = tokenizer.encode(text, add_special_tokens=False)[:TOKENS]
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else ids[0]
    total, count = 0.0, 0
    for first in range(0, len(ids), WINDOW):
        if asked_to_stop():
            raise Stopped
        window = ids[first : first + WINDOW]
        logits = loaded.model(mx.array([[start, *window[:-1]]]))[0].astype(mx.float32)
        taken = mx.take_along_axis(logits, mx.array(window)[:, None], axis=-1)[:, 0]
        total += cast("float", mx.sum(mx.logsumexp(logits, axis=-1) - taken).item())
        count += len(window)
        moved(min(1.0, (first + WINDOW) / len(ids)))
    mean = total / max(1, count)
    return math.exp(mean) if mean < 700 else 0.0
