"""Tokens as people read them."""

import re

_DENSE = 0x2E80
"""From here on (Chinese, Japanese, Korean, emoji) a character is a token or so; of other letters, about four make one."""
# Digits and signs are often a token each.
_FIGURES = re.compile(r"[!-/:-@\[-`{-~0-9]")


def figure(tokens: int) -> str:
    """Return a number of tokens, as 312 or 17.9k."""
    return f"{tokens / 1000:.1f}k" if tokens >= 10_000 else f"{tokens:,}"


def token_count(tokens: int) -> str:
    """Return a number of tokens in words: 1 token, 1,234 tokens."""
    return "1 token" if tokens == 1 else f"{tokens:,} tokens"


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
    return f"about {figure(round(tokens, -digits))} {'token' if tokens == 1 else 'tokens'}"
