"""In which forwards a path's tokens were computed. Their rows depend on it in the last bits: a matrix product of other height
adds in another order.

Runs of (length of a forward in tokens, tokens that were computed in such forwards), one after the other. Of a run's last
forward only the first tokens may be meant: the others were taken back. A length of 0 says that it is not known.
"""

from collections.abc import Iterable, Iterator, Sequence

type Run = tuple[int, int]
type Forward = tuple[int, int, int]
"""Where a forward began, its length, and how many of its tokens are meant."""

UNKNOWN = 0


def add(runs: list[Run], length: int, count: int) -> None:
    """Put `count` tokens that were computed in forwards of `length` behind a list of runs."""
    if not count:
        return
    if runs and runs[-1][0] == length and (length == UNKNOWN or runs[-1][1] % length == 0):
        runs[-1] = (length, runs[-1][1] + count)
    else:
        runs.append((length, count))


def joined(parts: Iterable[Iterable[Run]]) -> list[Run]:
    """Return runs one after the other."""
    found: list[Run] = []
    for part in parts:
        for length, count in part:
            add(found, length, count)
    return found


def first(runs: Iterable[Run], tokens: int) -> list[Run]:
    """Return the runs of the first `tokens` tokens; what is missing of them is not known."""
    found: list[Run] = []
    left = tokens
    for length, count in runs:
        add(found, length, min(count, left))
        left -= min(count, left)
    add(found, UNKNOWN, left)
    return found


def after(runs: Iterable[Run], tokens: int) -> list[Run]:
    """Return the runs behind the first `tokens` tokens; of a forward that began before them the rest is not known."""
    found: list[Run] = []
    before = tokens
    for length, count in runs:  # A run at a time: one may stand for a reply of thousands of forwards.
        gone = min(before, count)
        cut = min(-gone % length if length else count - gone, count - gone)
        add(found, UNKNOWN, cut)
        add(found, length, count - gone - cut)
        before -= gone
    return found


def forwards(runs: Iterable[Run]) -> Iterator[Forward]:
    """Yield every forward; one that is not known stands for a whole run."""
    start = 0
    for length, count in runs:
        end = start + count
        while start < end:
            kept = min(length, end - start) if length else end - start
            yield start, length, kept
            start += kept


def agreeing(one: Iterable[Run], other: Iterable[Run]) -> int:
    """Return of how many leading tokens it is known that they were computed in the same forwards."""
    position = 0
    for (start, length, kept), (other_start, other_length, other_kept) in zip(forwards(one), forwards(other), strict=False):
        if length == UNKNOWN or (start, length) != (other_start, other_length):
            break
        position = start + min(kept, other_kept)
        if kept != other_kept:
            break
    return position


def begins_inside(runs: Iterable[Run], position: int) -> int | None:
    """Return where the forward began in the middle of which `position` is; None where it is at the edge of one."""
    for start, _, kept in forwards(runs):
        if start < position < start + kept:
            return start
    return None


def read(raw: object, tokens: int) -> list[Run]:
    """Return the runs that a file told of its `tokens` tokens, all of them not known where it makes no sense."""
    found: Sequence[object] = raw if isinstance(raw, list) else ()
    runs: list[Run] = []
    for item in found:
        if not (isinstance(item, list) and len(item) == 2 and all(type(each) is int and each >= 0 for each in item)):
            return first((), tokens)
        add(runs, item[0], item[1])
    return first(runs, tokens)
