"""Whom `prefix_reuse` asks: a session with a real model, or a prefix cache with a tiny one; and mlx-lm's cache beside it."""

import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.cache.disk import DiskCache
from engine.cache.policy import CachePolicy
from engine.cache.prefix import PrefixCache
from engine.cache.shelf import Shelf
from engine.core.facts import Message
from engine.core.messages import Generate
from engine.core.settings import Sampling
from engine.session import KEPT_BYTES, Session
from tests.benchmarks.prefill_rate import text

DISK_BYTES = 4 << 30
REPLY = 64
CLOSE = 1e-3


@dataclass(frozen=True)
class Cell:
    """Tokens read, never seen, and read by mlx-lm; whether all that came out was as in a cold run."""

    read: int
    unseen: int
    theirs: int
    as_cold: bool

    def __add__(self, other: "Cell") -> "Cell":
        return Cell(
            self.read + other.read, self.unseen + other.unseen, self.theirs + other.theirs, self.as_cold and other.as_cold
        )


class Seen:
    """Every sequence of tokens that was computed."""

    def __init__(self) -> None:
        self._sequences: list[tuple[int, ...]] = []

    def add(self, ids: Sequence[int]) -> None:
        self._sequences.append(tuple(ids))

    def unseen(self, ids: Sequence[int]) -> int:
        """How many of `ids` were never seen, the last one in any case."""
        return len(ids) - max((_shared(ids[:-1], known) for known in self._sequences), default=0)


class MlxLm:
    """mlx-lm's LRUPromptCache with its default size, filled as its server does: after the system prompt and after the reply.

    `forward` runs ids through a model into a cache of mlx-lm's; where only lengths matter it may store empty rows.
    """

    def __init__(self, make: Callable[[], list[Any]], forward: Callable[[list[Any], Sequence[int]], None]) -> None:
        from mlx_lm.models.cache import LRUPromptCache

        self._kept = LRUPromptCache()
        self._make = make
        self._forward = forward

    def read(self, ids: Sequence[int], system: int, written: Sequence[int]) -> int:
        """Answer a prompt with `written`; return how many tokens of it had to be read."""
        cache, rest = self._kept.fetch_nearest_cache("model", list(ids))
        cache = cache or self._make()
        known = len(ids) - len(rest)
        if known < system < len(ids):
            self._forward(cache, ids[known:system])
            self._kept.insert_cache("model", list(ids[:system]), copy.deepcopy(cache), cache_type="system")
        held = [*ids, *written[:-1]]
        self._forward(cache, held[max(known, system if known < system else known) :])
        self._kept.insert_cache("model", held, cache)
        return max(1, len(rest))


class Subject:
    """What both kinds share: `ask` and `measure` answer a conversation, a list of messages of the subject's own kind."""

    def __init__(self) -> None:
        self.seen = Seen()
        self.theirs: MlxLm
        self.longest = self.most_kept = 0

    def note(self, prompt: int, kept: int) -> None:
        """Note the size of a prompt and the bytes kept after it."""
        self.longest, self.most_kept = max(self.longest, prompt), max(self.most_kept, kept)

    def system(self) -> Any:
        raise NotImplementedError

    def turn(self, number: int) -> Any:
        raise NotImplementedError

    def ask(self, messages: list[Any]) -> Any:
        """Answer; return the reply, to be appended."""
        return self.measure(messages)[0]

    def measure(self, messages: list[Any]) -> tuple[Any, Cell]:
        """Answer; return the reply and what it took."""
        raise NotImplementedError

    def restart(self) -> None:
        """Save what there is, and go on as another process would."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """About the subject, for the printed line."""
        raise NotImplementedError


class RealSubject(Subject):
    """A session with a real model in float32."""

    def __init__(self, folder: Path, disk: Path, context: int | None, words: int) -> None:
        import mlx.core as mx
        from mlx.utils import tree_flatten

        from tests.models.loading import load_folder

        super().__init__()
        self._loaded = load_folder(folder, "dense")
        if any(value.dtype != mx.float32 for _, value in tree_flatten(self._loaded.model.parameters())):
            self._loaded.model.set_dtype(mx.float32)
            mx.eval(self._loaded.model.parameters())
        self._disk, self._context, self._words = disk, context, words
        self._session = self._new_session()
        self._restart_mlx_lm()

    @classmethod
    def starter(cls, root: Path, context: int | None, words: int) -> "RealSubject":
        """SmolLM2 135M Instruct."""
        from tests.models.real import starter_folder

        return cls(starter_folder(root), root / f"disk {context}", context, words)

    @classmethod
    def gemma3(cls, root: Path, words: int) -> "RealSubject":
        """Gemma 3 270M with a plain chat template. Its sliding layers see 512 tokens."""
        from tests.models.real import gemma3_folder

        return cls(gemma3_folder(root), root / "disk gemma3", None, words)

    def system(self) -> Message:
        return Message("system", "You are a helpful assistant who knows the harbours of the north and answers in a few words.")

    def turn(self, number: int) -> Message:
        return Message("user", text(number, self._words))

    def measure(self, messages: list[Any]) -> tuple[Message, Cell]:
        planned = self._session._planned(tuple(messages))[1]
        unseen = self.seen.unseen(planned.ids)
        facts, reply = self._answer(self._session, messages)
        self.note(facts.prompt_tokens, self._session.cache.kept_bytes)
        self.seen.add(self._session.cache.tokens)  # The last token of a reply that reached its limit was never computed.
        theirs = self.theirs.read(planned.ids, planned.pinned, facts.output_ids)
        cold, _ = self._answer(Session(self._loaded, kept_bytes=0), messages)
        return reply, Cell(facts.prompt_tokens - facts.cached_tokens, unseen, theirs, facts.output_ids == cold.output_ids)

    def restart(self) -> None:
        while self._session.cache.save():
            pass
        self._session = self._new_session()
        self._restart_mlx_lm()

    def facts(self) -> dict[str, Any]:
        from engine.cache.layers import single

        windows = {getattr(layer, "window", None) for layer in single(self._session.cache.layers)}
        return {
            "context": self._session.context_limit(self._context),
            "windows": sorted(window for window in windows if window),
            "longest_prompt": self.longest,
            "most_kept_bytes": self.most_kept,
            "cap": KEPT_BYTES,
        }

    def _new_session(self) -> Session:
        return Session(self._loaded, disk=DiskCache(self._disk, DISK_BYTES))

    def _answer(self, session: Session, messages: list[Any]) -> tuple[Any, Message]:
        request = Generate("reply", "", tuple(messages), Sampling(temperature=0.0, max_tokens=REPLY), self._context)
        events = list(session.generate(request))
        words = "".join(event.text for event in events if hasattr(event, "text"))
        facts = events[-1].reply  # type: ignore[union-attr]
        return facts, Message("assistant", words, facts.output_ids, facts.fingerprint)

    def _restart_mlx_lm(self) -> None:
        import mlx.core as mx
        from mlx_lm.models.cache import RotatingKVCache, make_prompt_cache

        def make() -> list[Any]:
            made = make_prompt_cache(self._loaded.model)  # This model's own `make_cache` would ignore `max_kv_size`.
            return made if self._context is None else [RotatingKVCache(max_size=self._context, keep=4) for _ in made]

        def store(cache: list[Any], ids: Sequence[int]) -> None:
            for start in range(0, len(ids), 512):
                rows = mx.zeros((1, 1, len(ids[start : start + 512]), 1))
                for layer in cache:
                    layer.update_and_fetch(rows, rows)

        self.theirs = MlxLm(make, store)


class TinySubject(Subject):
    """A prefix cache with a tiny random model; a message is a list of token ids."""

    SYSTEM, TURN, ANSWER, CHUNK = 40, 60, 48, 64

    def __init__(self, kind: str, disk: Path) -> None:
        from tests.models.tiny_kinds import tiny

        super().__init__()
        self._kind, self._model, self._disk = kind, tiny(kind), disk
        self._random = random.Random(kind)
        self._policy = CachePolicy()
        self._cache = self._new_cache()
        self._furthest = 0.0
        self._restart_mlx_lm()

    def system(self) -> list[int]:
        return self._tokens(self.SYSTEM)

    def turn(self, number: int) -> list[int]:
        return self._tokens(self.TURN)

    def measure(self, messages: list[Any]) -> tuple[list[int], Cell]:
        ids = [token for message in messages for token in message]
        unseen = self.seen.unseen(ids)
        known = self._cache.reuse(ids, self.SYSTEM)
        logits = self._read(self._cache, ids[known:], (self.SYSTEM, len(ids) - self.TURN, len(ids) - 1))
        written = self._tokens(self.ANSWER)
        after = self._write(self._cache, written)
        self.seen.add(self._cache.tokens)
        self.note(len(ids), self._cache.kept_bytes)
        theirs = self.theirs.read(ids, self.SYSTEM, written)
        cold = PrefixCache(self._model, self._policy)
        cold.reuse(ids, self.SYSTEM)
        apart = max(_apart(logits, self._read(cold, ids, ())), _apart(after, self._write(cold, written)))
        self._furthest = max(self._furthest, apart)
        return written, Cell(len(ids) - known, unseen, theirs, apart <= CLOSE)

    def restart(self) -> None:
        while self._cache.save():
            pass
        self._cache = self._new_cache()
        self._restart_mlx_lm()

    def facts(self) -> dict[str, Any]:
        return {
            "longest_prompt": self.longest,
            "furthest_logit": self._furthest,
            "most_kept_bytes": self.most_kept,
            "cap": KEPT_BYTES,
        }

    def _tokens(self, count: int) -> list[int]:
        from tests.models.tiny_kinds import VOCABULARY

        return [self._random.randrange(VOCABULARY) for _ in range(count)]

    def _new_cache(self) -> PrefixCache:
        cache = PrefixCache(self._model, self._policy, KEPT_BYTES)
        cache.attach(Shelf(DiskCache(self._disk, DISK_BYTES), {"kind": self._kind}))
        return cache

    def _read(self, cache: PrefixCache, ids: Sequence[int], marks: Sequence[int]) -> Any:
        """Read all of `ids` as the engine does; return the logits after the last."""
        from engine.inference.prefill import ChunkSize, prefill

        for _ in prefill(self._model, cache, ids, ChunkSize(self.CHUNK), marks):
            pass
        return self._write(cache, ids[-1:])

    def _write(self, cache: PrefixCache, ids: Sequence[int]) -> Any:
        """Read `ids` one by one; return the logits after the last."""
        import mlx.core as mx

        for token in ids:
            cache.before(1)
            logits = self._model(mx.array([[token]]), cache=cache.layers)[0, -1]
            mx.eval(logits, [layer.state for layer in cache.layers])
            cache.extend([token])
        return logits

    def _restart_mlx_lm(self) -> None:
        import mlx.core as mx
        from mlx_lm.models.cache import make_prompt_cache

        def forward(cache: list[Any], ids: Sequence[int]) -> None:
            if ids:
                self._model(mx.array([list(ids)]), cache=cache)
                mx.eval([layer.state for layer in cache])

        self.theirs = MlxLm(lambda: make_prompt_cache(self._model), forward)


def _apart(one: Any, other: Any) -> float:
    return float(abs(one - other).max())


def _shared(left: Sequence[int], right: Sequence[int]) -> int:
    pairs = zip(left, right, strict=False)
    return next((index for index, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right)))
