"""Which places of a chat were found, and which of them is the current one."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from app.chat.conversation.needle import Span
from engine.core.record import Record


class Places(Record):
    """Where a message has the words: first in what was thought, then in the answer."""

    thought: Sequence[Span] = ()
    answer: Sequence[Span] = ()

    def __len__(self) -> int:
        return len(self.thought) + len(self.answer)


class Found:
    """Matches by the message's place in the list. The current one is `(index, number)`, the number within the message."""

    def __init__(self, messages: int) -> None:
        self._places: list[Places] = [Places()] * messages
        self._ends: list[int] | None = None
        self.current: tuple[int, int] | None = None

    @property
    def total(self) -> int:
        """How many there are."""
        ends = self._counted()
        return ends[-1] if ends else 0

    @property
    def rank(self) -> int | None:
        """Which of all matches the current one is, from 1 on."""
        if self.current is None:
            return None
        index, number = self.current
        return self._counted()[index] - len(self._places[index]) + number + 1

    def __getitem__(self, index: int) -> Places:
        return self._places[index] if index < len(self._places) else Places()

    def put(self, index: int, places: Places) -> None:
        """Keep a message's matches; the current one stays as near as it can where it was among them."""
        while index >= len(self._places):
            self._places.append(Places())
        self._places[index] = places
        self._ends = None
        if self.current is not None and self.current[0] == index and self.current[1] >= len(places):
            self.current = (index, len(places) - 1) if len(places) else None

    def step(self, by: int) -> None:
        """Make the next match (`by` 1) or the one before it (-1) the current one; after the last comes the first."""
        rank = self.rank
        if self.total and rank is not None:
            self.current = self._at((rank - 1 + by) % self.total)

    def choose_from(self, index: int, number: int = 0) -> None:
        """Make the first match from a place on the current one, the very first where there is none."""
        if not self.total:
            self.current = None
            return
        before = self._counted()[index] - len(self._places[index]) + number if index < len(self._places) else self.total
        self.current = self._at(before if before < self.total else 0)

    def _at(self, rank: int) -> tuple[int, int]:
        ends = self._counted()
        index = bisect_right(ends, rank)
        return index, rank - (ends[index] - len(self._places[index]))

    def _counted(self) -> list[int]:
        if self._ends is None:
            self._ends = list(accumulate(len(places) for places in self._places))
        return self._ends
