"""Footnotes: a reference is a raised label, a note stands where it was written. Numbers need no note to be known as one."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

# Models write [^1] long before the note: it has to read the same while the reply streams and when it is whole.
_NUMBER = re.compile(r"\[\^\d{1,3}\]")


def add_footnotes(reader: "MarkdownIt") -> None:
    """Teach the parser footnotes, left where they are written."""
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.footnote.index import footnote_ref

    def reference(state: "StateInline", silent: bool) -> bool:
        known = bool(_NUMBER.match(state.src, state.pos))
        return bool(footnote_ref(state, silent, always_match=known))

    reader.use(footnote_plugin, inline=False, move_to_end=False)
    reader.inline.ruler.at("footnote_ref", reference)


def known_notes(labels: Iterable[str]) -> dict[str, Any]:
    """Return the parser's record of notes that were given before, by label."""
    return {"refs": {f":{label}": -1 for label in labels}, "list": {}}


def notes_before(tokens: "Sequence[Token]", line: int) -> set[str]:
    """Return the labels of the notes that start before source line `line`."""
    notes = (token for token in tokens if token.type == "footnote_reference_open" and token.map)
    return {str(token.meta["label"]) for token in notes if token.map and token.map[0] < line}


def named_notes(tokens: "Sequence[Token]") -> set[str]:
    """Return the labels of the notes that are given, but for numbers: those need no note to be known."""
    notes = {str(token.meta["label"]) for token in tokens if token.type == "footnote_reference_open"}
    return {label for label in notes if not _NUMBER.fullmatch(f"[^{label}]")}
