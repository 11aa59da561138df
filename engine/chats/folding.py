"""Text as a search sees it: case, diacritics and width ignored; scripts without spaces split into characters."""

import bisect
import functools
import itertools
import re
import unicodedata

from engine.core.record import Record

# Marks that are ignored: combining diacritics, Hebrew and Arabic vowel points, joiners and variation selectors. Vowel signs
# of Indic scripts and the kana voicing marks are not among them: they make other words.
_IGNORED = (
    "\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200d\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff"
)
# What joins the character before it: the above, kana voicing marks, and the later parts of a Hangul syllable.
_JOINING = _IGNORED + "\u3099\u309a\u1160-\u11ff"

# Letters that fold to their lower case wherever no mark follows: runs of them are folded at once, which a text in such a script
# is searched ten times as fast by. (Hebrew, Arabic, Cyrillic, Thai, kana, Han, Hangul.)
_PLAIN = (
    "\u0410-\u0418\u041a-\u0438\u043a-\u044f\u05d0-\u05ea\u0627-\u063a\u0641-\u064a\u0e01-\u0e30\u3041-\u3094\u30a1-\u30fa"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
)

# Letters whose stroke or ligature Unicode does not take apart.
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "’": "'", "‘": "'"})

# Written without spaces (Thai, Lao, Myanmar, Khmer, kana, Han) or with particles joined on (Hangul): every character is a word
# of its own, and a run of them a phrase. So are the symbols of “C++”, “C#” and “$HOME”.
_SINGLES = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30ff\u3100-\u312f\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af#+$"
)


class Folded(Record):
    """Folded text that remembers where it came from, in pieces.

    The piece at `starts[i]` of `text` came from `origins[i]` of the original: character by character where `even[i]`, else as
    one indivisible cluster.
    """

    text: str
    starts: tuple[int, ...]
    origins: tuple[int, ...]
    even: tuple[bool, ...]
    original_length: int

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the whole original characters behind the non-empty `text[start:end]`."""
        first, last = self._piece(start), self._piece(end - 1)
        a = self.origins[first] + (start - self.starts[first] if self.even[first] else 0)
        b = self.origins[last] + end - self.starts[last] if self.even[last] else self._end(last)
        return a, b

    def _piece(self, position: int) -> int:
        return bisect.bisect_right(self.starts, position) - 1

    def _end(self, index: int) -> int:
        return self.original_length if index + 1 == len(self.origins) else self.origins[index + 1]


@functools.cache
def single() -> re.Pattern[str]:
    """Return the pattern of a character that is a word of its own. Compiled on first use, as those below: it takes a while."""
    return re.compile(f"[{_SINGLES}]")


@functools.cache
def _ignored_mark() -> re.Pattern[str]:
    return re.compile(f"[{_IGNORED}]+")


@functools.cache
def _cluster() -> re.Pattern[str]:
    return re.compile(f"[\x00-\x7f{_PLAIN}][{_JOINING}]+|[^\x00-\x7f{_PLAIN}][{_JOINING}]*")


def fold(text: str) -> str:
    """Return `text` for comparing: lower case, without diacritics, in compatibility form."""
    if text.isascii():
        return text.lower()
    return "".join(piece for piece, _, _ in _pieces(text))


def fold_with_origins(text: str) -> Folded:
    """Return `fold(text)` together with the way back to positions in `text`."""
    pieces = [piece for piece in _pieces(text) if piece[0]]
    lengths = itertools.accumulate((len(folded) for folded, _, _ in pieces), initial=0)
    return Folded(
        text="".join(folded for folded, _, _ in pieces),
        starts=tuple(lengths)[:-1],
        origins=tuple(origin for _, origin, _ in pieces),
        even=tuple(even for _, _, even in pieces),
        original_length=len(text),
    )


def spaced(folded: str) -> str:
    """Return folded text in the form the index is given: words between blanks, each character of an unspaced script alone."""
    if not folded.isascii():
        # SQLite's table of characters is old: it takes newer symbols, recent emoji among them, for letters of the words beside.
        others = {ord(character): " " for character in set(folded) if not character.isascii() and not is_word(character)}
        folded = folded.translate(others) if others else folded
    return single().sub(lambda match: f" {match[0]} ", folded).replace("\x00", " ")


def is_word(character: str) -> bool:
    """Return whether a character is part of a word; all others stand between words."""
    category = unicodedata.category(character)
    return category[0] in "LNM" or category == "Co" or character in "#+$"


def _pieces(text: str) -> list[tuple[str, int, bool]]:
    """Return the folded pieces of a text, each with its place there and whether it was folded character by character."""
    pieces = []
    end = 0
    for match in _cluster().finditer(text):
        if match.start() > end:
            pieces.append((text[end : match.start()].lower(), end, True))
        pieces.append((_fold_cluster(match[0]), match.start(), False))
        end = match.end()
    if end < len(text):
        pieces.append((text[end:].lower(), end, True))
    return pieces


@functools.lru_cache(maxsize=8192)
def _fold_cluster(cluster: str) -> str:
    bare = _ignored_mark().sub("", unicodedata.normalize("NFKD", cluster))
    return unicodedata.normalize("NFC", bare).casefold().translate(_LETTERS)
