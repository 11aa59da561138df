"""The making of one reply: read what is new of the prompt, write, and measure."""

import secrets
import time
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace

import mlx.core as mx

from engine.cache.layers import seen_bytes
from engine.cache.prefix import PrefixCache
from engine.core.facts import FinishReason, ReplyFacts
from engine.core.messages import Cancelled, Event, Finished, Generate, PrefillProgress, ReplyOdds, TextDelta
from engine.core.odds import ALTERNATIVES
from engine.core.text_lines import read_texts
from engine.inference.continuing import Shown
from engine.inference.decode import decode
from engine.inference.loader import Loaded
from engine.inference.next_tokens import next_tokens
from engine.inference.odds import Odds
from engine.inference.prefill import ChunkSize, prefill
from engine.inference.prompt_plan import Plan
from engine.inference.provenance import Made, ids_hash
from engine.inference.reply_text import ReplyText
from engine.inference.sampling import Sampler
from engine.inference.vocabulary import bias_by_id, breaker_ids
from engine.metrics import RollingRate, rate

RATE_WINDOW_S = 2.0


@dataclass(frozen=True)
class Room:
    """How many tokens fit: `context` is what the model sees at once, `positions` how far it was trained to count.

    `rolls` says that a reply goes on when the context is full; `left_out` messages were left out of the prompt already, and
    with them `left_out_tokens`.
    """

    context: int
    positions: int
    rolls: bool
    left_out: int = 0
    left_out_tokens: int = 0


@dataclass
class Bench:
    """What replies are made with: the model, its caches, the length of the next prefill chunk, and the template's hash."""

    loaded: Loaded
    cache: PrefixCache
    chunk_size: ChunkSize
    template_hash: str
    made_with: Made = ()
    _breakers: dict[str, frozenset[int]] = field(default_factory=dict)

    def breakers_of(self, setting: str) -> frozenset[int]:
        """Return the ids of DRY's breakers, found once for a list of texts: the whole vocabulary is searched."""
        if setting not in self._breakers:
            self._breakers = {setting: breaker_ids(read_texts(setting), self.loaded.tokenizer)}
        return self._breakers[setting]


class Reply:
    """One reply on its way. `started` is when its request was taken up, in seconds of `time.perf_counter`."""

    def __init__(
        self,
        bench: Bench,
        request: Generate,
        plan: Plan,
        room: Room,
        *,
        inside_reasoning: bool,
        cancelled: Callable[[], bool],
        started: float,
    ) -> None:
        # Somebody may have put the end of the turn in the place of what followed.
        self._over = plan.resumed > 0 and plan.ids[-1] in bench.loaded.end_ids
        if self._over:
            plan = replace(plan, ids=plan.ids[:-1], resumed=plan.resumed - 1)
        self._bench = bench
        self._request = request
        self._plan = plan
        self._room = room
        self._cancelled = cancelled
        self._seed = request.sampling.seed if request.sampling.seed is not None else secrets.randbits(32)
        tokenizer, sampling = bench.loaded.tokenizer, request.sampling
        breakers = bench.breakers_of(sampling.dry_breakers) if sampling.dry_multiplier > 0 else ()
        self._sampler = Sampler(sampling, self._seed, plan.ids, bias_by_id(sampling.logit_bias, tokenizer), breakers)
        self._text = ReplyText(bench.loaded.tokenizer, request.sampling.stop, inside_reasoning=inside_reasoning)
        before = plan.ids[len(plan.ids) - plan.resumed :]
        self._odds = Odds(tokenizer, ALTERNATIVES, before) if request.keep_probabilities == "on" else None
        had = self._text.go_on_from(before)
        cut = request.messages[-1] if plan.resumed else None
        self._shown = (Shown(cut.text, had[0]), Shown(cut.reasoning, had[1])) if cut else None
        self._before = before
        self._rolling = RollingRate(RATE_WINDOW_S)
        self._started = started
        self._began = self._prefilled = self._first = self._ended = 0.0
        self._thought = self._answered = 0.0
        self._cached = self._rebased = 0
        self._written: list[int] = []
        self._drawn = 0
        self._chunks: list[int] = []
        self._reread: list[int] = []
        self._history: tuple[tuple[int, int], ...] = ()
        self._chunk_size = self._again_size = bench.chunk_size
        self._marks = plan.marks

    def events(self) -> Generator[Event]:
        """Yield PrefillProgress, TextDelta, NextTokens where a token was written, and one Finished or Cancelled."""
        mx.reset_peak_memory()
        self._began = time.perf_counter()
        self._cached = yield from self._know()
        self._history = tuple(self._bench.cache.forwards(self._cached))
        yield from self._read()
        reason: FinishReason = "cancelled"
        if not self._cancelled():
            reason = yield from self._write()
        if self._odds and self._written:
            yield ReplyOdds(self._request.request_id, self._odds.of(len(self._written)))
        facts = self._facts(reason)
        if self._drawn:
            loaded = self._bench.loaded
            yield next_tokens(
                self._request.request_id, self._sampler, self._written, self._drawn, loaded.tokenizer, loaded.end_ids
            )
        ended: Event = Finished(self._request.request_id, facts)
        yield Cancelled(self._request.request_id, facts) if reason == "cancelled" else ended

    def _know(self) -> Generator[Event, None, int]:
        """Let the cache hold what it knows of the prompt; the value is how many tokens that is."""
        yield from ()
        return self._bench.cache.reuse(self._plan.ids, self._plan.pinned)

    def _read(self) -> Iterator[Event]:
        bench = self._bench
        yield self._progress(0)
        ids = self._plan.ids[self._cached :]
        for length in prefill(bench.loaded.model, bench.cache, ids, self._chunk_size, self._marks):
            self._chunks.append(length)
            yield self._progress(sum(self._chunks))
            if self._cancelled():
                break
        self._prefilled = time.perf_counter()

    def _progress(self, done: int) -> PrefillProgress:
        total = len(self._plan.ids) - self._cached
        spent = time.perf_counter() - self._started
        read = rate(done, spent)
        return PrefillProgress(self._request.request_id, done, total, self._cached, read, self._room.context, *self._dropped())

    # -- writing ----------------------------------------------------------------------------------------------------

    def _write(self) -> Generator[Event, None, FinishReason]:
        """Yield the text; the generator's value is why it ended."""
        if self._over:
            yield self._delta(*self._text.finish(), time.perf_counter())
            return "stop"
        last = self._plan.ids[-1]
        while True:
            reason, last = yield from self._stretch(last)
            fresh = self._fresh(last)
            if reason != "context" or not self._room.rolls or len(fresh) >= self._room.positions:
                break
            yield from self._rebase(fresh)
            if self._cancelled():
                reason = "cancelled"
                break
        self._ended = time.perf_counter()
        answer, reasoning = self._text.finish()
        if answer or reasoning:
            yield self._delta(answer, reasoning, self._ended)
        return reason

    def _stretch(self, last: int) -> Generator[Event, None, tuple[FinishReason, int]]:
        """Write until the turn ends, or as far as there is room; the value is why, and the id written last."""
        bench = self._bench
        wanted = self._request.sampling.max_tokens - self._drawn
        space = (self._room.positions if self._room.rolls else self._room.context) - len(bench.cache.tokens) - 1
        reason: FinishReason = "length" if wanted <= space else "context"
        tokens = decode(bench.loaded.model, bench.cache, last, self._sampler, min(wanted, space), self._odds)
        for last in tokens:
            now = time.perf_counter()
            self._first = self._first or now
            self._drawn += 1
            self._rolling.add(now, 1)
            ended = last in bench.loaded.end_ids
            answer, reasoning, stopped = ("", "", False) if ended else self._text.add(last)
            if not ended:
                self._written.append(last)
            over = ended or stopped or self._cancelled()
            yield self._delta(answer, reasoning, now)
            if over:
                reason = "stop" if ended or stopped else "cancelled"
                break
        tokens.close()
        return reason, last

    def _fresh(self, last: int) -> list[int]:
        """Return what is read again when positions run out: the pinned tokens and the newest, half of the room for them."""
        tokens, pinned = self._bench.cache.tokens, self._plan.pinned
        newest = max(pinned, len(tokens) - (self._room.context - pinned) // 2)
        return [*tokens[:pinned], *tokens[newest:], last]

    def _rebase(self, fresh: list[int]) -> Iterator[Event]:
        """Go on at fresh positions."""
        cache = self._bench.cache
        self._rebased += len(cache.tokens) + 1 - len(fresh)
        known = cache.reuse(fresh, self._plan.pinned)
        for length in prefill(self._bench.loaded.model, cache, fresh[known:], self._again_size):
            self._reread.append(length)
            yield self._delta("", "", time.perf_counter())
            if self._cancelled():
                return

    def _delta(self, answer: str, reasoning: str, now: float) -> TextDelta:
        if self._shown:
            answer, reasoning = self._shown[0].new(answer), self._shown[1].new(reasoning)
        unsaid = self._drawn - len(self._written)  # The token that ends the turn, which is counted nowhere.
        self._thought = self._thought or (now if reasoning else 0.0)
        self._answered = self._answered or (now if answer else 0.0)
        dropped_tokens, dropped_messages = self._dropped()
        return TextDelta(
            request_id=self._request.request_id,
            text=answer,
            reasoning=reasoning,
            output_tokens=len(self._before) + len(self._written),
            rate=self._rolling.rate(now),
            context_used=min(len(self._bench.cache.tokens) - unsaid, self._room.context),
            ttft_s=self._first - self._started,
            context=self._room.context,
            reasoning_s=self._reasoning_s(now),
            dropped_tokens=dropped_tokens,
            dropped_messages=dropped_messages,
        )

    # -- measuring --------------------------------------------------------------------------------------------------

    def _reasoning_s(self, now: float) -> float:
        """Return how long the model has thought: from its first reasoning token to the first of the answer, or until `now`."""
        return (self._answered or now) - self._thought if self._thought else 0.0

    def _facts(self, reason: FinishReason) -> ReplyFacts:
        loaded, cache = self._bench.loaded, self._bench.cache
        dropped_tokens, dropped_messages = self._dropped()
        now = time.perf_counter()
        first = self._first or now
        prefill_s = (self._first or self._prefilled or now) - self._began
        decode_s = (self._ended if self._first else now) - first
        read = len(self._plan.ids) - self._cached if self._first else sum(self._chunks)
        return ReplyFacts(
            model=loaded.facts.name,
            finish_reason=reason,
            seed=self._seed,
            prompt_tokens=len(self._plan.ids) - len(self._before),
            cached_tokens=self._cached,
            output_tokens=len(self._before) + len(self._written),
            ttft_s=first - self._started if self._first else 0.0,
            prefill_s=prefill_s,
            decode_s=decode_s,
            prefill_tps=rate(read, prefill_s),
            decode_tps=rate(max(0, self._drawn - 1), decode_s),
            weights_bytes=loaded.facts.weights_bytes,
            kv_bytes=seen_bytes(cache.layers),
            peak_bytes=mx.get_peak_memory(),
            context=self._room.context,
            fingerprint=loaded.facts.fingerprint,
            template_hash=self._bench.template_hash,
            sampling=replace(self._request.sampling, seed=self._seed),
            chunks=tuple(self._chunks),
            output_ids=(*self._before, *self._written),
            resumed=(len(self._before),) if self._before else (),
            history=self._history,
            reread=tuple(self._reread),
            prompt_hash=ids_hash(self._plan.ids),
            made_with=self._bench.made_with,
            kv_bits=cache.policy.kv_bits,
            dropped_tokens=dropped_tokens,
            dropped_messages=dropped_messages,
            reasoning_s=self._reasoning_s(self._ended or now),
        )

    def _dropped(self) -> tuple[int, int]:
        """Return how many tokens have left the context, and how many messages with them, not counting the system's."""
        gone = self._rebased + self._bench.cache.dropped
        ends, pinned = self._plan.ends, self._plan.pinned
        messages = bisect_right(ends, pinned + gone) - bisect_right(ends, pinned)
        return self._room.left_out_tokens + gone, self._room.left_out + messages
