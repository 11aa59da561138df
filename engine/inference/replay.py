"""A reply made once more exactly: the same forwards over the same tokens, the same draws; and whether it comes out the same."""

import itertools
from collections.abc import Generator, Iterator, Sequence

import mlx.core as mx

from engine.cache import forwards
from engine.core.facts import ReplyFacts
from engine.core.messages import Cancelled, Event, Finished, PrefillProgress, Replayed, TextDelta
from engine.inference.loader import Loaded
from engine.inference.prefill import EFFICIENT_CHUNK, LARGEST_CHUNK, ChunkSize, prefill
from engine.inference.provenance import differences
from engine.inference.reply import Reply

END_OF_TURN = "the end of the reply"


class RecordedChunks(ChunkSize):
    """The chunk lengths of an earlier reading, one after the other; what it did not read is read as usual."""

    def __init__(self, lengths: Sequence[int]) -> None:
        super().__init__(EFFICIENT_CHUNK)
        self._lengths = list(lengths)

    @property
    def next(self) -> int:
        """The recorded length of the next chunk."""
        return self._lengths[0] if self._lengths else min(self.tokens, LARGEST_CHUNK)

    def learn(self, tokens: int, seconds: float) -> None:
        """One chunk is done."""
        del tokens, seconds
        if self._lengths:
            self._lengths.pop(0)


class ExactReply(Reply):
    """A reply whose prompt is known and read as that of an earlier one was."""

    def repeated(self, then: ReplyFacts) -> Iterator[Event]:
        """Yield the progress of a repetition, then `Replayed` and its end; it is over with the first token that differs."""
        self._then = then
        self._chunk_size, self._again_size = RecordedChunks(then.chunks), RecordedChunks(then.reread)
        self._marks = ()
        expected = then.output_ids[then.resumed[-1] if then.resumed else 0 :]
        written, reason = self._written, ""
        events = self.events()
        for event in events:
            if isinstance(event, Cancelled):
                yield event
                return
            if isinstance(event, Finished) and event.reply:
                reason = event.reply.finish_reason
            if isinstance(event, PrefillProgress | TextDelta):
                yield event
            over = len(written) > len(expected) or _first_difference(written, expected) is not None
            if over or (then.finish_reason == "cancelled" and len(written) == len(expected)):
                break
        events.close()
        yield self._verdict(expected, reason)
        yield Finished(self._request.request_id)

    def _know(self) -> Generator[Event, None, int]:
        """Let the cache hold as many tokens as it did then, computed in the same forwards; compute what is not so."""
        wanted = min(self._then.cached_tokens, len(self._plan.ids) - 1)
        history = forwards.first(self._then.history, wanted)
        position = self._reuse(history, wanted)
        left = [each for each in forwards.forwards(history) if each[0] >= position]
        while left:
            whole = list(itertools.takewhile(_is_whole, left))
            if whole:
                yield from self._compute(position, [length for each in whole for length in _lengths(each)])
            elif not self._compute_part(*left[0]):
                yield from self._compute(position, [left[0][2]])
            if self._cancelled():
                break
            left = left[max(1, len(whole)) :]
            position = len(self._bench.cache.tokens)
        return position

    def _reuse(self, history: list[forwards.Run], wanted: int) -> int:
        """Return after how many of the first `wanted` tokens the cache stands now, all of them computed as then."""
        cache, at = self._bench.cache, wanted
        while True:
            position = cache.reuse(self._plan.ids[: at + 1], self._plan.pinned)
            same = forwards.agreeing(cache.forwards(position), history)
            inside = forwards.begins_inside(history, position)
            if same < position:
                at = min(same, position - 1)
            elif inside is None:
                return position
            else:
                at = inside

    def _compute(self, position: int, lengths: Sequence[int]) -> Iterator[Event]:
        """Read on from `position` in forwards of these lengths."""
        bench, ids = self._bench, self._plan.ids
        part = ids[position : position + sum(lengths) + 1]
        done = position
        for length in prefill(bench.loaded.model, bench.cache, part, RecordedChunks(lengths)):
            done += length
            yield PrefillProgress(self._request.request_id, done, len(ids), 0, 0.0, self._room.context)
            if self._cancelled():
                return

    def _compute_part(self, start: int, length: int, kept: int) -> bool:
        """Compute a forward of which only the first tokens are ours, and take the others back; return whether that could be."""
        cache, ids = self._bench.cache, self._plan.ids
        if cache.needs_marks(length):
            return False
        chunk = [*ids[start : start + kept], *[ids[start]] * (length - kept)]
        cache.before(length)
        self._bench.loaded.model(mx.array([chunk]), cache=cache.layers)
        mx.eval([layer.state for layer in cache.layers])
        cache.extend(chunk)
        cache.take_back(length - kept)
        return True

    def _verdict(self, expected: Sequence[int], reason: str) -> Replayed:
        written, loaded = self._written, self._bench.loaded
        at = _first_difference(written, expected)
        if at is None and (len(written) != len(expected) or (reason and reason != self._then.finish_reason)):
            at = min(len(written), len(expected))
        return Replayed(
            request_id=self._request.request_id,
            same=at is None,
            tokens=len(expected) if at is None else at,
            expected=_told(loaded, expected, at),
            got=_told(loaded, written, at),
            reasons=differences(self._then, loaded, self._facts("cancelled")),
        )


def _is_whole(forward: forwards.Forward) -> bool:
    _, length, kept = forward
    return length in (forwards.UNKNOWN, kept)


def _lengths(forward: forwards.Forward) -> list[int]:
    """Return the lengths in which a whole forward is computed: one that is not known in pieces of a bounded length."""
    _, length, kept = forward
    if length:
        return [length]
    return [min(LARGEST_CHUNK, kept - done) for done in range(0, kept, LARGEST_CHUNK)]


def _first_difference(written: Sequence[int], expected: Sequence[int]) -> int | None:
    return next((index for index, (one, other) in enumerate(zip(written, expected, strict=False)) if one != other), None)


def _told(loaded: Loaded, ids: Sequence[int], at: int | None) -> str:
    if at is None:
        return ""
    return str(loaded.tokenizer.decode([ids[at]])) if at < len(ids) else END_OF_TURN
