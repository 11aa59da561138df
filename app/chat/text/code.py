"""Colouring code: a block that is finished is lexed as a whole, one that still streams line by line from where it stood."""

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pygments.lexer import Lexer

type Style = str


class Span(NamedTuple):
    """A stretch of one line in one style; `start` and `length` in UTF-16 units, as Qt counts."""

    start: int
    length: int
    style: Style


# A token type and all below it take the style; "" is plain ink. The longest match wins.
_STYLES: dict[tuple[str, ...], Style] = {
    ("Keyword",): "key",
    ("Operator", "Word"): "key",
    ("Name", "Tag"): "key",
    ("Name", "Decorator"): "key",
    ("Name", "Function"): "fn",
    ("Name", "Class"): "fn",
    ("Literal", "String"): "str",
    ("Literal", "Number"): "num",
    ("Name", "Attribute"): "num",
    ("Comment",): "com",
    ("Generic", "Heading"): "fn",
    ("Generic", "Subheading"): "fn",
    ("Generic", "Inserted"): "str",
    ("Generic", "Deleted"): "del",
    ("Generic", "Emph"): "com",
}
_NAMES = {"Text only": "Text", "Bash Session": "Shell session", "ANSI/ISO C": "C"}
_ALIASES = {"jsonc": "json", "jsx": "javascript", "shell": "bash", "plaintext": "text"}
# What opens a stretch of several lines that a lexer matches in one piece, and what ends it.
_STRETCHES = {"/*": "*/", "<!--": "-->", "--[[": "]]", "{-": "-}", "(*": "*)", "<#": "#>"}


@lru_cache(64)
def find_lexer(language: str) -> "Lexer | None":
    """Return the lexer for a fence's language as written, or None where there is none."""
    from pygments.lexers import LEXERS, get_lexer_by_name

    word = language_word(language).lower()
    name = _ALIASES.get(word, word)
    # What Pygments does not know it would look for among all that is installed: a tenth of a second for a word half written.
    known = any(name in aliases for _, _, aliases, _, _ in LEXERS.values())
    return get_lexer_by_name(name, stripnl=False, ensurenl=False) if known else None


def language_word(language: str) -> str:
    """Return the first word of a fence's info string, as `python` of `{.python title="a"}`."""
    return language.strip().strip("{}").strip().lstrip(".").replace(",", " ").split(" ")[0] if language.strip() else ""


def language_name(language: str) -> str:
    """Return what a code block's header calls its language: the proper name, what was written, or "Code"."""
    lexer = find_lexer(language)
    if lexer is None:
        return language_word(language)[:40] or "Code"
    return _NAMES.get(lexer.name, lexer.name)


def lex_lines(lexer: "Lexer", text: str) -> Iterator[list[Span]]:
    """Yield the spans of each line of a whole code block, lazily."""
    line: list[tuple[str, Style]] = []
    source: Any = lexer
    for _, kind, value in source.get_tokens_unprocessed(f"{text}\n"):
        style = _style_of(kind)
        *ended, rest = value.split("\n")
        for part in ended:
            line.append((part, style))
            yield _spans(line)
            line = []
        if rest:
            line.append((rest, style))


class LineLexer:
    """Lexes a code block that grows: each complete line once, the state carried to the next.

    Only lexers that are tables of regular expressions have a state to carry; the others see each line alone. A comment that a
    lexer would match over several lines in one piece is followed here.
    """

    def __init__(self, lexer: "Lexer") -> None:
        from pygments.lexer import ExtendedRegexLexer, RegexLexer

        self._lexer: Any = lexer
        self._resumable = isinstance(lexer, RegexLexer) and not isinstance(lexer, ExtendedRegexLexer)
        self._stack = ["root"]
        self._until = ""
        self._stretches = [pair for pair in _STRETCHES.items() if self._is_comment(" a ".join(pair))]

    def add(self, line: str) -> list[Span]:
        """Return the spans of the next complete line (given without its line break)."""
        spans, self._stack, self._until = self._lex(line)
        return spans

    def peek(self, line: str) -> list[Span]:
        """Return the spans of a line that is not complete, changing nothing."""
        return self._lex(line)[0]

    def _lex(self, line: str) -> tuple[list[Span], list[str], str]:
        stack = list(self._stack)
        before: list[tuple[str, Style]] = []
        if self._until:
            head, found, line = line.partition(self._until)
            before.append((head + found, "com"))
            if not found:
                return _spans(before), stack, self._until
        parts = self._parts(line, stack)
        opened = self._opened(line, parts, len(stack) > len(self._stack))
        if opened is None:
            return _spans(before + parts), stack, ""
        stack = list(self._stack)
        at, until = opened
        return _spans([*before, *self._parts(line[:at], stack), (line[at:], "com")]), stack, until

    def _parts(self, line: str, stack: list[str]) -> list[tuple[str, Style]]:
        return [(value.removesuffix("\n"), _style_of(kind)) for kind, value in self._tokens(f"{line}\n", stack)]

    def _is_comment(self, text: str) -> bool:
        return all(style == "com" for part, style in self._parts(text, ["root"]) if part)

    def _opened(self, line: str, parts: list[tuple[str, Style]], deeper: bool) -> tuple[int, str] | None:
        """Return where a comment begins that the line does not end, and what will end it.

        A lexer that went `deeper` into its own states at a comment follows it by itself.
        """
        for opening, end in self._stretches:
            at = line.find(opening)
            while at >= 0:
                style, starts = _style_at(parts, at)
                plain = style not in ("com", "str") or (style == "com" and starts and not deeper)
                if plain and end not in line[at + len(opening) :]:
                    return at, end
                at = line.find(opening, at + len(opening))
        return None

    def _tokens(self, text: str, stack: list[str]) -> Iterator[tuple[Any, str]]:
        if not self._resumable:
            yield from ((kind, value) for _, kind, value in self._lexer.get_tokens_unprocessed(text))
            return
        from pygments.token import Text, _TokenType

        states = self._lexer._tokens
        position = 0
        while position < len(text):
            for pattern, action, new_state in states[stack[-1]]:
                match = pattern(text, position)
                if not match:
                    continue
                if isinstance(action, _TokenType):
                    yield action, match.group()
                elif action is not None:
                    yield from ((kind, value) for _, kind, value in action(self._lexer, match))
                position = match.end()
                _move(stack, new_state)
                break
            else:
                if text[position] == "\n":
                    stack[:] = ["root"]
                yield Text, text[position]
                position += 1


def _move(stack: list[str], new_state: Any) -> None:
    """Apply a lexer's state transition to `stack`, as `pygments.lexer.RegexLexer.get_tokens_unprocessed` does."""
    if new_state is None:
        return
    if isinstance(new_state, int):
        del stack[max(1, len(stack) + new_state if new_state < 0 else new_state) :]
        return
    for state in (new_state,) if isinstance(new_state, str) else new_state:
        if state == "#pop":
            if len(stack) > 1:
                stack.pop()
        elif state == "#push":
            stack.append(stack[-1])
        else:
            stack.append(state)


def _style_at(parts: list[tuple[str, Style]], at: int) -> tuple[Style, bool]:
    """Return the style at character `at`, and whether its token starts there."""
    start = 0
    for text, style in parts:
        if start + len(text) > at:
            return style, start == at
        start += len(text)
    return "", False


@lru_cache(1024)
def _style_of(kind: Any) -> Style:
    names = tuple(kind)
    for length in range(len(names), 0, -1):
        style = _STYLES.get(names[:length])
        if style is not None:
            return style
    return ""


def _spans(parts: list[tuple[str, Style]]) -> list[Span]:
    spans: list[Span] = []
    start = 0
    for text, style in parts:
        length = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
        if style and length:
            last = spans[-1] if spans else None
            if last is not None and last.style == style and last.start + last.length == start:
                spans[-1] = Span(last.start, last.length + length, style)
            else:
                spans.append(Span(start, length, style))
        start += length
    return spans
