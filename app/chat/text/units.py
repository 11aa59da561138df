"""Markdown's token tree to flat blocks, in units: the parts a reply can be cut between without changing what stands before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app.chat.text.blocks import Block, Code, Column, Equation, Gap, Mark, Marker, Paragraph, Place, Row, Rule, Run, TableRows
from app.chat.text.harmless import harmless
from app.chat.text.inline import LINE_BREAK, cell_runs, runs
from app.chat.text.math_syntax import DISPLAY, OPEN, inside
from app.chat.text.nesting import step
from engine.core.record import Record

if TYPE_CHECKING:
    from markdown_it.token import Token

BULLET, OPEN_BOX, CHECKED_BOX = "•", "☐", "☑"
ROWS_A_UNIT = 16

# Two digits and what ends them, with the space before the text; each further digit.
_BULLET_INDENT, _NUMBER_INDENT, _DIGIT = 20, 32, 10
_QUOTE_INDENT = 16
# Characters: every column counts the first, a text up to the second whole, what is longer, up to the third, by a part.
_LEAST, _SHORT, _LONGEST, _LONG_COUNTS = 3, 12, 60, 0.35


class OpenList(Record):
    """A list that goes on in the next unit: its kind, the next item's number, and whether a blank line stood before it."""

    markup: str
    number: int | None
    blank_before: bool


class OpenTable(Record):
    """A table that goes on in the next unit: its two heading lines as written, and its columns."""

    heading: str
    columns: tuple[Column, ...]


type Open = OpenList | OpenTable | None


class Unit(Record):
    """Blocks that start at source line `line` (from 0); `opened` is what they go on with.

    `undecided`: what comes next may show that they are none, but part of the unit before.
    """

    line: int
    opened: Open
    blocks: tuple[Block, ...]
    undecided: bool = False


@dataclass
class _Context:
    """Where the walk through the tree is: what surrounds it and what the next block has to show."""

    indent: int = 0
    depth: int = 0
    quotes: tuple[int, ...] = ()
    joined: int = 0
    markers: list[Marker] = field(default_factory=list)
    gap: Gap = Gap.BLOCK

    def place(self) -> Place:
        """Return the place of the block that comes now, and go on after it."""
        place = Place(self.gap, self.indent, self.quotes, min(self.joined, len(self.quotes)), tuple(self.markers), self.depth)
        self.markers = []
        self.joined = len(self.quotes)
        self.gap = Gap.PART if self.depth or self.quotes else Gap.BLOCK
        return place


def units(tokens: Sequence["Token"], lines: Sequence[str], opened: Open = None) -> Iterator[Unit]:
    """Yield the units of parsed source `lines`; the first goes on with `opened` where it can."""
    for group in _groups(tokens, 0):
        first = group[0]
        line = first.map[0] if first.map else 0
        if first.type in ("bullet_list_open", "ordered_list_open"):
            goes_on = opened if isinstance(opened, OpenList) and opened.markup == first.markup else None
            yield from _list_units(group, lines, goes_on)
        elif first.type == "table_open":
            yield from _table_units(group, lines, opened if isinstance(opened, OpenTable) else None)
        else:
            ends_here = first.type == DISPLAY and first.map is not None and first.map[1] == len(lines)
            yield Unit(line, None, tuple(_blocks(group, _Context(), lines)), first.type == OPEN or ends_here)
        opened = None


def _groups(tokens: Sequence["Token"], level: int) -> Iterator[Sequence["Token"]]:
    """Yield the token runs that are siblings at `level`: an opening token to its closing one, or a single token."""
    start = 0
    for index, token in enumerate(tokens):
        if token.level == level and token.nesting <= 0:
            yield tokens[start : index + 1]
            start = index + 1


def _blocks(tokens: Sequence["Token"], context: _Context, lines: Sequence[str]) -> Iterator[Block]:
    first = tokens[0]
    match first.type:
        case "paragraph_open":
            yield from _paragraphs(runs(tokens[1]), context)
        case "heading_open":
            yield _paragraph(runs(tokens[1]), int(first.tag[1]), context)
        case "math_display":
            yield from _equation(first.content, context)
        case "math_open":
            yield Paragraph(context.place(), (Run(first.content.replace("\n", LINE_BREAK), Mark.SOURCE),))
        case "footnote_reference_open":
            yield from _footnote(tokens, context, lines)
        case "fence" | "code_block":
            yield _code(first, context, lines)
        case "hr":
            yield Rule(context.place())
        case "blockquote_open":
            yield from _quote(tokens, context, lines)
        case "bullet_list_open" | "ordered_list_open":
            for item in _items(tokens, context, lines, None):
                yield from item.blocks
        case "table_open":
            if context.markers:
                yield Paragraph(context.place(), ())
            place = context.place()
            for chunk in _table(tokens, None):
                yield replace(chunk, place=place)
                place = replace(place, joined=len(place.quotes), markers=())
        case _:
            yield Paragraph(context.place(), (Run(first.content.rstrip("\n").replace("\n", LINE_BREAK)),))


def _paragraphs(content: tuple[Run, ...], context: _Context) -> Iterator[Block]:
    """Yield a paragraph, cut where a formula is set apart in the middle of it."""
    rest: list[Run] = []
    cut = False
    for run in content:
        if Mark.MATH not in run.marks or not inside(run.text)[1]:
            rest.append(run)
            continue
        before = _trimmed(rest)
        if before:
            yield _paragraph(before, 0, context)
            context.gap = Gap.PART
        yield from _equation(run.text, context)
        context.gap = Gap.PART
        rest, cut = [], True
    after = _trimmed(rest) if cut else tuple(rest)
    if after or not cut:
        yield _paragraph(after, 0, context)


def _trimmed(content: list[Run]) -> tuple[Run, ...]:
    """Return runs without the spaces and line breaks around them."""
    spaces = f" {LINE_BREAK}"
    while content and not content[0].text.strip(spaces):
        content = content[1:]
    while content and not content[-1].text.strip(spaces):
        content = content[:-1]
    if content:
        content = [replace(content[0], text=content[0].text.lstrip(spaces)), *content[1:]]
        content[-1] = replace(content[-1], text=content[-1].text.rstrip(spaces))
    return tuple(content)


def _equation(source: str, context: _Context) -> Iterator[Block]:
    yield Equation(context.place(), source.replace("\n", LINE_BREAK))


def _footnote(tokens: Sequence["Token"], context: _Context, lines: Sequence[str]) -> Iterator[Block]:
    """Yield a footnote where it is written, its label as a list item's number stands."""
    label = harmless(str(tokens[0].meta["label"])[:24])
    outside = context.indent
    indent = _NUMBER_INDENT + _DIGIT * max(0, len(label) - 2)
    context.indent, context.depth = outside + step(outside, indent), context.depth + 1
    context.markers.append(Marker(label, context.indent, note=True))
    for group in _groups(tokens[1:-1], tokens[0].level + 1):
        yield from _blocks(group, context, lines)
    if context.markers:
        yield Paragraph(context.place(), ())
    context.indent, context.depth = outside, context.depth - 1


def _paragraph(content: tuple[Run, ...], level: int, context: _Context) -> Paragraph:
    if context.markers and content and content[0].text[:4].lower() in ("[ ] ", "[x] "):
        sign = OPEN_BOX if content[0].text[1] == " " else CHECKED_BOX
        context.markers[-1] = Marker(sign, context.markers[-1].indent)
        content = (replace(content[0], text=content[0].text[4:]), *content[1:])
    return Paragraph(context.place(), content, level)


def _code(token: "Token", context: _Context, lines: Sequence[str]) -> Code:
    closed = token.type == "code_block"
    if token.type == "fence" and token.map is not None:
        closed = token.map[1] - token.map[0] - 2 == token.content.count("\n") and is_fence_end(
            lines[token.map[1] - 1], token.markup
        )
    return Code(context.place(), token.info.strip(), token.content.removesuffix("\n"), closed)


def is_fence_end(line: str, markup: str) -> bool:
    """Return whether a source line ends the fence that `markup` opened (containers' own signs before it are let pass)."""
    stripped = line.strip().lstrip("> \t")
    return len(stripped) >= len(markup) and set(stripped) == {markup[0]}


def _quote(tokens: Sequence["Token"], context: _Context, lines: Sequence[str]) -> Iterator[Block]:
    outside, indent = context.quotes, context.indent
    context.quotes, context.indent = (*outside, indent), indent + step(indent, _QUOTE_INDENT)
    for group in _groups(tokens[1:-1], tokens[0].level + 1):
        yield from _blocks(group, context, lines)
    context.quotes, context.indent = outside, indent
    context.joined = min(context.joined, len(outside))
    if not context.depth and not outside:
        context.gap = Gap.BLOCK


def _list_units(tokens: Sequence["Token"], lines: Sequence[str], goes_on: OpenList | None) -> Iterator[Unit]:
    yield from _items(tokens, _Context(), lines, goes_on)


def _items(tokens: Sequence["Token"], context: _Context, lines: Sequence[str], goes_on: OpenList | None) -> Iterator[Unit]:
    opening = tokens[0]
    number = int(opening.attrs.get("start", 1)) if opening.type == "ordered_list_open" else None
    if goes_on is not None and goes_on.number is not None:
        number = goes_on.number
    outer_indent = context.indent
    first_gap = context.gap
    if context.depth and not context.markers:
        first_gap = Gap.TIGHT
    for index, group in enumerate(_groups(tokens[1:-1], opening.level + 1)):
        line = group[0].map[0] if group[0].map else 0
        blank_before = line > 0 and not lines[line - 1].strip(" >\t")
        opened: OpenList | None = None
        if index or goes_on is not None:
            if index == 0 and goes_on is not None:
                blank_before = goes_on.blank_before
            opened = OpenList(opening.markup, number, blank_before)
            first_gap = Gap.PART if blank_before else Gap.TIGHT
        yield Unit(line, opened, tuple(_item(group, context, lines, number, first_gap)))
        number = None if number is None else number + 1
    context.indent = outer_indent


def _item(tokens: Sequence["Token"], context: _Context, lines: Sequence[str], number: int | None, gap: Gap) -> Iterator[Block]:
    sign = BULLET if number is None else f"{number}{tokens[0].markup or '.'}"
    indent = _BULLET_INDENT if number is None else _NUMBER_INDENT + _DIGIT * max(0, len(str(number)) - 2)
    outside = context.indent
    if not context.markers:
        context.gap = gap
    context.indent, context.depth = outside + step(outside, indent), context.depth + 1
    context.markers.append(Marker(sign, context.indent))
    for group in _groups(tokens[1:-1], tokens[0].level + 1):
        yield from _blocks(group, context, lines)
    if context.markers:
        yield Paragraph(context.place(), ())
    context.indent, context.depth = outside, context.depth - 1
    context.gap = Gap.PART if context.depth or context.quotes else Gap.BLOCK


def _table_units(tokens: Sequence["Token"], lines: Sequence[str], goes_on: OpenTable | None) -> Iterator[Unit]:
    start = tokens[0].map[0] if tokens[0].map else 0
    heading = goes_on.heading if goes_on else "".join(f"{line}\n" for line in lines[start : start + 2])
    line = start
    for index, chunk in enumerate(_table(tokens, goes_on)):
        opened = OpenTable(heading, chunk.columns) if index or goes_on else None
        yield Unit(line, opened, (chunk,))
        line = start + 2 + (index + 1) * ROWS_A_UNIT


def _table(tokens: Sequence["Token"], goes_on: OpenTable | None) -> Iterator[TableRows]:
    rows, aligns = _rows(tokens)
    columns = goes_on.columns if goes_on else _columns(rows[: ROWS_A_UNIT + 1], aligns)
    body = rows[1:]
    place = _Context().place()
    for index in range(0, max(1, len(body)), ROWS_A_UNIT):
        head = index == 0 and goes_on is None
        chunk = body[index : index + ROWS_A_UNIT]
        yield TableRows(place, columns, head, (rows[0], *chunk) if head else tuple(chunk))


def _rows(tokens: Sequence["Token"]) -> tuple[list[Row], list[str]]:
    rows: list[list[tuple[Run, ...]]] = []
    aligns: list[str] = []
    for index, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            rows[-1].append(cell_runs(tokens[index + 1]))
            if token.type == "th_open":
                aligns.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
    return [tuple(row) for row in rows], aligns


def _columns(rows: Sequence[Row], aligns: Sequence[str]) -> tuple[Column, ...]:
    """Share the width by the longest text of each column, a long one counting less, so that no column starves another."""
    longest = [0] * len(aligns)
    for row in rows:
        for index, cell in enumerate(row):
            length = sum(len(run.text) for run in cell)
            longest[index] = max(longest[index], length)
    weights = [_LEAST + min(length, _SHORT) + _LONG_COUNTS * max(0, min(length, _LONGEST) - _SHORT) for length in longest]
    total = sum(weights)
    return tuple(
        Column(
            "right" if align == "right" else "center" if align == "center" else "left", round(100 * weight / total, 2), length
        )
        for align, weight, length in zip(aligns, weights, longest, strict=True)
    )
