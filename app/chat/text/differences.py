"""What two versions of a block share, so that only the rest is changed on screen."""

from collections.abc import Sequence
from dataclasses import replace

from app.chat.text.blocks import Code, Mark, Run, TableRows


def continues(old: Code, new: Code) -> bool:
    """Return whether code only got longer."""
    return old.language == new.language and new.text.startswith(old.text) and new.closed >= old.closed


def is_same_table(old: TableRows, new: TableRows) -> bool:
    """Return whether rows only changed their content, and none is gone."""
    return replace(old, rows=()) == replace(new, rows=()) and len(new.rows) >= len(old.rows)


def shared(old: Sequence[Run], new: Sequence[Run]) -> tuple[int, list[Run]]:
    """Return how many UTF-16 units two rows of runs share from the start, and the new runs after them."""
    kept = 0
    for index, run in enumerate(new):
        before = old[index] if index < len(old) else None
        math = Mark.MATH in run.marks
        if run == before:
            kept += 1 if math else _units(run.text)
            continue
        if before is None or math or (before.marks, before.href) != (run.marks, run.href):
            return kept, list(new[index:])
        same = _common_length(before.text, run.text)
        return kept + _units(run.text[:same]), [replace(run, text=run.text[same:]), *new[index + 1 :]]
    return kept, []


def _common_length(one: str, other: str) -> int:
    if other.startswith(one):
        return len(one)
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
