"""Reading a prompt into the KV cache, in chunks."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import mlx.core as mx

from engine.cache.prefix import PrefixCache

SMALLEST_CHUNK = 16
LARGEST_CHUNK = 2048
TARGET_S = 0.3
"""Work aimed at in one chunk: a cancel waits for at most one, and progress moves with each."""
EFFICIENT_CHUNK = 64
LONGEST_S = 1.0
"""Below `EFFICIENT_CHUNK` tokens the weights are read too often for what is done with them (on 2 cores, 16 tokens at a time had
.7 of the rate of 64): a slow machine gets shorter chunks only where one of that length would take longer than `LONGEST_S`."""


class ChunkSize:
    """The length of the next chunk, adapted so that one takes about `TARGET_S`, on a slow machine up to `LONGEST_S`.

    It at most doubles from one chunk to the next, so that one that is far too large never happens, and at most halves: a chunk
    during which the machine did something else says little about the next.
    """

    def __init__(self, tokens: int = 64) -> None:
        self.tokens = tokens
        self.most = LARGEST_CHUNK

    @property
    def next(self) -> int:
        """Tokens of the next chunk: what the time suggests, but at most `most`."""
        return min(self.tokens, self.most)

    def learn(self, tokens: int, seconds: float) -> None:
        """Adapt to a chunk of `tokens` that took `seconds`; one much shorter than asked for says little and is passed over."""
        if tokens * 2 < self.tokens or seconds <= 0:
            return
        rate = tokens / seconds
        wanted = max(rate * TARGET_S, min(rate * LONGEST_S, EFFICIENT_CHUNK))
        wanted = min(max(wanted, self.tokens / 2), self.tokens * 2, LARGEST_CHUNK)
        self.tokens = max(SMALLEST_CHUNK, int(wanted) // SMALLEST_CHUNK * SMALLEST_CHUNK)


def prefill(
    model: Any, cache: PrefixCache, ids: Sequence[int], chunk_size: ChunkSize, marks: Sequence[int] = ()
) -> Iterator[int]:
    """Run all of `ids` but the last through the model, a chunk at a time; yield the length of each chunk once it is done.

    At each of the `marks`, counted in all of the cache's tokens, a chunk ends and the cache remembers its state where a later
    prompt could not go on otherwise. The last id is left for `decode`, whose first step needs its logits. Only the cache's
    state is evaluated, so no logits of the whole chunk are ever made. Closing the iterator leaves a cache that holds exactly
    what was yielded.
    """
    done, total = 0, len(ids) - 1
    try:
        while done < total:
            held = len(cache.tokens)
            ahead = [mark - held for mark in marks if mark > held] if cache.needs_marks(total - done) else []
            chunk = list(ids[done : done + min(chunk_size.next, total - done, *ahead)])
            started = time.perf_counter()
            cache.before(len(chunk))
            model(mx.array([chunk]), cache=cache.layers)
            mx.eval([layer.state for layer in cache.layers])
            chunk_size.learn(len(chunk), time.perf_counter() - started)
            cache.extend(chunk)
            if len(chunk) in ahead:
                mx.eval(cache.mark())
            done += len(chunk)
            yield len(chunk)
    finally:
        mx.clear_cache()  # A prompt's buffers are large, and decoding needs none of that size.
