"""A short piece of a text around what was found in it, on one line, with the matches marked."""

import collections
import itertools
import re
from collections.abc import Iterable, Sequence

from engine.chats.folding import fold_with_origins

SNIPPET_CHARACTERS = 160
_BEFORE_CHARACTERS = 40
_MATCHES = 64
_SPACE = re.compile(r"\s+")

type Span = tuple[int, int]


def make_snippet(text: str, needles: Sequence[re.Pattern[str]]) -> tuple[str, tuple[Span, ...]]:
    """Return about 160 characters of `text` around the first place where most needles meet, and the matches' spans in it.

    Needles are patterns for folded text. White space is one blank; “…” stands where something was cut.
    """
    matches = _matches(text, needles)
    start, end = _window(text, matches)
    spans = _merged((max(a, start), min(b, end)) for a, b, _ in matches if a < end and b > start)
    return _on_one_line(text, start, end, spans)


def _matches(text: str, needles: Sequence[re.Pattern[str]]) -> list[tuple[int, int, int]]:
    folded = fold_with_origins(text)
    found = []
    for number, needle in enumerate(needles):
        for match in itertools.islice(needle.finditer(folded.text), _MATCHES):
            if match.end() > match.start():
                found.append((*folded.original_span(*match.span()), number))
    return sorted(found)


def _window(text: str, matches: Sequence[tuple[int, int, int]]) -> Span:
    """Choose the piece to show: it begins a little before the match from which most different needles are within reach."""
    if len(text) <= SNIPPET_CHARACTERS:
        return 0, len(text)
    best, best_count, ahead = 0, 0, 0
    near: collections.Counter[int] = collections.Counter()
    for start, _, number in matches:
        while ahead < len(matches) and matches[ahead][1] <= start + SNIPPET_CHARACTERS - _BEFORE_CHARACTERS:
            near[matches[ahead][2]] += 1
            ahead += 1
        distinct = sum(count > 0 for count in near.values())
        if distinct > best_count:
            best, best_count = start, distinct
        near[number] -= 1
    start = max(0, min(best - _BEFORE_CHARACTERS, len(text) - SNIPPET_CHARACTERS))
    end = min(len(text), start + SNIPPET_CHARACTERS)
    return _to_word(text, start, best), end if end == len(text) else _back_to_word(text, end)


def _to_word(text: str, start: int, match: int) -> int:
    if start == 0:
        return 0
    space = _SPACE.search(text, start, match)
    return space.end() if space and space.end() <= match else start


def _back_to_word(text: str, end: int) -> int:
    space = max(text.rfind(" ", end - 20, end), text.rfind("\n", end - 20, end))
    return space if space > 0 else end


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _on_one_line(text: str, start: int, end: int, spans: Sequence[Span]) -> tuple[str, tuple[Span, ...]]:
    line: list[str] = ["…"] if start > 0 else []
    places: list[int] = []  # where each original character of the piece went
    for character in text[start:end]:
        places.append(len(line))
        if not character.isspace():
            line.append(character)
        elif line and line[-1] != " ":
            line.append(" ")
    places.append(len(line))
    if end < len(text):
        line.append("…")
    return "".join(line).rstrip(), tuple((places[a - start], places[b - start]) for a, b in spans)
