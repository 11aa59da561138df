"""What might have come next: one next-token distribution of a reply, for a picture of what sampling settings do to it."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

import mlx.core as mx

from engine.core.messages import NextTokens
from engine.inference.sampling import Sampler
from engine.inference.vocabulary import token_texts

TOP = 256
"""Tokens whose log-probability is told one by one; those after them are told in blocks."""
NAMED = 16
"""Tokens whose text is told."""
OPEN = 0.6
"""A draw whose likeliest token is above this shows little of what settings do: an earlier one is taken where there is one."""
BEFORE_TOKENS = 12


def next_tokens(
    request_id: str, sampler: Sampler, ids: Sequence[int], written: int, tokenizer: Any, end_ids: Collection[int]
) -> NextTokens:
    """Return the newest distribution of a reply of `written` > 0 tokens that left a choice, else the one that left most.

    `ids` are the tokens of its text, without the one that ended it. The distribution is the model's own: what penalties, biases
    and filters do to it is not in it. Evaluates what `sampler` kept; nothing is added to a step of decoding.
    """
    draw = _draw(sampler, written, end_ids)
    logits = sampler.recent[draw - 1 - sampler.drawn].astype(mx.float32)
    logprobs = logits - mx.logsumexp(logits)
    order = mx.argsort(-logprobs)
    falling = mx.maximum(logprobs[order], -1e4)
    before = list(ids[: draw - 1])
    counts, tails = zip(*_blocks(falling), strict=True) if falling.size > TOP else ((), ())
    return NextTokens(
        request_id=request_id,
        before=str(tokenizer.decode(before[-BEFORE_TOKENS:], skip_special_tokens=True, clean_up_tokenization_spaces=False)),
        texts=tuple(token_texts(_plain(order[:NAMED]), before[-1] if before else None, tokenizer)),
        logprobs=tuple(_plain(falling[:TOP])),
        tail_counts=counts,
        tail_logprobs=tails,
    )


def _draw(sampler: Sampler, written: int, end_ids: Collection[int]) -> int:
    """Return which draw of a reply to show, counted from 1. The sampler may have drawn one ahead, which nobody saw."""
    first = sampler.drawn - len(sampler.recent) + 1
    seen = list(sampler.recent)[: written - first + 1]
    kept = mx.stack(seen).astype(mx.float32)
    best = kept.max(axis=-1) - mx.logsumexp(kept, axis=-1)
    shares, likeliest = _plain(mx.exp(best)), _plain(mx.argmax(kept, axis=-1))
    newest_first = [place for place in reversed(range(len(seen))) if likeliest[place] not in end_ids]
    choice = next((place for place in newest_first if shares[place] <= OPEN), None)
    if choice is None:
        choice = min(newest_first, key=lambda place: shares[place], default=len(seen) - 1)
    return first + choice


def _plain(array: mx.array) -> list[Any]:
    return cast("list[Any]", array.tolist())


def _blocks(falling: mx.array) -> Iterator[tuple[int, float]]:
    """Yield the log-probabilities after the top ones as blocks that grow by half: how many, and the log of their mean."""
    start, size = TOP, TOP // 2
    while start < falling.size:
        block = falling[start : start + size]
        yield block.size, (mx.logsumexp(block) - mx.log(mx.array(block.size))).item()  # type: ignore[misc]
        start, size = start + size, size + size // 2
