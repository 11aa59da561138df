"""Two hours' worth of chat in fast forward: does memory stay flat, the disk under its cap, and every reply as a cold one?

At least 300 turns over five chats in one session: next turns, edits, regenerates, cancels at random moments, long replies that
outgrow the trained length, windows that wrap, with everything saved to disk after each turn as an idle engine does. The memory
kept of other branches is capped low, so that eviction runs for most of the time. The figure is the process's footprint in
the last quarter of the turns against the second quarter (means): at most 1.05. On a sample of 20 turns the reply is written
again by a session that has seen nothing, and the tokens are compared.

    uv run python -m tests.benchmarks.soak [--quick] [--kind KIND | --starter] [--turns N] [--seed N]
"""

import gc
import random
import statistics
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.cache.disk import DiskCache
from engine.core.facts import Message
from engine.core.messages import Cancelled, Generate, TextDelta
from engine.core.settings import Sampling
from engine.hardware.meters import footprint_bytes
from engine.inference.blas import prefer_system_blas
from tests.benchmarks.timing import options, own_home, report

AT_MOST = 1.05
CHATS = 5
KEPT_BYTES, DISK_BYTES = 1 << 20, 3 << 20
STARTER_SCALE = 40
"""How much larger both caps are for the starter, whose rows are."""
CONTEXT, TRAINED = 192, 420
SYSTEMS = ("You are brief.", "You answer in verse, and you never say why you do it.")
WORDS = ("harbour", "orchard", "railway", "fox", "world", "capital", "France", "dog", "quick", "hello", "lazy", "over", "jumps")


@dataclass
class Chat:
    """A conversation: the system's message, then user and reply in turn."""

    name: str
    messages: list[Message] = field(default_factory=list)


class Soak:
    """Drives one session; `sample` turns are checked against cold ones."""

    def __init__(self, loaded: Any, folder: Path, seed: int, scale: int) -> None:
        self._loaded = loaded
        self._disk = DiskCache(folder, DISK_BYTES * scale)
        self._kept = KEPT_BYTES * scale
        self._session = session_of(loaded, self._kept, self._disk)
        self._random = random.Random(seed)
        self._chats = [Chat(f"chat {number}", [Message("system", SYSTEMS[number % 2])]) for number in range(CHATS)]
        self.counts: Counter[str] = Counter()
        self.footprints: list[int] = []
        self.differing: list[int] = []
        self.largest_disk = self.largest_kept = 0

    def run(self, turns: int, sample: int) -> None:
        """Take `turns` turns."""
        checked = set(self._random.sample(range(turns), min(sample, turns)))
        for number in range(turns):
            self._turn(number, number in checked)
            while self._session.cache.save():
                pass
            self.largest_disk = max(self.largest_disk, self._disk.use().size_bytes)
            self.largest_kept = max(self.largest_kept, self._session.cache.kept_bytes)
            self.footprints.append(footprint_bytes())

    def _turn(self, number: int, checked: bool) -> None:
        chat = self._random.choice(self._chats)
        self._next(chat)
        tokens = self._random.choice((4, 12, 24, 24, 160 if number % 5 == 0 else 24))
        request = Generate(
            f"turn {number}", "", tuple(chat.messages), Sampling(temperature=0.0, max_tokens=tokens), CONTEXT, chat_id=chat.name
        )
        stop_after = self._random.randrange(tokens + 3) if not checked and self._random.random() < 0.2 else None
        facts, text, cancelled = self._answer(self._session, request, stop_after)
        self.counts["cancelled"] += cancelled
        self.counts["rolled"] += facts.dropped_tokens > 0
        self.counts["left out"] += facts.dropped_messages > 0
        if text.strip():
            chat.messages.append(Message("assistant", text, facts.output_ids, facts.fingerprint))
        else:
            chat.messages.pop()
        if checked:
            self.counts["checked"] += 1
            cold, _, _ = self._answer(session_of(self._loaded, 0, None), replace(request, chat_id=""), None)
            if cold.output_ids != facts.output_ids:
                self.differing.append(number)

    def _next(self, chat: Chat) -> None:
        """Do what somebody does next: the conversation then ends with a user's message."""
        users = [index for index, message in enumerate(chat.messages) if message.role == "user"]
        action = self._random.choice(("next", "next", "next", "edit", "regenerate")) if users else "next"
        self.counts[action] += 1
        if action == "regenerate":
            del chat.messages[users[-1] + 1 :]
            return
        if action == "edit":
            del chat.messages[self._random.choice(users[-4:]) :]
        chat.messages.append(Message("user", " ".join(self._random.choices(WORDS, k=self._random.randint(1, 20)))))

    def _answer(self, session: Any, request: Generate, stop_after: int | None) -> tuple[Any, str, bool]:
        events: list[Any] = []
        for event in session.generate(request, lambda: stop_after is not None and len(events) >= stop_after):
            events.append(event)
        text = "".join(event.text for event in events if isinstance(event, TextDelta))
        return events[-1].reply, text, isinstance(events[-1], Cancelled)


def session_of(loaded: Any, kept_bytes: int, disk: DiskCache | None) -> Any:
    """A session; it brings MLX, before which the BLAS must be there."""
    from engine.session import Session

    return Session(loaded, kept_bytes, disk)


def loaded_model(root: Path, kind: str, starter: bool) -> Any:
    """The model to chat with; a tiny one was “trained” for few tokens, so that chats outgrow it."""
    from tests.models.loading import load_folder
    from tests.models.real import starter_folder
    from tests.models.tiny import tiny_model
    from tests.models.tiny_architectures import ARCHITECTURES

    loaded = load_folder(starter_folder(root)) if starter else load_folder(tiny_model(root / kind, ARCHITECTURES[kind]))
    return replace(loaded, facts=replace(loaded.facts, context=TRAINED))


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--turns", type=int, help="turns in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="sliding", help="growing, sliding, recurrent or chunked: a tiny random model")
    parser.add_argument("--starter", action="store_true", help="the starter instead of a tiny model")
    given = parser.parse_args()
    prefer_system_blas()
    turns = given.turns or (30 if given.quick else 320)
    with own_home(), tempfile.TemporaryDirectory() as folder:
        scale = STARTER_SCALE if given.starter else 1
        soak = Soak(loaded_model(Path(folder), given.kind, given.starter), Path(folder) / "prefix", given.seed, scale)
        soak.run(turns, 5 if given.quick else 20)
        gc.collect()
    quarter = turns // 4
    second, last = soak.footprints[quarter : 2 * quarter], soak.footprints[-quarter:]
    report(
        "soak",
        ratio=statistics.mean(last) / statistics.mean(second),
        at_most=AT_MOST,
        against="the footprint in the second quarter of the turns",
        turns=turns,
        model="SmolLM2" if given.starter else f"tiny {given.kind}",
        footprint={
            "first": soak.footprints[0],
            "second_quarter": statistics.mean(second),
            "last_quarter": statistics.mean(last),
        },
        disk={"largest": soak.largest_disk, "cap": DISK_BYTES * scale},
        kept={"largest": soak.largest_kept, "cap": KEPT_BYTES * scale},
        counts=dict(soak.counts),
        differing=soak.differing,
    )
    if soak.differing or soak.largest_disk > DISK_BYTES * scale or soak.largest_kept > KEPT_BYTES * scale:
        sys.exit("Error: a reply differs from a cold one, or a cap was passed.")


if __name__ == "__main__":
    main()
