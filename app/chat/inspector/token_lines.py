"""Breaking a section's tokens into lines, a stretch at a time: a hundred thousand take longer than a frame."""

import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence

APART = 2
_LOOK_EVERY = 512


class TokenLines:
    """The lines of the tokens from `start` to `stop`; `width_of` gives the width in pixels of an id's chip."""

    def __init__(self, ids: Sequence[int], start: int, stop: int, width_of: Callable[[int], int]) -> None:
        self._ids, self.start, self.stop = ids, start, stop
        self._width_of = width_of
        self._starts = array("I")
        self._next, self._x = start, 0
        self._room = 0

    @property
    def count(self) -> int:
        """Lines found so far."""
        return len(self._starts)

    @property
    def done(self) -> bool:
        """Whether every token stands in a line."""
        return self._next >= self.stop

    def restart(self, room: int) -> None:
        """Begin anew, for lines of `room` pixels."""
        del self._starts[:]
        self._next, self._x, self._room = self.start, 0, room

    def lay(self, until: float, most: int | None = None) -> bool:
        """Find lines until the clock (`time.perf_counter`) says `until`, or there are `most`; return whether all are found."""
        while self._next < self.stop:
            stop = min(self.stop, self._next + _LOOK_EVERY)
            if not self._lay_to(stop, most):
                return False
            if time.perf_counter() >= until:
                break
        return self.done

    def _lay_to(self, stop: int, most: int | None) -> bool:
        ids, width_of, room, x = self._ids, self._width_of, self._room, self._x
        for index in range(self._next, stop):
            width = width_of(ids[index])
            if not self._starts or x + width > room:
                if most is not None and len(self._starts) >= most:
                    self._next, self._x = index, room
                    return False
                self._starts.append(index)
                x = 0
            x += width + APART
        self._next, self._x = stop, x
        return True

    def line(self, number: int) -> range:
        """Return the tokens of a line."""
        following = self._starts[number + 1] if number + 1 < len(self._starts) else self._next
        return range(self._starts[number], following)

    def line_of(self, index: int) -> int:
        """Return the line a token stands in; -1 where it stands in none yet."""
        return bisect_right(self._starts, index) - 1 if self.start <= index < self._next else -1

    @property
    def reached(self) -> int:
        """The first token that stands in no line yet."""
        return self._next

    def left_of(self, index: int) -> int:
        """Return how many pixels from the line's beginning a token stands."""
        begin = self._starts[self.line_of(index)]
        return sum(self._width_of(self._ids[other]) + APART for other in range(begin, index))
