"""Tokens as the inspector shows them: what each looks like, the sections they stand in, and what their ground says."""

from collections.abc import Mapping, Sequence
from math import log

from engine.core.messages import PromptInspected
from engine.core.odds import PART, TokenOdds
from engine.core.record import Record

CACHED, READ, SHADES = 0, 1, 2
"""Grounds of a token: it was cached, it was read; from `SHADES` on, how unlikely it was, in four steps."""
GROUNDS = ("selected", "accent-soft", "", "p2", "p3", "p4")
"""The colour role of each ground; the likeliest tokens have none."""

_LIMITS = (log(0.6), log(0.3), log(0.1))
_TITLES = {"system": "System", "user": "You", "assistant": "Assistant", "template": "Added by the template"}
_MARKS = {" ": "·", "\n": "↵", "\t": "⇥", "\r": "␍"}

type Run = tuple[str, bool]
"""A piece of a token's text, and whether it stands for something that can't be seen."""


class Face(Record):
    """What one token of the vocabulary looks like; `bytes_hex` may be empty where nobody said."""

    text: str
    bytes_hex: str = ""
    special: bool = False


class Section(Record):
    """The tokens up to `stop` that belong together, under a title with a note at its right."""

    title: str
    stop: int
    note: str = ""


class TokenSheet(Record):
    """`ids` in order, with a ground (an index into `GROUNDS`) for each; those in `gone` are struck through."""

    ids: Sequence[int]
    faces: Mapping[int, Face]
    sections: Sequence[Section]
    grounds: bytes
    gone: range = range(0)

    @property
    def tokens(self) -> tuple[object, ...]:
        """What the tokens are and how they are parted: all that their places depend on."""
        return self.ids, self.faces, [section.stop for section in self.sections]

    def section_of(self, index: int) -> int:
        """Return the number of the section a token stands in."""
        return next(number for number, section in enumerate(self.sections) if index < section.stop)


def runs(face: Face) -> list[Run]:
    """Return a token's text with signs for white space and control characters, or its bytes where it is no whole text."""
    if not face.text:
        return [(" ".join(face.bytes_hex[at : at + 2] for at in range(0, len(face.bytes_hex), 2)) or "∅", True)]
    found: list[Run] = []
    for letter in face.text:
        sign = _MARKS.get(letter) or ("" if letter.isprintable() or face.special else f"U+{ord(letter):04X}")
        piece = (sign or letter, bool(sign))
        if found and found[-1][1] == piece[1]:
            found[-1] = (found[-1][0] + piece[0], piece[1])
        else:
            found.append(piece)
    return found


def shown(face: Face) -> str:
    """Return the same in one piece."""
    return "".join(text for text, _ in runs(face))


def faces_of(prompt: PromptInspected) -> Mapping[int, Face]:
    """Return what each token of a prompt looks like."""
    told = zip(prompt.known_ids, prompt.texts, prompt.bytes_hex, prompt.special, strict=True)
    return {index: Face(text, hexed, special) for index, text, hexed, special in told}


def prompt_sheet(
    prompt: PromptInspected, faces: Mapping[int, Face], cached: int, read: str, gone: range = range(0)
) -> TokenSheet:
    """Return a prompt's sheet, its first `cached` tokens as cached; `read` says what the others are, as "read now".

    The tokens in `gone` left the context since. `faces` are those of `faces_of`.
    """
    total = len(prompt.ids)
    cached = min(cached, total)
    sections, start = [], 0
    for role, stop in zip(prompt.section_roles, prompt.section_ends, strict=True):
        if stop > start:
            known = min(stop, cached) - min(start, cached)
            counts = ((known, "cached"), (stop - start - known, read))
            note = ", ".join(f"{count:,} {word}" for count, word in counts if count)
            left = len(range(max(start, gone.start), min(stop, gone.stop)))
            note += f", {'all' if left == stop - start else f'{left:,}'} left" if left else ""
            sections.append(Section(_TITLES.get(role, role), stop, note))
            start = stop
    return TokenSheet(prompt.ids, faces, sections, bytes([CACHED]) * cached + bytes([READ]) * (total - cached), gone)


def face_of(text: str) -> Face:
    """Return the face of a token from what `TokenOdds` says of it."""
    return Face("", text.removeprefix(PART)) if text.startswith(PART) else Face(text)


def odds_sheet(odds: TokenOdds) -> TokenSheet:
    """Return a reply's sheet, shaded by how unlikely its tokens were."""
    faces = {index: face_of(text) for index, text in zip(odds.known_ids, odds.texts, strict=True)}
    grounds = bytes(SHADES + shade(logprob) for logprob in odds.logprobs)
    return TokenSheet(odds.ids, faces, [Section("Reply", len(odds.ids))], grounds)


def shade(logprob: float) -> int:
    """Return how strongly a token is shaded, from 0 (its probability was .6 or more) to 3 (it was under .1)."""
    return sum(logprob < limit for limit in _LIMITS)
