"""A chat's title, made from its first message."""

import re
import unicodedata

TITLE_CHARACTERS = 48

# Compiled by `re` when they are first used: it takes a while.
_FENCE = r"^\s*(`{3,}|~{3,})[\w+#.-]*\s*$"
_LINE_MARKS = r"^(?:\s*(?:>|#{1,6}(?=\s|$)|[-*+](?=\s)(?:\s+\[[ xX]\])?|\d{1,3}[.)](?=\s)))+\s*"
_LINK = r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)"
_EMPHASIS = r"(?<![\w*_~`\\])(\*{1,3}|_{1,3}|~~|`{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*_~`]|\.\w)"


def title_from(text: str, characters: int = TITLE_CHARACTERS) -> str:
    """Return the first line that says something, without Markdown marks, cut at a word at about `characters`.

    Empty when the text holds nothing that can be seen.
    """
    lines = [collapsed for line in text.splitlines() if (collapsed := _collapse(line))]
    for line in lines:
        if not re.match(_FENCE, line) and (plain := _without_marks(line)):
            return _cut(plain, characters)
    return _cut(lines[0], characters) if lines else ""


def _collapse(line: str) -> str:
    visible = "".join(" " if unicodedata.category(character) == "Cc" else character for character in line)
    return " ".join(visible.split())


def _without_marks(line: str) -> str:
    line = re.sub(_LINE_MARKS, "", line)
    line = re.sub(_LINK, r"\1", line)
    for _ in range(3):  # Marks stand inside marks: **_so_**.
        line = re.sub(_EMPHASIS, r"\2", line)
    return " ".join(line.split())


def _cut(line: str, characters: int) -> str:
    if len(line) <= characters:
        return line
    head = line[:characters]
    space = head.rfind(" ")
    if not line[characters].isspace():
        # A script without spaces, or one very long word, is cut where it stands, but never inside one character.
        head = head[:space] if space >= characters // 2 else _whole_characters(line, characters)
    return head.rstrip(" ,;:.–—-") + "…"


def _whole_characters(line: str, end: int) -> str:
    joiner = "\u200d"
    while end > 1 and (unicodedata.category(line[end]).startswith("M") or joiner in (line[end], line[end - 1])):
        end -= 1
    return line[:end]
