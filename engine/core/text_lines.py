"""Lists of short texts as a setting keeps them: one a line, with escapes for what a line cannot hold."""

import re

_ESCAPE = re.compile(r"\\(.)")
_MEANING = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "#": "#"}


def unescape(text: str) -> str:
    r"""Return `text` with \n, \t, \r, \\ and \# as the characters they stand for; any other backslash stands for itself."""
    return _ESCAPE.sub(lambda match: _MEANING.get(match[1], match[0]), text)


def read_texts(lines: str) -> tuple[str, ...]:
    """Return the texts of a list, each once, in their order; empty lines hold none."""
    return tuple(dict.fromkeys(unescape(line) for line in lines.split("\n") if line))
