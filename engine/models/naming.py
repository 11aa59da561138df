"""What a model may be called: one rule for whoever renames, copies or imports one."""

import itertools
from collections.abc import Iterable

from engine.core.errors import UsageError
from engine.core.facts import ModelEntry

LONGEST_NAME = 120


def plain_name(name: str) -> str:
    """Return a name with single spaces, "" for none. Raises `UsageError` for one that is too long or would not show."""
    plain = " ".join(name.split())
    if not plain.isprintable():
        raise UsageError("A name has no control characters.", "Leave escape codes and the like out.")
    if len(plain) > LONGEST_NAME:
        raise UsageError(f"A name has at most {LONGEST_NAME} characters.", "Choose a shorter name.")
    return plain


def free_name(name: str, entries: Iterable[ModelEntry], but: str = "") -> str:
    """Return a name as `plain_name` does. Raises `UsageError` too where another model than the one with the id `but` has it."""
    plain = plain_name(name)
    other = _holder(plain, [entry for entry in entries if entry.id != but])
    if other is not None:
        raise UsageError(f"Another model is called “{other.name}”.", "Choose another name.")
    return plain


def new_name(asked: str, own: str, entries: Iterable[ModelEntry]) -> str:
    """Return what a new model is called: what was asked for, as `free_name` does, else its own name.

    Where another model has that, it is the first of “own 2”, “own 3”, … that none has.
    """
    known = list(entries)
    names = itertools.chain([own], (f"{own} {number}" for number in itertools.count(2)))
    return free_name(asked, known) or next(each for each in names if _holder(each, known) is None)


def _holder(name: str, entries: Iterable[ModelEntry]) -> ModelEntry | None:
    folded = name.casefold()
    return next((each for each in entries if folded and folded in (each.id.casefold(), each.name.casefold())), None)
