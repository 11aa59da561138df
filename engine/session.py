"""One loaded model and its KV cache: a request goes in, events come out."""

import time
from collections.abc import Callable, Iterator

import mlx.core as mx

from engine.cache.policy import CachePolicy
from engine.cache.prefix import PrefixCache
from engine.core.errors import ContextFull, FlintError, GenerationFailed, OutOfMemory
from engine.core.messages import Event, Generate, Message
from engine.inference.loader import Loaded
from engine.inference.prefill import ChunkSize
from engine.inference.prompt_plan import Plan, plan
from engine.inference.reply import Bench, Reply, Room
from engine.inference.rolling import left_out
from engine.inference.template import Prompt, render, template_hash

LARGEST_DEFAULT_CONTEXT = 32_768
"""Context length where none is configured: the trained length, but at most this."""

UNTRAINED = 1 << 40
"""Positions of a model that does not tell how far it was trained to count."""

KEPT_BYTES = 2 << 30
"""Memory for what is not live: other chats and branches."""


class Session:
    """Holds a loaded model; answers one request at a time, on the thread that loaded it."""

    def __init__(self, loaded: Loaded, kept_bytes: int = KEPT_BYTES) -> None:
        self.loaded = loaded
        self._kept_bytes = kept_bytes
        self._bench = Bench(loaded, self._new_cache(CachePolicy()), ChunkSize(), template_hash(loaded.tokenizer))

    @property
    def cache(self) -> PrefixCache:
        """The KV cache in use."""
        return self._bench.cache

    @property
    def template_hash(self) -> str:
        """What identifies the model's chat template."""
        return self._bench.template_hash

    def context_limit(self, asked: int | None) -> int:
        """Return the context length in tokens that a request gets: what was asked for is obeyed, up to the trained length.

        A model that does not tell its trained length gets what was asked for.
        """
        trained = self.loaded.facts.context or asked or LARGEST_DEFAULT_CONTEXT
        return min(asked, trained) if asked else min(trained, LARGEST_DEFAULT_CONTEXT)

    def generate(self, request: Generate, cancelled: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """Yield PrefillProgress, then TextDelta, then one Finished or Cancelled.

        `cancelled` is asked after every prefill chunk and every token; what was computed until then stays in the cache.
        Raises `TemplateError`, `ContextFull`, `OutOfMemory` or `GenerationFailed`; after the last two what was live is gone.
        """
        started = time.perf_counter()
        prompt, planned, room = self._fitted(request)
        self._adopt(CachePolicy(room.context, request.kv_bits))
        reply = Reply(
            self._bench,
            request,
            planned,
            room,
            inside_reasoning=prompt.starts_in_reasoning,
            cancelled=cancelled,
            started=started,
        )
        try:
            yield from reply.events()
        except FlintError:
            raise
        except Exception as error:
            self.cache.drop()
            mx.clear_cache()
            if isinstance(error, MemoryError) or "alloc" in str(error) or "memory" in str(error).lower():
                raise OutOfMemory("The memory ran out while the reply was being made.") from error
            raise GenerationFailed("The model failed while it worked on the reply.") from error

    def _fitted(self, request: Generate) -> tuple[Prompt, Plan, Room]:
        """Return the prompt as it fits into the context, without the oldest messages where they must go."""
        context = self.context_limit(request.context)
        rolls = request.when_full != "stop"
        room = Room(context, self.loaded.facts.context or UNTRAINED, rolls)
        prompt, planned = self._planned(request.messages)
        if rolls and len(planned.ids) >= room.positions:
            gone = left_out(request.messages, planned.ends, planned.pinned, room.context, room.positions)
            kept = _without(request.messages, gone)
            prompt, planned = self._planned(kept)
            room = Room(context, room.positions, rolls, gone)
        most = room.positions if rolls else context
        if len(planned.ids) >= most or planned.pinned >= context:
            size, limit = len(planned.ids), min(most, context)
            raise ContextFull(f"The conversation has {size:,} tokens and the context holds {limit:,}.")
        return prompt, planned, room

    def _planned(self, messages: tuple[Message, ...]) -> tuple[Prompt, Plan]:
        prompt = render(self.loaded.tokenizer, messages)
        return prompt, plan(self.loaded.tokenizer, messages, prompt, self.loaded.facts.fingerprint)

    def _adopt(self, policy: CachePolicy) -> None:
        """Use a cache of this policy; one of another policy holds rows that were seen otherwise."""
        if self.cache.policy != policy:
            self._bench.cache = self._new_cache(policy)
            mx.clear_cache()

    def _new_cache(self, policy: CachePolicy) -> PrefixCache:
        return PrefixCache(self.loaded.model, policy, self._kept_bytes)


def _without(messages: tuple[Message, ...], count: int) -> tuple[Message, ...]:
    """Return the messages without the first `count` that are not the system's."""
    system = tuple(message for message in messages if message.role == "system")
    others = tuple(message for message in messages if message.role != "system")
    return (*system, *others[count:])
