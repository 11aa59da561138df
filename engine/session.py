"""One loaded model and its KV cache: a request goes in, events come out."""

import secrets
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace

import mlx.core as mx

from engine.cache.prefix import PrefixCache
from engine.core.errors import ContextFull, FlintError, GenerationFailed, OutOfMemory
from engine.core.messages import (
    Cancelled,
    Event,
    Finished,
    FinishReason,
    Generate,
    PrefillProgress,
    ReplyFacts,
    TextDelta,
)
from engine.inference.decode import decode
from engine.inference.loader import Loaded
from engine.inference.prefill import ChunkSize, prefill
from engine.inference.reply_text import ReplyText
from engine.inference.sampling import Sampler
from engine.inference.template import Prompt, render, template_hash
from engine.metrics import RollingRate, rate

LARGEST_DEFAULT_CONTEXT = 32_768
"""Context length where none is configured: the trained length, but at most this."""

RATE_WINDOW_S = 2.0


class Session:
    """Holds a loaded model; answers one request at a time, on the thread that loaded it."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.cache = PrefixCache(loaded.model)
        self.chunk_size = ChunkSize()
        self.template_hash = template_hash(loaded.tokenizer)

    def context_limit(self, asked: int | None) -> int:
        """Return the context length in tokens that a request gets: what was asked for is obeyed, up to the trained length.

        A model that does not tell its trained length gets what was asked for.
        """
        trained = self.loaded.facts.context or asked or LARGEST_DEFAULT_CONTEXT
        return min(asked, trained) if asked else min(trained, LARGEST_DEFAULT_CONTEXT)

    def generate(self, request: Generate, cancelled: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """Yield PrefillProgress, then TextDelta, then one Finished or Cancelled.

        `cancelled` is asked after every prefill chunk and every token; what was computed until then stays in the cache.
        Raises `TemplateError`, `ContextFull`, `OutOfMemory` or `GenerationFailed`; after the last two the cache is empty.
        """
        prompt = render(self.loaded.tokenizer, request.messages)
        limit = self.context_limit(request.context)
        if len(prompt.ids) >= limit:
            raise ContextFull(f"The conversation has {len(prompt.ids):,} tokens and the context holds {limit:,}.")
        try:
            yield from _Reply(self, request, prompt, limit, cancelled).events()
        except FlintError:
            raise
        except Exception as error:
            self.cache.drop()
            mx.clear_cache()
            if isinstance(error, MemoryError) or "alloc" in str(error) or "memory" in str(error).lower():
                raise OutOfMemory("The memory ran out while the reply was being made.") from error
            raise GenerationFailed("The model failed while it worked on the reply.") from error


class _Reply:
    """The making of one reply."""

    def __init__(self, session: Session, request: Generate, prompt: Prompt, limit: int, cancelled: Callable[[], bool]) -> None:
        self._session = session
        self._request = request
        self._prompt = prompt
        self._limit = limit
        self._cancelled = cancelled
        self._seed = request.sampling.seed if request.sampling.seed is not None else secrets.randbits(32)
        self._text = ReplyText(session.loaded.tokenizer, request.sampling.stop, inside_reasoning=prompt.starts_in_reasoning)
        self._started = time.perf_counter()
        self._prefilled = self._first = self._ended = 0.0
        self._cached = self._output = 0
        self._chunks: list[int] = []

    def events(self) -> Iterator[Event]:
        mx.reset_peak_memory()
        self._cached = self._session.cache.reuse(self._prompt.ids)
        yield from self._read()
        if self._cancelled():
            yield Cancelled(self._request.request_id, self._facts("cancelled"))
            return
        reason: FinishReason = yield from self._write()
        facts = self._facts(reason)
        yield Cancelled(self._request.request_id, facts) if reason == "cancelled" else Finished(self._request.request_id, facts)

    def _read(self) -> Iterator[Event]:
        session, ids = self._session, self._prompt.ids[self._cached :]
        yield self._progress(0)
        for length in prefill(session.loaded.model, session.cache, ids, session.chunk_size):
            self._chunks.append(length)
            yield self._progress(sum(self._chunks))
            if self._cancelled():
                break
        self._prefilled = time.perf_counter()

    def _progress(self, done: int) -> PrefillProgress:
        total = len(self._prompt.ids) - self._cached
        spent = time.perf_counter() - self._started
        return PrefillProgress(self._request.request_id, done, total, self._cached, rate(done, spent), self._limit)

    def _write(self) -> Generator[Event, None, FinishReason]:
        """Yield the text; the generator's value is why it ended."""
        session, ids = self._session, self._prompt.ids
        wanted = self._request.sampling.max_tokens
        limit = min(wanted, self._limit - len(ids))
        sampler = Sampler(self._request.sampling, self._seed, ids)
        rolling = RollingRate(RATE_WINDOW_S)
        tokens = decode(session.loaded.model, session.cache, ids[-1], sampler, limit)
        reason: FinishReason = "length" if limit == wanted else "context"
        for token in tokens:
            now = time.perf_counter()
            self._first = self._first or now
            self._output += 1
            rolling.add(now, 1)
            ended = token in session.loaded.end_ids
            answer, reasoning, stopped = ("", "", False) if ended else self._text.add(token)
            if ended or stopped or self._cancelled():
                reason = "stop" if ended or stopped else "cancelled"
                yield self._delta(answer, reasoning, rolling.rate(now))
                break
            yield self._delta(answer, reasoning, rolling.rate(now))
        tokens.close()
        self._ended = time.perf_counter()
        answer, reasoning = self._text.finish()
        if answer or reasoning:
            yield self._delta(answer, reasoning, rolling.rate(self._ended))
        return reason

    def _delta(self, answer: str, reasoning: str, tps: float) -> TextDelta:
        return TextDelta(
            request_id=self._request.request_id,
            text=answer,
            reasoning=reasoning,
            output_tokens=self._output,
            rate=tps,
            context_used=len(self._prompt.ids) + self._output,
            ttft_s=self._first - self._started,
            context=self._limit,
        )

    def _facts(self, reason: FinishReason) -> ReplyFacts:
        session = self._session
        now = time.perf_counter()
        first, prefilled = self._first or now, self._prefilled or now
        prefill_s = first - self._started if self._first else prefilled - self._started
        decode_s = (self._ended if self._first else now) - first
        return ReplyFacts(
            model=session.loaded.facts.name,
            finish_reason=reason,
            seed=self._seed,
            prompt_tokens=len(self._prompt.ids),
            cached_tokens=self._cached,
            output_tokens=self._output,
            ttft_s=first - self._started if self._first else 0.0,
            prefill_s=prefill_s,
            decode_s=decode_s,
            prefill_tps=rate(len(self._prompt.ids) - self._cached if self._first else sum(self._chunks), prefill_s),
            decode_tps=rate(max(0, self._output - 1), decode_s),
            weights_bytes=session.loaded.facts.weights_bytes,
            kv_bytes=session.cache.nbytes,
            peak_bytes=mx.get_peak_memory(),
            context=self._limit,
            fingerprint=session.loaded.facts.fingerprint,
            template_hash=session.template_hash,
            sampling=replace(self._request.sampling, seed=self._seed),
            chunks=tuple(self._chunks),
        )
