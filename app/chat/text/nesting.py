"""How deep quotes, lists and notes nest: what is deeper is text with its signs, since the parser would drop it."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

    type _Rule = Callable[[StateBlock, int, int, bool], bool]

# The parser's own levels: a quote is one of them, a list and its item two.
DEEPEST = 40
# Pixels: up to the first a level stands as far in as it should, deeper ones by the second.
_ROOMY, _NARROW = 160, 4
# What is left of a level where larger text has used up the room.
_CLOSER = 0.2
_QUOTE_SIGNS = re.compile(r">(?:[ \t]*>)*")
_ALSO_ENDS = {
    "blockquote": ["paragraph", "reference", "blockquote", "list"],
    "list": ["paragraph", "reference", "blockquote"],
    "footnote_def": ["paragraph", "reference"],
}


def bound_nesting(reader: "MarkdownIt") -> None:
    """Let nothing open at `DEEPEST` levels, so that the parser's own limit, which skips all the rest, is never met."""
    # The last list that may open puts its items' text two levels deeper.
    reader.options["maxNesting"] = DEEPEST + 2
    rules = {rule.name: rule.fn for rule in reader.block.ruler.__rules__}
    for name, ends in _ALSO_ENDS.items():
        reader.block.ruler.at(name, _bounded(rules[name]), {"alt": ends})
    reader.inline.ruler.before("text", "quote_signs", _signs)


def step(indent: int, wanted: int) -> int:
    """Return how much further in the next level stands where `wanted` pixels would be right, and `indent` are taken."""
    return wanted if indent < _ROOMY else _NARROW


def scaled(indent: int, percent: int) -> int:
    """Return the pixels at which what is `indent` far in stands in text of `percent` of its normal size.

    It grows with the text until the room is used up from where deeper levels stand closer anyway.
    """
    scale = percent / 100
    grown = min(indent, _ROOMY / max(1.0, scale))
    closer = min(indent, _ROOMY) - grown if indent > grown else 0.0
    return round(grown * scale + closer * _CLOSER + max(0, indent - _ROOMY))


def _bounded(rule: "_Rule") -> "_Rule":
    def bounded(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
        return state.level < DEEPEST and rule(state, start, end, silent)

    return bounded


def _signs(state: "StateInline", silent: bool) -> bool:
    """Take signs that quote nothing at once: by itself each would cost as much as all the text before it."""
    found = _QUOTE_SIGNS.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.append_pending(found.group())
    state.pos = found.end()
    return True
