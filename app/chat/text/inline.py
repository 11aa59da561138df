"""The text inside a block: markdown-it's inline tokens to runs in one style each."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.chat.text.blocks import Mark, Run
from app.chat.text.math_syntax import DISPLAY, INLINE

if TYPE_CHECKING:
    from markdown_it.token import Token

LINE_BREAK = "\u2028"

_OPENING = {"strong_open": Mark.BOLD, "em_open": Mark.ITALIC, "s_open": Mark.STRIKE}
_CLOSING = {"strong_close": Mark.BOLD, "em_close": Mark.ITALIC, "s_close": Mark.STRIKE}
_LONGEST_LABEL = 24
_LONGEST_ADDRESS = 120
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)


def runs(inline: "Token") -> tuple[Run, ...]:
    """Return the runs of an inline token, neighbours of one style joined.

    Single line breaks are kept, since models break lines on purpose. Images are never loaded: what they show and where they
    lie is written out.
    """
    joined: list[Run] = []
    for run in _pieces(inline.children or []):
        last = joined[-1] if joined else None
        if last is not None and (last.marks, last.href) == (run.marks, run.href) and Mark.MATH not in run.marks:
            joined[-1] = Run(last.text + run.text, run.marks, run.href)
        elif run.text:
            joined.append(run)
    return tuple(joined)


def cell_runs(inline: "Token") -> tuple[Run, ...]:
    """Return the runs of a table's cell, where `<br>` is the only way to write a line break."""
    return tuple(Run(_BREAK_TAG.sub(LINE_BREAK, run.text), run.marks, run.href) for run in runs(inline))


def _pieces(tokens: "list[Token]") -> Iterator[Run]:
    depth = dict.fromkeys(_OPENING.values(), 0)
    href = ""
    for token in tokens:
        kind = token.type
        marks = Mark.PLAIN
        for mark, count in depth.items():
            marks |= mark if count else Mark.PLAIN
        if kind in _OPENING:
            depth[_OPENING[kind]] += 1
        elif kind in _CLOSING:
            depth[_CLOSING[kind]] -= 1
        elif kind == "link_open":
            href = str(token.attrs.get("href", ""))
        elif kind == "link_close":
            href = ""
        elif kind == "image":
            yield from _image(token, marks, href)
        elif kind in ("softbreak", "hardbreak"):
            yield Run(LINE_BREAK, marks, href)
        elif kind in (INLINE, DISPLAY):
            yield Run(token.content.replace("\n", LINE_BREAK), marks & ~Mark.STRIKE | Mark.MATH, href)
        elif kind == "footnote_ref":
            yield Run(str(token.meta["label"])[:_LONGEST_LABEL], Mark.RAISED)
        elif kind == "code_inline":
            yield Run(token.content, marks | Mark.CODE, href)
        else:
            yield Run(token.content, marks, href)


def _image(token: "Token", marks: Mark, href: str) -> Iterator[Run]:
    address = str(token.attrs.get("src", ""))
    yield Run(token.content or "Image", marks | Mark.DIM, href)
    if address.startswith("data:"):
        # The picture itself, as letters: nobody reads those.
        yield Run(f" ({address[5:].split(';')[0].split(',')[0][:40]}, not shown)", marks | Mark.DIM, href)
    elif address:
        yield Run(" ", marks, href)
        shown = address if len(address) <= _LONGEST_ADDRESS else f"{address[: _LONGEST_ADDRESS - 1]}…"
        yield Run(shown, marks, href or address)
