"""Names for files of chats that every system takes, and names that are not taken yet."""

import re
import unicodedata
from collections.abc import Collection

MOST_BYTES = 180
"""Of a name without its ending, in UTF-8: file systems take 255, and a number may follow."""

# Compiled by `re` when it is first used: it takes a while.
_UNSAFE = r'[\x00-\x1f\x7f<>:"/\\|?*\u2028\u2029\u202a-\u202e\u2066-\u2069]+'


def safe_name(title: str, default: str = "Untitled chat") -> str:
    """Return a title as the name of a file, without an ending; `default` where nothing of it can stand in one."""
    name = " ".join(re.sub(_UNSAFE, " ", title).split()).strip(". ")
    name = name.encode("utf-8", "ignore")[:MOST_BYTES].decode("utf-8", "ignore")
    while name and unicodedata.category(name[-1]) in ("Cn", "Cf", "Zs"):
        name = name[:-1]  # Half an emoji, or the blank where it was cut.
    return name.rstrip(". ") or default


def free_name(name: str, ending: str, taken: Collection[str]) -> str:
    """Return "name.ending" or, where that is taken, "name 2.ending"; compare with `as_taken`."""
    number = 1
    while as_taken(found := f"{name}{f' {number}' if number > 1 else ''}{ending}") in taken:
        number += 1
    return found


def as_taken(name: str) -> str:
    """Return a file's name as a Mac's file system compares it: case and composition do not count."""
    return unicodedata.normalize("NFC", name).casefold()
