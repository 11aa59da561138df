"""One loaded model and its KV cache: a request goes in, events come out."""

import contextlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace

import mlx.core as mx

from engine.cache.disk import DiskCache
from engine.cache.policy import CachePolicy
from engine.cache.prefix import PrefixCache
from engine.cache.shelf import Shelf
from engine.core.context import context_limit
from engine.core.errors import ContextFull, FlintError, GenerationFailed, OutOfMemory
from engine.core.facts import Message, ReplyFacts
from engine.core.messages import (
    Compacting,
    ContextCompacted,
    CountPrompt,
    Event,
    Generate,
    MemoryRefused,
    PromptCounted,
    PromptInspected,
    TextDelta,
)
from engine.hardware.meters import mlx_counters, read_memory
from engine.inference.cache_identity import cache_identity
from engine.inference.compaction import reserve, summary_request, summary_tokens, with_summary
from engine.inference.continuing import goes_on, ids_so_far
from engine.inference.guard import adapted, as_error, expected, refusal
from engine.inference.inspection import inspected
from engine.inference.loader import Loaded
from engine.inference.prefill import LARGEST_CHUNK, ChunkSize
from engine.inference.prompt_count import Counter, Encoder, Steps, TextCounter
from engine.inference.prompt_plan import Plan, plan
from engine.inference.provenance import made_with
from engine.inference.replay import ExactReply
from engine.inference.reply import Bench, Reply, Room
from engine.inference.rolling import least, left_out
from engine.inference.template import Prompt, render, template_hash

UNTRAINED = 1 << 40
"""Positions of a model that does not tell how far it was trained to count."""

KEPT_BYTES = 2 << 30
"""Memory for what is not live: other chats and branches."""


@dataclass(frozen=True)
class Fitted:
    """A request and its prompt as they fit into the context, without the oldest messages where those must go."""

    request: Generate
    prompt: Prompt
    plan: Plan
    room: Room

    @property
    def policy(self) -> CachePolicy:
        """What the cache must be like."""
        return CachePolicy(self.room.context, self.request.kv_bits)


class Session:
    """Holds a loaded model; answers one request at a time, on the thread that loaded it."""

    def __init__(self, loaded: Loaded, kept_bytes: int = KEPT_BYTES, disk: DiskCache | None = None) -> None:
        self.loaded = loaded
        self._disk = disk
        self._changes: tuple[tuple[str, str], ...] = ()
        template = template_hash(loaded.tokenizer)
        encoder = Encoder(loaded.tokenizer)
        self._counters = tuple(Counter(encoder, loaded.facts.fingerprint) for _ in range(2))
        self._texts = TextCounter(encoder)
        self._bench = Bench(
            loaded, PrefixCache(loaded.model, CachePolicy(), kept_bytes), ChunkSize(), template, made_with(loaded)
        )

    @property
    def cache(self) -> PrefixCache:
        """The KV cache in use."""
        return self._bench.cache

    @property
    def template_hash(self) -> str:
        """What identifies the model's chat template."""
        return self._bench.template_hash

    def context_limit(self, asked: int | None) -> int:
        """Return the context length in tokens that a request gets, as the function of that name."""
        return context_limit(asked, self.loaded.facts.context)

    def generate(self, request: Generate, cancelled: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """Yield PrefillProgress, then TextDelta, then NextTokens, then one Finished or Cancelled.

        `cancelled` is asked after every prefill chunk and every token; what was computed until then stays in the cache.
        Raises `TemplateError`, `ContextFull`, `OutOfMemory` or `GenerationFailed`; after the last two what was live is gone.
        """
        started = time.perf_counter()
        if request.replay is not None:
            yield from self._replayed(request, request.replay, cancelled)
            return
        sampling = self.loaded.facts.recommended.fill(request.sampling, request.unset)
        request = replace(request, sampling=sampling, unset=())
        if request.when_full == "compact" and not goes_on(request.messages):
            request = yield from self._compacted(request, cancelled)
        request = replace(request, messages=with_summary(request.messages, request.summary))
        fitted = yield from self._admitted(request)
        self._adopt(fitted.policy)
        self._bench.chunk_size.most = fitted.request.prefill_chunk or LARGEST_CHUNK
        yield from self._guarded(self._reply(Reply, fitted, cancelled, started).events())

    def _replayed(self, request: Generate, then: ReplyFacts, cancelled: Callable[[], bool]) -> Iterator[Event]:
        """Make an earlier reply once more, and tell what came of it. With another cache policy the cache in use stays."""
        started = time.perf_counter()
        request = replace(request, messages=with_summary(request.messages, request.summary))
        fitted = yield from self._admitted(request)
        policy, used = fitted.policy, self.cache
        aside = used.policy != policy and bool(used.tokens or used.kept_bytes)
        if aside:
            self._bench.cache = PrefixCache(self.loaded.model, policy)
        else:
            self._adopt(policy)
        try:
            yield from self._guarded(self._reply(ExactReply, fitted, cancelled, started).repeated(then))
        finally:
            if aside:
                self._bench.cache = used
                mx.clear_cache()

    def _reply[R: Reply](self, kind: type[R], fitted: Fitted, cancelled: Callable[[], bool], started: float) -> R:
        self.cache.chat_id = fitted.request.chat_id
        return kind(
            self._bench,
            fitted.request,
            fitted.plan,
            fitted.room,
            inside_reasoning=fitted.prompt.starts_in_reasoning,
            cancelled=cancelled,
            started=started,
        )

    def inspect(self, request: Generate, request_id: str, *, writing: bool = False) -> PromptInspected:
        """Return the prompt that `request` would be answered from, and what of it is known now; nothing is computed.

        Safe between two steps of a reply, which `writing` tells. Raises `TemplateError` and `ContextFull` as `generate` does.
        """
        messages = with_summary(request.messages, request.summary)
        fitted = self._fitted(replace(request, messages=messages))
        planned, room = fitted.plan, fitted.room
        messages = messages[:-1] if goes_on(messages) else messages  # A reply that goes on is no part of the prompt's text.
        return inspected(
            request_id,
            self.loaded.tokenizer,
            _without(messages, room.left_out),
            fitted.prompt,
            planned,
            model=self.loaded.facts.name,
            fingerprint=self.loaded.facts.fingerprint,
            template_hash=self.template_hash,
            context=room.context,
            cached=self._cached(request, fitted.policy, planned.ids, planned.pinned, not writing),
            left_out=room.left_out,
            left_out_tokens=room.left_out_tokens,
        )

    def count(self, asked: CountPrompt, *, idle: Callable[[], bool]) -> Steps[PromptCounted]:
        """Count a prompt in steps between which a reply may go on; not `idle`, one does. Raises `TemplateError`."""
        request = asked.request
        context = self.context_limit(request.context)
        whole, left = self._counters
        messages = with_summary(request.messages, request.summary)
        counted = yield from whole.count(messages)
        rolls, gone = request.when_full != "stop", 0
        most = (self.loaded.facts.context or UNTRAINED) if rolls else context
        if rolls and len(counted.ids) >= most:
            opening = len(counted.ids) - (counted.ends[-1] if counted.ends else 0)
            gone = left_out(messages, counted.ends, counted.pinned, context, most - opening)
            counted = yield from left.count(_without(messages, gone))
        cached = self._cached(request, CachePolicy(context, request.kv_bits), counted.ids, counted.pinned, idle())
        needed = least(counted.ends, counted.pinned, len(counted.ids))
        texts = []
        for text in asked.texts:
            texts.append((yield from self._texts.count(text)))
        return PromptCounted(
            request_id=asked.request_id,
            tokens=len(counted.ids),
            words=counted.words,
            cached=cached,
            context=context,
            left_out=gone,
            fits=len(counted.ids) < most and (needed if rolls and counted.words else counted.pinned) < context,
            texts=tuple(texts),
            said=counted.said,
        )

    def _cached(self, request: Generate, policy: CachePolicy, ids: tuple[int, ...], pinned: int, idle: bool) -> int:
        """Return how many of a prompt's ids need not be read again."""
        if idle and self.cache.policy != policy and not self.cache.tokens and not self.cache.kept_bytes:
            self._adopt(policy)  # Nothing is lost by it, and what is on disk counts.
        if idle:
            self.cache.discover()
        changed = adapted(request, self._changes)
        policies = (policy, CachePolicy(self.context_limit(changed.context), changed.kv_bits))
        return self.cache.known(ids, pinned) if ids and self.cache.policy in policies else 0

    def _admitted(self, request: Generate) -> Generator[Event, None, Fitted]:
        """Return the request with its prompt, changed to fit the memory where it may be. Raises `OutOfMemory`."""
        fitted = self._fitted(request)
        refused = None if request.memory_guard == "off" else self._refusal(fitted)
        if refused and request.memory_guard == "adapt":
            # What fitted the last time first: other settings would be another cache, and the whole chat be read again.
            for changes in (self._changes, *(choice.changes for choice in refused.choices[:1])):
                if changes and not self._refusal(tried := self._fitted(adapted(request, changes))):
                    self._changes = changes
                    return tried
        if refused:
            yield refused
            raise as_error(refused)
        return fitted

    def _refusal(self, fitted: Fitted) -> MemoryRefused | None:
        """Return why the reply's memory is not there; where it is, other chats and branches give back what it needs of it."""
        loaded, cache, request, ids = self.loaded, self.cache, fitted.request, fitted.plan.ids
        tokens = min(fitted.room.context, len(ids) + request.sampling.max_tokens)
        try:
            fit = expected(
                loaded,
                tokens=tokens,
                kv_bits=request.kv_bits,
                chunk=min(request.prefill_chunk or LARGEST_CHUNK, len(ids)),
            )
        except FlintError:
            return None  # A config that can't be judged loaded all the same.
        budget = read_memory(mlx_counters(), working_set=loaded.device.working_set_bytes).budget
        refused = refusal(request.request_id, fit, budget, loaded.device.max_buffer_bytes)
        spare = budget - fit.peak_bytes
        if not refused and cache.kept_bytes > spare:
            cache.shrink(spare)
        return refused

    def _guarded(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield a reply's events; whatever MLX raises becomes one of Flint's errors, and what it may have harmed is dropped."""
        try:
            yield from events
        except FlintError:
            raise
        except Exception as error:
            self.cache.drop()
            mx.clear_cache()
            if isinstance(error, MemoryError) or "alloc" in str(error) or "memory" in str(error).lower():
                raise OutOfMemory("The memory ran out while the reply was being made.") from error
            raise GenerationFailed("The model failed while it worked on the reply.") from error

    def _compacted(self, request: Generate, cancelled: Callable[[], bool]) -> Generator[Event, None, Generate]:
        """Summarise the oldest turns where they and a reply do not fit; the value is the request that is left."""
        context = self.context_limit(request.context)
        _, planned = self._planned(with_summary(request.messages, request.summary))
        room = context - reserve(context, request.sampling.max_tokens)
        gone = left_out(request.messages, planned.ends[-len(request.messages) :], planned.pinned, context, room)
        needed = least(planned.ends, planned.pinned, len(planned.ids))
        if len(planned.ids) < room or not gone or needed >= context or cancelled():
            return request
        older = [message for message in request.messages if message.role != "system"][:gone]
        density = sum(len(message.text) for message in request.messages) / max(1, len(planned.ids))
        longest = summary_tokens(context)
        asked = summary_request(request, older, int(density * (context - 2 * longest)), longest)
        summary = ""
        with contextlib.suppress(ContextFull):  # Where the oldest turns have more tokens a word than the rest, they roll out.
            for event in self.generate(asked, cancelled):
                if isinstance(event, TextDelta):
                    summary += event.text
                    yield Compacting(request.request_id, event.output_tokens)
        if cancelled() or not summary.strip():
            return request
        yield ContextCompacted(request.request_id, summary.strip(), gone)
        return replace(request, summary=summary.strip(), messages=_without(request.messages, gone))

    def _fitted(self, request: Generate) -> Fitted:
        """Return the request with its prompt as it fits into the context. Raises `TemplateError` and `ContextFull`."""
        context = self.context_limit(request.context)
        rolls = request.when_full != "stop"
        room = Room(context, self.loaded.facts.context or UNTRAINED, rolls)
        prompt, planned = self._planned(request.messages)
        if rolls and len(planned.ids) >= room.positions:
            whole = len(planned.ids)
            opening = whole - planned.ends[-1]
            gone = left_out(request.messages, planned.ends, planned.pinned, room.context, room.positions - opening)
            prompt, planned = self._planned(_without(request.messages, gone))
            room = Room(context, room.positions, rolls, gone, whole - len(planned.ids))
        most = room.positions if rolls else context
        if len(planned.ids) >= most or planned.pinned >= context:
            size, limit = len(planned.ids), min(most, context)
            raise ContextFull(f"The conversation has {size:,} tokens and the context holds {limit:,}.")
        newest = least(planned.ends, planned.pinned, len(planned.ids) - planned.resumed)
        if rolls and newest >= context:  # Its beginning would leave before a word is written.
            raise ContextFull(
                f"The newest message needs {newest:,} tokens to be read whole, and the context holds {context:,}."
            )
        return Fitted(request, prompt, planned, room)

    def _planned(self, messages: tuple[Message, ...]) -> tuple[Prompt, Plan]:
        tokenizer, fingerprint = self.loaded.tokenizer, self.loaded.facts.fingerprint
        if not goes_on(messages):
            prompt = render(tokenizer, messages)
            return prompt, plan(tokenizer, messages, prompt, fingerprint)
        # A reply goes on: its ids follow the prompt that it was written to, whose last turn is open.
        prompt, planned = self._planned(messages[:-1])
        more = ids_so_far(tokenizer, prompt, messages[-1], fingerprint)
        return prompt, replace(planned, ids=(*planned.ids, *more), resumed=len(more))

    def _adopt(self, policy: CachePolicy) -> None:
        """Use a cache of this policy; one of another policy holds rows that were seen otherwise."""
        if self.cache.policy != policy:
            self.cache.forget()
            self._bench.cache = PrefixCache(self.loaded.model, policy, self.cache.limit)
            if self._disk is not None:
                self.cache.attach(Shelf(self._disk, cache_identity(self.loaded, self.template_hash, policy)))
            mx.clear_cache()


def _without(messages: tuple[Message, ...], count: int) -> tuple[Message, ...]:
    """Return the messages without the first `count` that are not the system's."""
    system = tuple(message for message in messages if message.role == "system")
    others = tuple(message for message in messages if message.role != "system")
    return (*system, *others[count:])
