"""What might have come next: one next-token distribution of a reply, for a picture of what sampling settings do to it."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from engine.core.messages import NextTokens
from engine.inference.sampling import Sampler
from engine.inference.vocabulary import token_texts

type Row = npt.NDArray[np.float32]

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
    and filters do to it is not in it. Works on what `sampler` kept; nothing is added to a step of decoding. NumPy sorts a
    vocabulary in a fiftieth of the time that MLX takes on a CPU.
    """
    draw, logprobs = _chosen(sampler, written, end_ids)
    falling = np.maximum(np.sort(logprobs)[::-1], np.float32(-1e4))
    before = list(ids[: draw - 1])
    counts, tails = zip(*_blocks(falling), strict=True) if falling.size > TOP else ((), ())
    return NextTokens(
        request_id=request_id,
        before=str(tokenizer.decode(before[-BEFORE_TOKENS:], skip_special_tokens=True, clean_up_tokenization_spaces=False)),
        texts=tuple(token_texts(_likeliest(logprobs), before[-1] if before else None, tokenizer)),
        logprobs=tuple(falling[:TOP].tolist()),
        tail_counts=counts,
        tail_logprobs=tails,
    )


def _chosen(sampler: Sampler, written: int, end_ids: Collection[int]) -> tuple[int, Row]:
    """Return which draw of a reply to show, counted from 1, and its log-probabilities [V].

    The sampler may have drawn one ahead, which nobody saw.
    """
    first = sampler.drawn - len(sampler.recent) + 1
    seen = list(sampler.recent)[: written - first + 1]
    best, least = len(seen) - 1, np.inf
    for place in reversed(range(len(seen))):
        logprobs = _logprobs(seen[place])
        likeliest = int(logprobs.argmax())
        if likeliest in end_ids:
            continue
        if logprobs[likeliest] <= np.log(OPEN):
            return first + place, logprobs
        if logprobs[likeliest] < least:
            best, least = place, float(logprobs[likeliest])
    return first + best, _logprobs(seen[best])


def _logprobs(logits: mx.array) -> Row:
    row: Row = np.array(logits.astype(mx.float32))
    row -= row.max()
    row -= np.log(np.exp(row).sum())
    return row


def _likeliest(logprobs: Row) -> list[int]:
    """Return the ids to name, the likeliest first."""
    ids = np.argpartition(-logprobs, min(NAMED, logprobs.size) - 1)[:NAMED]
    return [int(index) for index in sorted(ids, key=lambda index: (-logprobs[index], index))]


def _blocks(falling: Row) -> Iterator[tuple[int, float]]:
    """Yield the log-probabilities after the top ones as blocks that grow by half: how many, and the log of their mean."""
    start, size = TOP, TOP // 2
    while start < falling.size:
        block = falling[start : start + size]
        yield block.size, float(block[0] + np.log(np.exp(block - block[0]).mean()))
        start, size = start + size, size + size // 2
