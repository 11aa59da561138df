"""What the command palette offers, and how typed words find it."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence

from engine.core.record import Record

MOST_SHOWN = 100


class Item(Record):
    """One thing to choose: what it is called, what kind it is, the keys that do the same, and the doing."""

    title: str
    kind: str
    keys: str
    work: Callable[[], object]


def matching(items: Iterable[Item], query: str, most: int = MOST_SHOWN) -> Sequence[Item]:
    """Return the items whose title has every word of `query`, the best first, at most `most`; without words, the first ones.

    Case and accents do not count. A title that begins with the words comes before one with a word that does, and that before
    one with the words anywhere inside; of equals, the order given stays.
    """
    words = folded(query).split()
    ranked = ((_rank(folded(item.title), words), place, item) for place, item in enumerate(items))
    found = sorted((rank, place, item) for rank, place, item in ranked if rank is not None) if words else ranked
    return [item for _, (_, _, item) in zip(range(most), found, strict=False)]


def folded(text: str) -> str:
    """Return text in small letters without accents."""
    return "".join(char for char in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(char))


def _rank(title: str, words: Sequence[str]) -> int | None:
    """Return how well a title fits, 0 the best; None where a word is missing."""
    worst = 0
    for word in words:
        if title.startswith(word):
            fit = 0
        elif f" {word}" in title:
            fit = 1
        elif word in title:
            fit = 2
        else:
            return None
        worst = max(worst, fit)
    return worst
