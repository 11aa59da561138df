"""What is looked for in a chat, and where it is in a text."""

import re
from bisect import bisect_left

from engine.chats.folding import fold, fold_with_origins

_SEPARATORS = str.maketrans({"\u2029": "\n", "\ufdd0": "\n", "\ufdd1": "\n", "\u2028": "\t"})
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")

type Span = tuple[int, int]


def as_searched(raw: str) -> str:
    """Return a document's raw text, place by place, with line breaks where its blocks end."""
    return raw.translate(_SEPARATORS)


class Needle:
    """Words to look for. Case, accents and width count only where `match_case`; any white space is as good as another."""

    def __init__(self, words: str, *, match_case: bool) -> None:
        folded = "" if match_case else fold(words)
        # Words that fold to nothing, as a lone accent, are looked for as they are.
        self._folds = bool(folded.strip())
        parts = re.split(r"\s+", folded if self._folds else words)
        self._pattern = re.compile(r"[ \t\xa0]+".join(re.escape(part) for part in parts)) if words.strip() else None

    def __bool__(self) -> bool:
        return self._pattern is not None

    def spans(self, text: str) -> list[Span]:
        """Return where the words stand in `text`, as (start, end) in UTF-16 units, as Qt counts."""
        if self._pattern is None:
            return []
        if not self._folds:
            found = [match.span() for match in self._pattern.finditer(text)]
        elif text.isascii():
            found = [match.span() for match in self._pattern.finditer(text.lower())]
        elif not self._pattern.search(fold(text)):
            return []
        else:
            folded = fold_with_origins(text)
            found = [folded.original_span(*match.span()) for match in self._pattern.finditer(folded.text)]
        return _in_units(text, found)


def _in_units(text: str, spans: list[Span]) -> list[Span]:
    astral = [match.start() for match in _ASTRAL.finditer(text)] if spans and not text.isascii() else []
    if not astral:
        return spans
    return [(start + bisect_left(astral, start), end + bisect_left(astral, end)) for start, end in spans]
