r"""Which parts of a reply are formulas, and which dollars are prices or a shell's.

`$x$` and `\(x\)` stand in a line, `$$x$$` and `\[x\]` are set apart. A single dollar opens a formula where no letter, digit or
dollar stands before it and no space after it, and the very next dollar (not escaped) closes it: no space before that one, no
letter or digit after it but for endings as in `$n$th`. `3$\times$4` is let pass, since no price starts with a command.

What stands between has to look like mathematics: an amount before a word ("5 and") is money, several words without a sign are
prose, a back quote is code. Spaces on both sides are let pass where there is a command or a power, or an equation and no word.
Escaped brackets around a lone word or number are those of a citation.
"""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

INLINE, DISPLAY, OPEN = "math_inline", "math_display", "math_open"

_LONGEST_INLINE, _LONGEST_DISPLAY, _MOST_LINES = 1_000, 8_000, 80
_CLOSING = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_ENDING = re.compile(r"(?:th|st|nd|rd|s|d|D)\b")
# Text set in a formula and commands are no prose.
_SET_TEXT = re.compile(r"\\(?:text\w*|math\w+|operatorname\*?|mbox|label|tag|begin|end|[a-z]+box)\s*\{[^{}]*\}|\\[A-Za-z]+|\\.")
_WORD = re.compile(r"[^\W\d_]{2,}")
_AMOUNT = re.compile(r"\d[\d.,]*")
_SIGN = re.compile(r"[\\^_=<>+\-*/|(){}\[\]!':≤≥≠≈±×·∈∑∫√→]")
_STRONG_SIGN = re.compile(r"\\[A-Za-z]|\^|_|=")
_COMMAND = re.compile(r"\\[A-Za-z]")
_LONE_SIGNS = re.compile(r"[+\-−×·*/<>=≤≥≠≈±|∈→]{1,3}")


def add_math(reader: "MarkdownIt") -> None:
    """Teach the parser formulas."""
    reader.inline.ruler.before("escape", "math", _inline)
    reader.block.ruler.before("fence", "math", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]})


def inside(source: str) -> tuple[str, bool]:
    """Return what stands between a formula's delimiters, and whether they set it apart from the text."""
    for opening in ("$$", "\\[", "\\(", "$"):
        if source.startswith(opening):
            return source[len(opening) : len(source) - len(_CLOSING[opening])].strip(), opening in ("$$", "\\[")
    return source, False


def is_formula(content: str, opening: str) -> bool:
    """Return whether what stands between delimiters, the first of which is `opening`, looks like mathematics."""
    text = content.strip()
    if not text or "`" in text:
        return False
    if not (any(sign.isalnum() for sign in text) or "\\" in text or _LONE_SIGNS.fullmatch(text)):
        return False
    words = _WORD.findall(_SET_TEXT.sub(" ", text))
    if opening == "$" and _AMOUNT.match(text) and words:
        return False
    if (len(words) > 1 or opening == "\\[") and not _SIGN.search(text):
        return False
    strong = _STRONG_SIGN.search(text)
    if opening == "$" and text != content:
        certain = re.search(r"\\[A-Za-z]|\^", text) and max(map(len, words), default=0) < 3
        return content[0].isspace() and content[-1].isspace() and bool(certain or (strong and not words))
    if "\n" in text and opening == "$":
        return bool(strong)
    if opening == "$$" and text != content and words:
        return bool(strong)
    # Far more words than a formula has: dollars or escaped brackets around prose.
    return len(words) <= 3 + 2 * len(_SIGN.findall(text))


def _inline(state: "StateInline", silent: bool) -> bool:
    start, source = state.pos, state.src
    opening = _opening_at(source, start, state.posMax)
    if not opening:
        return False
    before = source[start - 1] if start else ""
    command = opening == "$" and _COMMAND.match(source, start + 1) is not None
    if (_joins(before) and not (command and before.isdigit())) or (before == "]" and opening == "\\("):
        return False
    closing = _CLOSING[opening]
    end = _find_closing(source, start + len(opening), state.posMax, closing)
    if end < 0 or not _may_end(source, start + len(opening), end, opening):
        return False
    if not is_formula(source[start + len(opening) : end], opening):
        return False
    if not silent:
        token = state.push(DISPLAY if opening in ("$$", "\\[") else INLINE, "math", 0)
        token.content = source[start : end + len(closing)]
    state.pos = end + len(closing)
    return True


def _opening_at(source: str, start: int, end: int) -> str:
    two = source[start : min(end, start + 2)]
    if two in _CLOSING:
        return "" if two == "$$" and source[start + 2 : start + 3] == "$" else two
    return "$" if two[:1] == "$" else ""


def _find_closing(source: str, start: int, end: int, closing: str) -> int:
    """Return where the formula's end stands, or -1; a dollar inside `\\text{}` is not looked for, as people hardly write it."""
    longest = _LONGEST_INLINE if closing in ("$", "\\)") else _LONGEST_DISPLAY
    end = min(end, start + longest)
    at = source.find(closing, start, end)
    while at > 0 and _escaped(source, at):
        at = source.find(closing, at + 1, end)
    return at


def _escaped(source: str, at: int) -> bool:
    slashes = 0
    while at - slashes > 0 and source[at - slashes - 1] == "\\":
        slashes += 1
    return slashes % 2 == 1


def _may_end(source: str, start: int, end: int, opening: str) -> bool:
    after = source[end + len(_CLOSING[opening]) :][:4]
    if opening == "\\[":
        return not after.startswith("(")
    if opening == "\\(":
        return True
    if after.startswith("$") or (opening == "$$" and source[start:end].strip("$") != source[start:end]):
        return False
    if opening == "$$":
        return True
    # `${a}/${b}` and `$(a)$(b)` are a shell's.
    if after[:1] in ("{", "(") and source[start : start + 1] == after[:1]:
        return False
    command = _COMMAND.match(source, start) is not None
    return not _joins(after[:1]) or (command and after[0].isalnum()) or _ENDING.match(after) is not None


def _joins(sign: str) -> bool:
    return sign.isascii() and (sign.isalnum() or sign in ("_", "$", "\\")) if sign else False


def _block(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    if state.is_code_block(start):
        return False
    first = _line(state, start)
    opening = first[:2]
    if opening not in ("$$", "\\[") or first[:3] == "$$$":
        return False
    last = _last_line(state, start, end, opening)
    unfinished = last is None and state.level == 0 and end - start <= _MOST_LINES and _may_go_on(state, start, end)
    if last is None and not unfinished:
        return False
    if silent:
        return True
    state.line = end if last is None else last + 1
    token: Any = state.push(DISPLAY if last is not None else OPEN, "math", 0)
    token.block = True
    token.map = [start, state.line]
    token.content = state.getLines(start, state.line, state.sCount[start], False).rstrip()
    return True


def _last_line(state: "StateBlock", start: int, end: int, opening: str) -> int | None:
    """Return the line on which a block's formula ends, or None where it does not end or is none."""
    closing = _CLOSING[opening]
    content = ""
    for line in range(start, min(end, start + _MOST_LINES)):
        if line > start and not _goes_on(state, start, line):
            return None
        text = _line(state, line)
        text = text[len(opening) :] if line == start else text
        at = text.find(closing)
        if at < 0:
            content += text + "\n"
            continue
        whole = content + text[:at]
        ends = not text[at + len(closing) :].strip() and len(whole) <= _LONGEST_DISPLAY
        return line if ends and is_formula(whole, opening) else None
    return None


def _may_go_on(state: "StateBlock", start: int, end: int) -> bool:
    """Return whether nothing up to the end of the text says that the formula is none."""
    closing = _CLOSING[_line(state, start)[:2]]
    if closing in _line(state, start)[2:]:
        return False
    lines = range(start + 1, end)
    return all(_goes_on(state, start, line) and closing not in _line(state, line) for line in lines)


def _goes_on(state: "StateBlock", start: int, line: int) -> bool:
    """Return whether a line can belong to a formula: a blank one can where the opening sign stands alone, as with a fence."""
    if state.isEmpty(line):
        return len(_line(state, start).strip()) == 2
    return state.sCount[line] >= state.blkIndent


def _line(state: "StateBlock", line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
