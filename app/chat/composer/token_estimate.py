"""About how many tokens a text comes to, before a model has counted it."""

import re

from engine.core.sizes import count_text

_DENSE = 0x2E80
"""From here on (Chinese, Japanese, Korean, emoji) a character is a token or so; of other letters, about four make one."""
# Digits and signs are often a token each.
_FIGURES = re.compile(r"[!-/:-@\[-`{-~0-9]")


def estimate(text: str) -> int:
    """Return about how many tokens a text comes to with any model; a long one is judged by a part of it."""
    sample = text[:20_000]
    dense = 0 if sample.isascii() else sum(character >= chr(_DENSE) for character in sample)
    figures = len(_FIGURES.findall(sample))
    tokens = dense + 0.75 * figures + (len(sample) - dense - figures) / 4
    return max(1, round(tokens * len(text) / len(sample))) if sample else 0


def about(text: str) -> str:
    """Return an estimate of a text in words: it says that it is one."""
    tokens = estimate(text)
    digits = max(0, len(str(tokens)) - 2)
    return f"about {count_text(round(tokens, -digits), 'token', short=True)}"
